#ifndef TILEWRIGHT_PASSES_TE_TO_LINALG_PASSES_H
#define TILEWRIGHT_PASSES_TE_TO_LINALG_PASSES_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/te-to-linalg/Passes.h.inc"
} // namespace tilewright

#endif
