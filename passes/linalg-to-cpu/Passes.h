#ifndef TILEWRIGHT_PASSES_LINALG_TO_CPU_PASSES_H
#define TILEWRIGHT_PASSES_LINALG_TO_CPU_PASSES_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/linalg-to-cpu/Passes.h.inc"
} // namespace tilewright

#endif
