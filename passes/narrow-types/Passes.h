#ifndef TILEWRIGHT_PASSES_NARROW_TYPES_PASSES_H
#define TILEWRIGHT_PASSES_NARROW_TYPES_PASSES_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/narrow-types/Passes.h.inc"
} // namespace tilewright

#endif
