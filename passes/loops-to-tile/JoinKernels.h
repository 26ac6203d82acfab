//===- JoinKernels.h - kernels and loops that become one ------------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_JOINKERNELS_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_JOINKERNELS_H

#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"

namespace tilewright {

/// Of a kernel with a loop that follows one of an earlier kernel makes one with that: what it computes comes behind
/// what the other does.
mlir::LogicalResult joinKernels(mlir::func::FuncOp function);

/// Tiles, matmuls and maps that loops had which became one are there once.
void mergeTiles(tile::KernelOp kernel);

} // namespace tilewright

#endif
