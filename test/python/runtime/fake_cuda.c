// A libcuda for libraries in a process of their own. Its memory is this machine's. With TELLS its launches say what they
// are, and all but the first fail; otherwise its kernel doubles 64 numbers.
// Memory is refused beyond MOST bytes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MOST
#define MOST (1l << 30)
#endif

#ifdef TELLS
#define TELL(...) printf(__VA_ARGS__)
#else
#define TELL(...) (void)0
#endif

int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGetName(char *name, int length, int device) { return strcpy(name, "Fake"), 0; }
// 75 and 76 are the compute capability's.
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  return *value = attribute == 75 ? MAJOR : attribute == 76 ? MINOR : 1024, 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = (void *)0xC0, 0; }
int cuCtxGetCurrent(void **context) { return *context = 0, 0; }
int cuCtxGetDevice(int *device) { return 201; }
int cuCtxPushCurrent_v2(void *context) { return 0; }
int cuCtxPopCurrent_v2(void **context) { return 0; }
int cuModuleLoadData(void **module, const void *image) { return TELL("load %.3s\n", (const char *)image + 1), 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) { return TELL("find %s\n", name), 0; }
int cuModuleUnload(void *module) { return 0; }
int cuFuncSetAttribute(void *function, int attribute, int value) { return 0; }
int cuLaunchKernelEx(const unsigned *config, void *function, void **params, void **extra) {
  long *block = extra[1]; // CU_LAUNCH_PARAM_BUFFER_POINTER
#ifdef TELLS
  static int times = 0;
  TELL("launch %u x %u with n = %ld\n", config[0], config[3], block[1]);
  return times++ ? 1 : 0;
#else
  for (int i = 0; i < 64; ++i)
    ((float *)block[1])[i] = ((float *)block[0])[i] * 2;
  return 0;
#endif
}
int cuGetErrorName(int code, const char **name) {
  return *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_INVALID_VALUE", 0;
}
int cuMemPoolCreate(void **pool, const void *properties) { return *pool = pool, 0; }
int cuMemPoolSetAttribute(void *pool, int attribute, void *value) { return 0; }
int cuMemAllocFromPoolAsync(void **address, size_t bytes, void *pool, void *stream) {
  return bytes > MOST ? 2 : !(*address = aligned_alloc(512, (bytes + 511) / 512 * 512));
}
int cuMemFreeAsync(void *address, void *stream) { return free(address), 0; }
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream) { return memcpy(to, from, bytes), 0; }
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes, void *stream) { return memcpy(to, from, bytes), 0; }
int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream) { return memcpy(to, from, bytes), 0; }
int cuStreamSynchronize(void *stream) { return 0; }
