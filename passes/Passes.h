#ifndef TILEWRIGHT_PASSES_PASSES_H
#define TILEWRIGHT_PASSES_PASSES_H

#include "passes/gpu-to-host/Passes.h"
#include "passes/gpu-to-nvvm/Passes.h"
#include "passes/gpu-to-sim/Passes.h"
#include "passes/gpu-to-source/Passes.h"
#include "passes/graph-to-graph/Passes.h"
#include "passes/host-to-ffi/Passes.h"
#include "passes/kernel-math/Passes.h"
#include "passes/linalg-to-cpu/Passes.h"
#include "passes/linalg-to-loops/Passes.h"
#include "passes/loops-to-gpu/Passes.h"
#include "passes/loops-to-tile/Passes.h"
#include "passes/narrow-types/Passes.h"
#include "passes/te-to-linalg/Passes.h"
#include "passes/te-to-te/Passes.h"
#include "passes/tile-to-nvvm/Passes.h"
#include "passes/verify-stage/Passes.h"

namespace tilewright {
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace tilewright

#endif
