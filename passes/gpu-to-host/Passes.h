#ifndef TILEWRIGHT_PASSES_GPU_TO_HOST_PASSES_H
#define TILEWRIGHT_PASSES_GPU_TO_HOST_PASSES_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/gpu-to-host/Passes.h.inc"
} // namespace tilewright

#endif
