#ifndef TILEWRIGHT_PASSES_KERNEL_MATH_PASSES_H
#define TILEWRIGHT_PASSES_KERNEL_MATH_PASSES_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/kernel-math/Passes.h.inc"
} // namespace tilewright

#endif
