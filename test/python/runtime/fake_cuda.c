// A libcuda for libraries in a process of their own. Its memory is this machine's. With TELLS its launches say what they
// are, and all but the first fail; otherwise its kernel doubles 64 numbers.
// Memory is refused beyond MOST bytes. What a stream captures is done when its graph is launched; `fake_counts` says how
// often each of that was asked for, and `fake_codes` what it returns.
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

// ------------------------------------------------------------------- graphs
enum { LAUNCHES, CAPTURES, INSTANCES, UPDATES, GRAPH_LAUNCHES, GRAPHS, STREAMS, ALLOCATIONS, CAPTURED_LAUNCHES, COUNT };
int fake_counts[COUNT]; // GRAPHS and STREAMS: how many there are, instances too
int fake_codes[COUNT];
void *fake_capturing; // a stream that somebody else captures
int fake_mode = -1;

struct Work {
  float *from, *to;
  size_t bytes;  // of a copy
  double *event; // which gets the time
  void (*call)(void *); // of a library, or in place of a kernel
  void *context;
  int is_library;
};
double fake_library_time = 1; // of a library's kernel
// What kernels do, with their block of parameters; where there is none they double 64 numbers.
void (*fake_kernel)(void *block);
static double fake_time; // two milliseconds for a kernel or a copy, and half of one for an event
struct Graph {
  int count;
  struct Work work[64];
};
static struct Graph *captured;
static void *captured_by;

static void work(struct Work w) {
  fake_time += w.event ? 0.5 : w.is_library ? fake_library_time : 2;
  if (w.event) {
    *w.event = fake_time;
    return;
  }
  if (w.call) {
    w.call(w.context);
    return;
  }
  if (w.bytes)
    memcpy(w.to, w.from, w.bytes);
  for (int i = 0; !w.bytes && i < 64; ++i)
    w.to[i] = w.from[i] * 2;
}
static int launch_code(void *stream) {
  return captured && stream == captured_by ? fake_codes[CAPTURED_LAUNCHES] : fake_codes[LAUNCHES];
}
static void do_or_keep(void *stream, struct Work w) {
  if (captured && stream == captured_by) {
    captured->work[captured->count++] = w;
    return;
  }
  fake_counts[LAUNCHES] += !w.event && !w.is_library;
  work(w);
}
int fake_is_capturing(void) { return captured || fake_capturing; }
// What a library launches.
int fake_enqueue(void *stream, void (*call)(void *), void *context) {
  do_or_keep(stream, (struct Work){.call = call, .context = context, .is_library = 1});
  return 0;
}
static struct Graph *graph_like(struct Graph *other) {
  struct Graph *made = calloc(1, sizeof(struct Graph));
  if (other)
    *made = *other;
  ++fake_counts[GRAPHS];
  return made;
}
int cuStreamCreate(void **stream, unsigned flags) { return *stream = (void *)0x57, ++fake_counts[STREAMS], 0; }
int cuStreamDestroy_v2(void *stream) { return --fake_counts[STREAMS], 0; }
int cuStreamIsCapturing(void *stream, int *status) { return *status = stream == fake_capturing && fake_capturing, 0; }
int cuStreamBeginCapture_v2(void *stream, int mode) {
  fake_mode = mode;
  if (fake_codes[CAPTURES])
    return fake_codes[CAPTURES];
  captured_by = stream;
  captured = graph_like(0);
  return 0;
}
int cuStreamEndCapture(void *stream, void **graph) {
  ++fake_counts[CAPTURES];
  *graph = captured;
  captured = 0;
  return 0;
}
int cuGraphDestroy(void *graph) { return free(graph), --fake_counts[GRAPHS], 0; }
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long flags) {
  ++fake_counts[INSTANCES];
  return fake_codes[INSTANCES] ? fake_codes[INSTANCES] : (*exec = graph_like(graph), 0);
}
int cuGraphExecUpdate_v2(void *exec, void *graph, void *result) {
  ++fake_counts[UPDATES];
  if (!fake_codes[UPDATES])
    *(struct Graph *)exec = *(struct Graph *)graph;
  return fake_codes[UPDATES];
}
int cuGraphExecDestroy(void *exec) { return cuGraphDestroy(exec); }
int cuGraphLaunch(void *exec, void *stream) {
  struct Graph *graph = exec;
  ++fake_counts[GRAPH_LAUNCHES];
  for (int i = 0; !fake_codes[GRAPH_LAUNCHES] && i < graph->count; ++i)
    work(graph->work[i]);
  return fake_codes[GRAPH_LAUNCHES];
}

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
  if (launch_code(*(void **)(config + 8)))
    return launch_code(*(void **)(config + 8));
  if (fake_kernel) {
    size_t bytes = *(size_t *)extra[3];
    do_or_keep(*(void **)(config + 8), (struct Work){.call = fake_kernel, .context = memcpy(malloc(bytes), block, bytes)});
    return 0;
  }
  int to = 1;
  while (block[to] < 1 << 20) // extents stand between addresses
    ++to;
  do_or_keep(*(void **)(config + 8), (struct Work){(void *)block[0], (void *)block[to], 0});
  return 0;
#endif
}
int cuGetErrorName(int code, const char **name) {
  return *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_INVALID_VALUE", 0;
}
int cuMemPoolCreate(void **pool, const void *properties) { return *pool = pool, 0; }
int cuMemPoolSetAttribute(void *pool, int attribute, void *value) { return 0; }
// As a pool does it: what was freed serves the next allocation of its size.
struct Block {
  size_t bytes;
  struct Block *next;
  char rest[512 - 2 * sizeof(size_t)];
};
static struct Block *pooled;
int cuMemAllocFromPoolAsync(void **address, size_t bytes, void *pool, void *stream) {
  struct Block **place = &pooled, *block;
  ++fake_counts[ALLOCATIONS];
  if (bytes > MOST)
    return 2;
  while (*place && (*place)->bytes != bytes)
    place = &(*place)->next;
  if ((block = *place))
    *place = block->next;
  else
    block = aligned_alloc(512, sizeof(struct Block) + (bytes + 511) / 512 * 512);
  block->bytes = bytes;
  return *address = block + 1, 0;
}
int cuMemFreeAsync(void *address, void *stream) {
  struct Block *block = (struct Block *)address - 1;
  block->next = pooled;
  return pooled = block, 0;
}
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream) { return memcpy(to, from, bytes), 0; }
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes, void *stream) { return memcpy(to, from, bytes), 0; }
int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream) {
  return do_or_keep(stream, (struct Work){(float *)from, to, bytes}), 0;
}
int fake_waits; // for a stream
int cuStreamSynchronize(void *stream) { return ++fake_waits, 0; }
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) { return !(*memory = malloc(bytes)); }
int cuMemFreeHost(void *memory) { return free(memory), 0; }
