//===- Launcher.cpp - the launchers of the CUDA driver and of a recorder --===//
#include "runtime/Launcher.h"

#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <type_traits>

namespace {

// The parts of the driver's ABI that a launch needs, as cuda.h declares them; no toolkit is needed to build.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void *stream;
  void *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56, "CUlaunchConfig of the driver's ABI");

constexpr int32_t invalidValue = 1;          // CUDA_ERROR_INVALID_VALUE
constexpr int32_t maxDynamicSharedBytes = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

int32_t fail(TilewrightCudaLaunch &launch, const char *call, int32_t kernel, const uint64_t *config, int32_t code) {
  launch.failedCall = call;
  launch.failedKernel = kernel;
  std::copy_n(config, int(TilewrightConfigSize), launch.failedConfig);
  return code;
}

} // namespace

const char *tilewrightCudaOpen(const char *library, TilewrightCudaDriver *driver) {
  thread_local std::string error;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    error = dlerror();
    return error.c_str();
  }
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (!function)
      error = std::string(library) + " has no " + name;
    return function != nullptr;
  };
  if (!find(driver->launchKernelEx, "cuLaunchKernelEx") || !find(driver->funcSetAttribute, "cuFuncSetAttribute")) {
    dlclose(handle);
    return error.c_str();
  }
  return nullptr;
}

int32_t tilewrightCudaLaunch(void *context, int32_t kernel, const uint64_t *config, void **params, int32_t) {
  auto &launch = *static_cast<TilewrightCudaLaunch *>(context);
  const TilewrightCudaDriver *cuda = launch.kernels->driver;
  // What the driver would cut off to 32 bits must not come out as some other launch.
  if (kernel < 0 || kernel >= launch.kernels->count ||
      std::any_of(config, config + TilewrightConfigSize, [](uint64_t number) { return number > UINT32_MAX; }))
    return fail(launch, "cuLaunchKernelEx", kernel, config, invalidValue);

  void *function = launch.kernels->functions[kernel];
  uint64_t sharedBytes = config[6];
  uint64_t &limit = launch.kernels->sharedLimits[kernel];
  if (sharedBytes > __atomic_load_n(&limit, __ATOMIC_ACQUIRE)) {
    // Under the lock, so that no other thread's smaller launch takes the limit down again.
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    if (sharedBytes > INT32_MAX)
      return fail(launch, "cuFuncSetAttribute", kernel, config, invalidValue);
    if (sharedBytes > limit) {
      if (int32_t code = cuda->funcSetAttribute(function, maxDynamicSharedBytes, static_cast<int32_t>(sharedBytes)))
        return fail(launch, "cuFuncSetAttribute", kernel, config, code);
      __atomic_store_n(&limit, sharedBytes, __ATOMIC_RELEASE);
    }
  }

  LaunchConfig numbers = {unsigned(config[0]), unsigned(config[1]), unsigned(config[2]), unsigned(config[3]),
                          unsigned(config[4]), unsigned(config[5]), unsigned(config[6]), launch.stream,
                          nullptr,             0};
  if (int32_t code = cuda->launchKernelEx(&numbers, function, params, nullptr))
    return fail(launch, "cuLaunchKernelEx", kernel, config, code);
  return 0;
}

int32_t tilewrightRecordLaunch(void *context, int32_t kernel, const uint64_t *config, void **, int32_t paramCount) {
  auto &recorder = *static_cast<TilewrightRecorder *>(context);
  if (recorder.count < recorder.capacity) {
    TilewrightLaunchRecord &record = recorder.records[recorder.count];
    record.kernel = kernel;
    record.paramCount = paramCount;
    std::copy_n(config, int(TilewrightConfigSize), record.config);
  }
  ++recorder.count;
  return 0;
}
