//===- Launcher.h - what compiled host code launches kernels through ------===//
//
// The struct of the host ABI (docs/stages.md). Whatever runs kernels fills one in: the CUDA driver and the recorder in
// Launcher.cpp, the simulator elsewhere.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_LAUNCHER_H
#define TILEWRIGHT_RUNTIME_LAUNCHER_H

#include <cstdint>

extern "C" {

/// `config` is grid x, y, z, block x, y, z and the bytes of dynamic shared memory.
struct TilewrightLauncher {
  void *context;
  int32_t (*launch)(void *context, int32_t kernel, const uint64_t *config, void **params, int32_t paramCount);
};

enum { TilewrightConfigSize = 7 };

/// The two entry points of the driver that a launch needs, with the ABI that cuda.h declares for them.
struct TilewrightCudaDriver {
  int32_t (*launchKernelEx)(const void *config, void *function, void **params, void **extra);
  int32_t (*funcSetAttribute)(void *function, int32_t attribute, int32_t value);
};

/// Finds the entry points in `library` ("libcuda.so.1"), which stays loaded. Returns what went wrong, or null.
const char *tilewrightCudaOpen(const char *library, TilewrightCudaDriver *driver);

/// The kernels of one cubin that is loaded into one CUDA context. `sharedLimits` are the bytes of dynamic shared memory
/// that each may use as things stand: 48 KiB at first, raised by the launch that needs more.
struct TilewrightCudaKernels {
  const TilewrightCudaDriver *driver;
  void **functions;
  uint64_t *sharedLimits;
  int32_t count;
};

/// The context of the CUDA launcher: one for each call of a program. What failed is left in it for the error's text.
struct TilewrightCudaLaunch {
  const TilewrightCudaKernels *kernels;
  void *stream;
  const char *failedCall;
  uint64_t failedConfig[TilewrightConfigSize];
  int32_t failedKernel;
};

/// Launches on the current CUDA context. Returns the driver's code. `context` is a TilewrightCudaLaunch.
int32_t tilewrightCudaLaunch(void *context, int32_t kernel, const uint64_t *config, void **params, int32_t paramCount);

struct TilewrightLaunchRecord {
  int32_t kernel;
  int32_t paramCount;
  uint64_t config[TilewrightConfigSize];
};

/// The context of the recorder: `count` goes on past `capacity`, so that the caller learns how much room it takes.
struct TilewrightRecorder {
  TilewrightLaunchRecord *records;
  int32_t capacity;
  int32_t count;
};

/// Notes the launch and runs nothing. `context` is a TilewrightRecorder.
int32_t tilewrightRecordLaunch(void *context, int32_t kernel, const uint64_t *config, void **params,
                               int32_t paramCount);
}

#endif
