// The driver's functions that printed host programs call, on this machine's memory. Each call is a line of the log; a
// launch runs the printed kernel of that name.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" int run_kernel(const char *name, const uint64_t *config, void **params);

static std::string lines;
static const char *failing = "";
static CUcontext current = nullptr;

template <typename... T> static CUresult record(const char *call, const char *format, T... values) {
  char text[400];
  std::snprintf(text, sizeof text, format, values...);
  lines += std::string(call) + text + "\n";
  return std::strcmp(call, failing) == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

extern "C" {
const char *fake_log() { return lines.c_str(); }
void fake_reset(const char *call, int has_context) {
  lines.clear(), failing = strdup(call), current = reinterpret_cast<CUcontext>(uintptr_t(has_context));
}

CUresult cuInit(unsigned) { return record("cuInit", ""); }
CUresult cuDeviceGet(CUdevice *device, int) { return *device = 0, record("cuDeviceGet", ""); }
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  return *context = reinterpret_cast<CUcontext>(0xC0), record("cuDevicePrimaryCtxRetain", "");
}
CUresult cuCtxGetCurrent(CUcontext *context) { return *context = current, CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext context) { return current = context, record("cuCtxSetCurrent", ""); }
CUresult cuGetErrorName(CUresult, const char **name) { return *name = "CUDA_ERROR_INVALID_VALUE", CUDA_SUCCESS; }
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  *module = reinterpret_cast<CUmodule>(1);
  return record("cuModuleLoadData", " %.3s", static_cast<const char *>(image) + 1);
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  *function = reinterpret_cast<CUfunction>(strdup(name));
  return record("cuModuleGetFunction", " %s", name);
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int value) { return record("cuFuncSetAttribute", " %d", value); }
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream) {
  *address = reinterpret_cast<CUdeviceptr>(aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(reinterpret_cast<void *>(*address), 0xff, bytes);
  return record("cuMemAllocAsync", " %zu", bytes);
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream) {
  std::free(reinterpret_cast<void *>(address));
  return record("cuMemFreeAsync", "");
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return record("cuMemcpyHtoDAsync", " %zu", bytes);
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return record("cuMemcpyDtoHAsync", " %zu", bytes);
}
CUresult cuStreamSynchronize(CUstream) { return record("cuStreamSynchronize", ""); }
CUresult cuTensorMapEncodeTiled(CUtensorMap *, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *extents,
                                const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  std::string text = " " + std::to_string(type) + " " + std::to_string(reinterpret_cast<uintptr_t>(address));
  for (cuuint32_t i = 0; i < rank; ++i) text += " " + std::to_string(extents[i]);
  for (cuuint32_t i = 0; i + 1 < rank; ++i) text += " " + std::to_string(strides[i]);
  for (cuuint32_t i = 0; i < rank; ++i) text += " " + std::to_string(box[i]) + " " + std::to_string(steps[i]);
  for (int option : {int(interleave), int(swizzle), int(promotion), int(fill)}) text += " " + std::to_string(option);
  return record("cuTensorMapEncodeTiled", "%s", text.c_str());
}
static CUresult run(const char *call, const char *attributes, CUfunction function, const uint64_t *config, void **parameters) {
  const char *name = reinterpret_cast<const char *>(function);
  CUresult result = record(call, " %s %d %d %d %d %d %d %d%s", name, int(config[0]), int(config[1]), int(config[2]), int(config[3]),
                           int(config[4]), int(config[5]), int(config[6]), attributes);
  if (result == CUDA_SUCCESS && run_kernel(name, config, parameters)) return CUDA_ERROR_LAUNCH_FAILED;
  return result;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream, void **parameters, void **) {
  const uint64_t config[] = {gx, gy, gz, bx, by, bz, shared};
  return run("cuLaunchKernel", "", function, config, parameters);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *given, CUfunction function, void **parameters, void **) {
  const uint64_t config[] = {given->gridDimX,  given->gridDimY,  given->gridDimZ,      given->blockDimX,
                             given->blockDimY, given->blockDimZ, given->sharedMemBytes};
  std::string attributes;
  for (unsigned i = 0; i < given->numAttrs; ++i) {
    const CUlaunchAttribute &attribute = given->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative) attributes += " cooperative";
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION && attribute.value.programmaticStreamSerializationAllowed)
      attributes += " dependent";
  }
  return run("cuLaunchKernelEx", attributes.c_str(), function, config, parameters);
}
}
