//===- FragmentSums.h - sums of fragments, and how long they take ---------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_FRAGMENTSUMS_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_FRAGMENTSUMS_H

#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"

namespace tilewright {

/// On a pipelined loop whose bounds are no constants: the least number of its iterations (i64), where that is more than one.
inline constexpr llvm::StringLiteral kLeastIterationsAttr = "tile.least_iterations";

/// The sum of two fragments.
mlir::Value makeSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum, mlir::Value part);

/// Whether a fragment is one of zeros.
bool isZeroFill(mlir::Value fragment);

/// Whether all that a loop carries is accumulators, which matmuls of each iteration add to and nobody else uses.
bool isAccumulation(mlir::scf::ForOp loop);

} // namespace tilewright

#endif
