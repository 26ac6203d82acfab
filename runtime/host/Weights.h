//===- Weights.h - a model's weights, mapped from their file --------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_WEIGHTS_H
#define TILEWRIGHT_RUNTIME_HOST_WEIGHTS_H

#include "runtime/host/LoadedProgram.h"
#include "runtime/host/Model.h"

namespace tilewright::host {

/// Where the weights begin in this machine's memory, or null with an error raised.
const char *findWeights(TilewrightModel &model, const char *name);

/// Where they begin on a GPU, whose context is current; the first call copies them there. 0 with a failure begun or
/// an error raised: `isRaised` says which.
uint64_t findWeightsOn(LoadedProgram &loaded, TilewrightModel &model, const char *name, void *stream, bool &isRaised);

} // namespace tilewright::host

#endif
