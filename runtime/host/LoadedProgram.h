//===- LoadedProgram.h - a program's kernels in a GPU ---------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_LOADEDPROGRAM_H
#define TILEWRIGHT_RUNTIME_HOST_LOADEDPROGRAM_H

#include "runtime/host/ABI.h"
#include "runtime/host/Cuda.h"

#include <pthread.h>

namespace tilewright::host {

/// GPUs of a machine that programs and models are loaded into.
inline constexpr int32_t maxDevices = 64;

/// Loading is done by one thread at a time, and what is loaded is set up by it.
struct LoadGuard {
  LoadGuard();
  ~LoadGuard();
};

/// A kernel in a GPU, and the bytes of dynamic shared memory that it may use as things stand.
struct LoadedKernel {
  void *function;
  uint64_t sharedLimit;
};

struct LoadedDetails;

/// A program's kernels in one GPU's primary context: what a launch needs, in a line of the cache for the program and
/// the next for the kernels, which follow it. The driver, at work between launches, takes the caches for itself.
struct alignas(64) LoadedProgram {
  void *context;
  int32_t (*ctxGetCurrent)(void **context);
  int32_t (*launchKernelEx)(const void *config, void *function, void **params, void **extra);
  int32_t (*host)(void **data, const int64_t *shape, void *workspace, void *launcher);
  int64_t (*workspaceBytes)(const int64_t *shape);
  int32_t device, kernelCount, launchFlags;
  LoadedDetails *details;

  LoadedKernel *kernels() { return reinterpret_cast<LoadedKernel *>(this + 1); }
};
static_assert(sizeof(LoadedProgram) == 64, "one line of the cache");

/// What else is known of one.
struct LoadedDetails {
  const TilewrightCudaDriver *driver;
  TilewrightProgram *program;
  void *module;
  /// Where workspaces come from: null until there is one.
  void *pool;
  /// For tilewrightHostFunctionsCuda.
  void **functions;
  /// Whether the GPU copies tiles by tensor maps.
  bool hasTMA;
  /// The program in the GPU of each number, the same for all of them.
  LoadedProgram **byDevice;
};

/// libcuda, opened and initialised once, or null with a failure begun.
const TilewrightCudaDriver *findDriver();

/// The pool that workspaces on a GPU come from, or null with a failure begun.
void *findPool(LoadedProgram &loaded);

/// The program in a GPU where it is not the first that it was loaded into: loaded if need be, or null with an error
/// raised.
__attribute__((noinline, cold)) LoadedProgram *findLoadedElsewhere(TilewrightProgram *program, int32_t device);

/// The program in a GPU, loaded if need be, or null with an error raised.
inline LoadedProgram *findLoaded(TilewrightProgram *program, int32_t device) {
  auto *first = static_cast<LoadedProgram *>(__atomic_load_n(&program->state, __ATOMIC_ACQUIRE));
  return __builtin_expect(first && first->device == device, 1) ? first : findLoadedElsewhere(program, device);
}

/// Runs a program in the GPU's context, which is current: its host code, with a workspace where it takes one. Returns
/// other than 0 with a failure begun.
int32_t runInContext(LoadedProgram &loaded, void *stream, void **data, const int64_t *shape);

/// The bytes of a row-major tensor, whose extents begin at `shape`, which then stands behind them.
inline int64_t countBytes(const TilewrightArgument &argument, const int64_t *&shape) {
  int64_t bytes = (argument.dtype >> 8 & 0xff) / 8;
  for (int32_t dim = 0; dim < argument.rank; ++dim)
    bytes *= *shape++;
  return bytes;
}

} // namespace tilewright::host

#endif
