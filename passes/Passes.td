#ifndef TILEWRIGHT_PASSES
#define TILEWRIGHT_PASSES

// All the passes, in pipeline order, for the reference page. Each folder builds from its own file, so that a change to
// one pass rebuilds its folder alone.
include "passes/verify-stage/Passes.td"
include "passes/graph-to-graph/Passes.td"
include "passes/te-to-te/Passes.td"
include "passes/te-to-linalg/Passes.td"
include "passes/linalg-to-cpu/Passes.td"
include "passes/narrow-types/Passes.td"
include "passes/linalg-to-loops/Passes.td"
include "passes/loops-to-tile/Passes.td"
include "passes/loops-to-gpu/Passes.td"
include "passes/kernel-math/Passes.td"
include "passes/tile-to-nvvm/Passes.td"
include "passes/gpu-to-nvvm/Passes.td"
include "passes/gpu-to-host/Passes.td"
include "passes/host-to-ffi/Passes.td"
include "passes/gpu-to-sim/Passes.td"
include "passes/gpu-to-source/Passes.td"

#endif // TILEWRIGHT_PASSES
