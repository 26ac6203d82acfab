//===- Launcher.h - what compiled host code launches kernels through ------===//
//
// The struct of the host ABI (docs/stages.md). Whatever runs kernels fills one in: the CUDA driver (runtime/host), the
// simulator (runtime/sim) and the recorder here.
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
