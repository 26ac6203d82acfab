#ifndef TILEWRIGHT_PASSES_VERIFY_STAGE_PASSES_H
#define TILEWRIGHT_PASSES_VERIFY_STAGE_PASSES_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/verify-stage/Passes.h.inc"
} // namespace tilewright

#endif
