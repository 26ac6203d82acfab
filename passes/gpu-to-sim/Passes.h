#ifndef TILEWRIGHT_PASSES_GPU_TO_SIM_PASSES_H
#define TILEWRIGHT_PASSES_GPU_TO_SIM_PASSES_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/gpu-to-sim/Passes.h.inc"
} // namespace tilewright

#endif
