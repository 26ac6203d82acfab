// The libcuda of fake_cuda.c, with what cuda-bindings asks of one beside it.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "fake_cuda.c"

int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuDeviceGet(int *device, int number) { return *device = number, 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { return *bytes = MOST, 0; }
int cuMemGetInfo_v2(size_t *left, size_t *bytes) { return *left = *bytes = MOST, 0; }
int cuMemAlloc_v2(void **address, size_t bytes) {
  if (fake_capturing) // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, as in a capture of the whole process
    return 900;
  return bytes > MOST ? 2 : !(*address = aligned_alloc(512, bytes));
}
int cuMemFree_v2(void *address) { return free(address), 0; }
int cuCtxSynchronize(void) { return 0; }
int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) { return cuStreamCreate(stream, flags); }
int cuEventCreate(void **event, unsigned flags) { return *event = calloc(1, sizeof(double)), 0; }
int cuEventDestroy_v2(void *event) { return free(event), 0; }
int cuEventRecordWithFlags(void *event, void *stream, unsigned flags) {
  if ((captured && stream == captured_by) != flags)
    return 1;
  return do_or_keep(stream, (struct Work){0, 0, 0, event}), 0;
}
int cuEventRecord(void *event, void *stream) { return cuEventRecordWithFlags(event, stream, 0); }
int cuEventQuery(void *event) { return 0; }
int cuEventSynchronize(void *event) { return 0; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return 0; }
int cuEventElapsedTime_v2(float *ms, double *start, double *end) { return *ms = *end - *start, 0; }

int cuGetProcAddress_v2(const char *name, void **found, int version, unsigned long flags, int *status) {
  char second[256];
  Dl_info here;
  dladdr((void *)cuGetProcAddress_v2, &here);
  void *self = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  snprintf(second, sizeof(second), "%s_v2", name);
  *found = dlsym(self, second);
  if (!*found)
    *found = dlsym(self, name);
  if (status)
    *status = !*found;
  return *found ? 0 : 500;
}
