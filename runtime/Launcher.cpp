//===- Launcher.cpp - the launcher that only takes notes ------------------===//
#include "runtime/Launcher.h"

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

int32_t tilewrightRecordEncode(void *, void *, const uint64_t *) { return 0; }
