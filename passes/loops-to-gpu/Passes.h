#ifndef TILEWRIGHT_PASSES_LOOPS_TO_GPU_PASSES_H
#define TILEWRIGHT_PASSES_LOOPS_TO_GPU_PASSES_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/loops-to-gpu/Passes.h.inc"
} // namespace tilewright

#endif
