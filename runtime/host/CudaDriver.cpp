//===- CudaDriver.cpp - libcuda, opened when it is needed -----------------===//
#include "runtime/host/Failure.h"
#include "runtime/host/LoadedProgram.h"

#include <dlfcn.h>

namespace tilewright::host {
namespace {

constexpr char instead[] = " (targets \"sim\" and \"cpu\" need none)";
const TilewrightCudaDriver *usedDriver = nullptr;

} // namespace

const TilewrightCudaDriver *findDriver() {
  if (const TilewrightCudaDriver *driver = __atomic_load_n(&usedDriver, __ATOMIC_ACQUIRE))
    return driver;
  LoadGuard guard;
  if (usedDriver)
    return usedDriver;
  static TilewrightCudaDriver opened;
  if (const char *error = tilewrightCudaOpen("libcuda.so.1", &opened)) {
    if (void *there = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
      dlclose(there);
      beginFailure() << "no CUDA driver: " << error;
    } else {
      beginFailure() << "no CUDA driver: libcuda.so.1 was not found; install NVIDIA's driver to run on a GPU"
                     << instead;
    }
    return nullptr;
  }
  if (int32_t code = opened.init(0)) {
    beginFailure(opened, "cuInit", code) << "the driver is there, but "
                                         << (code == NoDevice ? "no GPU is" : "does not start") << instead;
    return nullptr;
  }
  __atomic_store_n(&usedDriver, &opened, __ATOMIC_RELEASE);
  return &opened;
}

} // namespace tilewright::host

const char *tilewrightCudaOpen(const char *library, TilewrightCudaDriver *driver) {
  static __thread char error[512];
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    tilewright::host::Text(error, sizeof(error)) << dlerror();
    return error;
  }
  struct Function {
    void *slot;
    const char *name;
  };
  Function functions[] = {
      {&driver->launchKernelEx, "cuLaunchKernelEx"},
      {&driver->init, "cuInit"},
      {&driver->deviceGetCount, "cuDeviceGetCount"},
      {&driver->deviceGetName, "cuDeviceGetName"},
      {&driver->deviceGetAttribute, "cuDeviceGetAttribute"},
      {&driver->primaryCtxRetain, "cuDevicePrimaryCtxRetain"},
      {&driver->ctxGetCurrent, "cuCtxGetCurrent"},
      {&driver->ctxPushCurrent, "cuCtxPushCurrent_v2"},
      {&driver->ctxPopCurrent, "cuCtxPopCurrent_v2"},
      {&driver->moduleLoadData, "cuModuleLoadData"},
      {&driver->moduleGetFunction, "cuModuleGetFunction"},
      {&driver->moduleUnload, "cuModuleUnload"},
      {&driver->funcSetAttribute, "cuFuncSetAttribute"},
      {&driver->getErrorName, "cuGetErrorName"},
      {&driver->memPoolCreate, "cuMemPoolCreate"},
      {&driver->memPoolSetAttribute, "cuMemPoolSetAttribute"},
      {&driver->memAllocFromPoolAsync, "cuMemAllocFromPoolAsync"},
      {&driver->memFreeAsync, "cuMemFreeAsync"},
      {&driver->ctxGetDevice, "cuCtxGetDevice"},
      {&driver->memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2"},
      {&driver->memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2"},
      {&driver->streamSynchronize, "cuStreamSynchronize"},
  };
  for (const Function &function : functions) {
    void *found = dlsym(handle, function.name);
    if (!found) {
      tilewright::host::Text(error, sizeof(error)) << library << " has no " << function.name;
      dlclose(handle);
      return error;
    }
    std::memcpy(function.slot, &found, sizeof(found));
  }
  // Old drivers do not have all of these.
  Function optional[] = {
      {&driver->tensorMapEncodeTiled, "cuTensorMapEncodeTiled"},
      {&driver->memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2"},
      {&driver->streamCreate, "cuStreamCreate"},
      {&driver->streamDestroy, "cuStreamDestroy_v2"},
      {&driver->streamIsCapturing, "cuStreamIsCapturing"},
      {&driver->streamBeginCapture, "cuStreamBeginCapture_v2"},
      {&driver->streamEndCapture, "cuStreamEndCapture"},
      {&driver->graphDestroy, "cuGraphDestroy"},
      {&driver->graphInstantiate, "cuGraphInstantiateWithFlags"},
      {&driver->graphExecUpdate, "cuGraphExecUpdate_v2"},
      {&driver->graphExecDestroy, "cuGraphExecDestroy"},
      {&driver->graphLaunch, "cuGraphLaunch"},
      {&driver->memHostAlloc, "cuMemHostAlloc"},
      {&driver->memFreeHost, "cuMemFreeHost"},
  };
  for (const Function &function : optional) {
    void *found = dlsym(handle, function.name);
    std::memcpy(function.slot, &found, sizeof(found));
  }
  return nullptr;
}

void tilewrightCudaUse(const TilewrightCudaDriver *driver) {
  __atomic_store_n(&tilewright::host::usedDriver, driver, __ATOMIC_RELEASE);
}
