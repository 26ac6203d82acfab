//===- FragmentAccumulation.h - additions to fragments -------------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_FRAGMENTACCUMULATION_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_FRAGMENTACCUMULATION_H

#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"

namespace tilewright {

/// The sum of two fragments.
mlir::Value makeSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum, mlir::Value part);

/// Whether a fragment is one of zeros.
bool isZeroFill(mlir::Value fragment);

/// Whether all that a loop carries is accumulators, which matmuls of each iteration add to and nobody else uses.
bool isAccumulation(mlir::scf::ForOp loop);

} // namespace tilewright

#endif
