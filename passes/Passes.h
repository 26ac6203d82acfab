#ifndef TILEWRIGHT_PASSES_PASSES_H
#define TILEWRIGHT_PASSES_PASSES_H

#include "dialects/Graph/Libraries.h"
#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace tilewright

#endif
