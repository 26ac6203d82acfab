#ifndef TILEWRIGHT_PASSES_PASSES_H
#define TILEWRIGHT_PASSES_PASSES_H

#include "passes/PassSupport.h"

namespace tilewright {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/te-to-te/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/te-to-linalg/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/linalg-to-cpu/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/narrow-types/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/linalg-to-loops/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/loops-to-gpu/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/kernel-math/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/gpu-to-nvvm/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/gpu-to-host/Passes.h.inc"
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/gpu-to-sim/Passes.h.inc"
} // namespace tilewright

#endif
