#ifndef TILEWRIGHT_PASSES_LOOPS_TO_TILE_PASSES_H
#define TILEWRIGHT_PASSES_LOOPS_TO_TILE_PASSES_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/loops-to-tile/Passes.h.inc"
} // namespace tilewright

#endif
