/* What launch_overhead.py has compiled: drivers, tensors and loops. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* A driver that does nothing, in the order of TilewrightCudaDriver (runtime/host/Cuda.h). */
static void *current = (void *)0xC0;
static int init(unsigned f) { (void)f; return 0; }
static int count(int *n) { *n = 1; return 0; }
static int name(char *t, int n, int d) { (void)n; (void)d; strcpy(t, "nothing"); return 0; }
static int attribute(int *v, int a, int d) { (void)d; *v = a == 75 ? 9 : a == 76 ? 0 : 1 << 20; return 0; }
static int retain(void **c, int d) { (void)d; *c = current; return 0; }
static int get(void **c) { *c = current; return 0; }
static int push(void *c) { current = c; return 0; }
static int pop(void **c) { *c = current; return 0; }
static int load(void **m, const void *i) { (void)i; *m = (void *)1; return 0; }
static int function(void **f, void *m, const char *n) { (void)m; (void)n; *f = (void *)2; return 0; }
static int unload(void *m) { (void)m; return 0; }
static int set(void *f, int a, int v) { (void)f; (void)a; (void)v; return 0; }
int null_launch(const void *c, void *f, void **p, void **e) { (void)c; (void)f; (void)p; (void)e; return 0; }
static int error(int c, const char **n) { (void)c; *n = "none"; return 0; }
void *null_driver[] = {init, count, name, attribute, retain, get, push, pop, load, function,
                       unload, set, null_launch, error, 0, 0, 0, 0, 0, 0, 0, 0, 0};

/* One that takes the caches: it goes once through 64 KiB of code, a jump in every line, and 64 KiB of data. */
enum { Lines = 1024, LineBytes = 64 };
static void (*code)(void);
static volatile char *data;
int make_greedy(void) {
  int kind = PROT_READ | PROT_WRITE | PROT_EXEC;
  unsigned char *line = mmap(0, (Lines + 1) * LineBytes, kind, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (line == MAP_FAILED) return -1;
  code = (void (*)(void))line;
  for (int i = 0; i < Lines; ++i, line += LineBytes) memcpy(line, "\xe9\x3b\0\0\0", 5); /* jmp to the next line */
  *line = 0xc3; /* ret */
  data = calloc(Lines, LineBytes);
  return data ? 0 : -1;
}
int greedy_launch(const void *c, void *f, void **p, void **e) {
  (void)c; (void)f; (void)p; (void)e;
  for (int i = 0; i < Lines; ++i) ++data[i * LineBytes];
  code();
  return 0;
}
void *greedy_driver[] = {init, count, name, attribute, retain, get, push, pop, load, function,
                         unload, set, greedy_launch, error, 0, 0, 0, 0, 0, 0, 0, 0, 0};

/* The exchange API of objects that are all one tensor of 64 floats, each with memory of its own. */
typedef struct { void *data; int32_t kind, id, ndim; uint8_t code, bits; uint16_t lanes;
                 int64_t *shape, *strides; uint64_t offset; } Tensor;
static int64_t shape[1] = {64}, strides[1] = {1};
int tensor_of(void *object, Tensor *out) {
  Tensor made = {(void *)((uintptr_t)object << 8), 2, 0, 1, 2, 32, 1, shape, strides, 0};
  *out = made;
  return 0;
}
int stream_of(int32_t kind, int32_t id, void **stream) { (void)kind; (void)id; *stream = 0; return 0; }

static double since(struct timespec begin, int times) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / times;
}
#define LOOP(...)                                                                                                      \
  struct timespec begin;                                                                                               \
  clock_gettime(CLOCK_MONOTONIC, &begin);                                                                              \
  for (int i = 0; i < times; ++i) {                                                                                    \
    __VA_ARGS__;                                                                                                       \
  }                                                                                                                    \
  return since(begin, times)

typedef struct { unsigned grid[3], block[3], shared; void *stream, *attributes; unsigned count; } Config;
typedef int LaunchEx(const Config *, void *, void **, void **);
typedef unsigned U;
typedef int Launch(void *, U, U, U, U, U, U, U, void *, void **, void **);

/* The floor: nanoseconds a launch. */
double launch_loop(LaunchEx *launch_ex, void *kernel, void *stream, void **params, int times) {
  Config config = {{1, 1, 1}, {64, 1, 1}, 0, stream, 0, 0};
  LOOP(launch_ex(&config, kernel, params, 0));
}

/* The same with the parameters as one block of bytes. */
double packed_loop(LaunchEx *launch_ex, void *kernel, void *stream, void *block, size_t bytes, int times) {
  Config config = {{1, 1, 1}, {64, 1, 1}, 0, stream, 0, 0};
  void *extra[] = {(void *)1, block, (void *)2, &bytes, 0};
  LOOP(launch_ex(&config, kernel, 0, extra));
}

double plain_loop(Launch *launch, void *kernel, void *stream, void **params, int times) {
  LOOP(launch(kernel, 1, 1, 1, 64, 1, 1, 0, stream, params, 0));
}

/* The parts of a call. */
double api_loop(int (*read)(void *, Tensor *), void **objects, int count, int times) {
  Tensor tensors[8];
  LOOP(for (int j = 0; j < count; ++j) read(objects[j], &tensors[j]));
}

double torch_loop(void (*convert)(void *, Tensor *), void **objects, int count, int times) {
  Tensor tensors[8];
  LOOP(for (int j = 0; j < count; ++j) convert((char *)objects[j] + 16, &tensors[j]));
}

double stream_loop(int (*current)(int32_t, int32_t, void **), int times) {
  void *stream;
  LOOP(current(2, 0, &stream));
}

double gil_loop(void *(*save)(void), void (*restore)(void *), int times) { LOOP(restore(save())); }

double context_loop(int (*get_current)(void **), int times) {
  void *context;
  LOOP(get_current(&context));
}

double entry_loop(int (*entry)(void **, void *, int), void **stream, void *args, int count, int times) {
  LOOP(if (entry(stream, args, count)) return -1);
}

/* The function as the interpreter calls it, without the interpreter's loop around. */
double vectorcall_loop(void *(*call)(void *, void **, size_t, void *), void (*release)(void *), void *function,
                       void **objects, int count, int times) {
  LOOP(void *result = call(function, objects, count, 0); if (!result) return -1; release(result));
}

/* All that a call cannot do without, as one would write it in C for this one kernel. */
double bare_loop(void (*convert)(void *, Tensor *), void **objects, int count,
                 int (*current)(int32_t, int32_t, void **), void *(*save)(void), void (*restore)(void *),
                 int (*get_current)(void **), LaunchEx *launch_ex, void *kernel, void **params, int times) {
  Tensor tensors[8];
  void *context;
  Config config = {{1, 1, 1}, {64, 1, 1}, 0, 0, 0, 0};
  LOOP(for (int j = 0; j < count; ++j) convert((char *)objects[j] + 16, &tensors[j]); current(2, 0, &config.stream);
       void *state = save(); get_current(&context); launch_ex(&config, kernel, params, 0); restore(state));
}
