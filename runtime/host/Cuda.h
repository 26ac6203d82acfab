//===- Cuda.h - the CUDA driver, as the run time sees it ------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_CUDA_H
#define TILEWRIGHT_RUNTIME_HOST_CUDA_H

#include <cstddef>
#include <cstdint>

extern "C" {

/// The driver's functions that launching takes, with the ABI that cuda.h declares for them; no toolkit is needed to
/// build. Those from tensorMapEncodeTiled on are null where the driver does not have them.
struct TilewrightCudaDriver {
  int32_t (*init)(uint32_t flags);
  int32_t (*deviceGetCount)(int32_t *count);
  int32_t (*deviceGetName)(char *name, int32_t length, int32_t device);
  int32_t (*deviceGetAttribute)(int32_t *value, int32_t attribute, int32_t device);
  int32_t (*primaryCtxRetain)(void **context, int32_t device);
  int32_t (*ctxGetCurrent)(void **context);
  int32_t (*ctxPushCurrent)(void *context);
  int32_t (*ctxPopCurrent)(void **context);
  int32_t (*moduleLoadData)(void **module, const void *image);
  int32_t (*moduleGetFunction)(void **function, void *module, const char *name);
  int32_t (*moduleUnload)(void *module);
  int32_t (*funcSetAttribute)(void *function, int32_t attribute, int32_t value);
  int32_t (*launchKernelEx)(const void *config, void *function, void **params, void **extra);
  int32_t (*getErrorName)(int32_t code, const char **name);
  int32_t (*memPoolCreate)(void **pool, const void *properties);
  int32_t (*memPoolSetAttribute)(void *pool, int32_t attribute, void *value);
  int32_t (*memAllocFromPoolAsync)(uint64_t *address, size_t bytes, void *pool, void *stream);
  int32_t (*memFreeAsync)(uint64_t address, void *stream);
  int32_t (*ctxGetDevice)(int32_t *device);
  int32_t (*memcpyHtoDAsync)(uint64_t to, const void *from, size_t bytes, void *stream);
  int32_t (*memcpyDtoHAsync)(void *to, uint64_t from, size_t bytes, void *stream);
  int32_t (*streamSynchronize)(void *stream);
  int32_t (*tensorMapEncodeTiled)(void *, int32_t, uint32_t, void *, const uint64_t *, const uint64_t *,
                                  const uint32_t *, const uint32_t *, int32_t, int32_t, int32_t, int32_t);
  int32_t (*memcpyDtoDAsync)(uint64_t to, uint64_t from, size_t bytes, void *stream);
  int32_t (*streamCreate)(void **stream, uint32_t flags);
  int32_t (*streamDestroy)(void *stream);
  int32_t (*streamIsCapturing)(void *stream, int32_t *status);
  int32_t (*streamBeginCapture)(void *stream, int32_t mode);
  int32_t (*streamEndCapture)(void *stream, void **graph);
  int32_t (*graphDestroy)(void *graph);
  int32_t (*graphInstantiate)(void **exec, void *graph, uint64_t flags);
  int32_t (*graphExecUpdate)(void *exec, void *graph, void *resultInfo);
  int32_t (*graphExecDestroy)(void *exec);
  int32_t (*graphLaunch)(void *exec, void *stream);
  int32_t (*memHostAlloc)(void **memory, size_t bytes, uint32_t flags);
  int32_t (*memFreeHost)(void *memory);
};

/// Finds the functions in `library` ("libcuda.so.1"), which stays loaded. Returns what went wrong, or null. The text
/// lives until the thread's next call.
const char *tilewrightCudaOpen(const char *library, TilewrightCudaDriver *driver);

/// From here on the run time calls these functions, in place of libcuda's. Null: libcuda's again.
void tilewrightCudaUse(const TilewrightCudaDriver *driver);
}

#endif
