//===- FoldedWeight.h - weights that are computed at compile time ---------===//
#ifndef TILEWRIGHT_PASSES_GRAPHTOGRAPH_FOLDEDWEIGHT_H
#define TILEWRIGHT_PASSES_GRAPHTOGRAPH_FOLDEDWEIGHT_H

#include "mlir/IR/Builders.h"

namespace tilewright {

/// A weight before `root`, which a new function in the module `graph.weights` computes: `compute` makes its body and
/// returns what the function does.
mlir::Value foldToWeight(mlir::Operation *root, mlir::Type type,
                         llvm::function_ref<mlir::Value(mlir::OpBuilder &)> compute);

} // namespace tilewright

#endif
