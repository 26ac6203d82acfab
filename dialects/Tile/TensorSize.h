//===- TensorSize.h - how many elements a tensor may have ----------------===//
#ifndef TILEWRIGHT_DIALECTS_TILE_TENSORSIZE_H
#define TILEWRIGHT_DIALECTS_TILE_TENSORSIZE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace tilewright::tile {

/// Whether 63 bits count a tensor's elements: MLIR works out no strides of more.
llvm::LogicalResult verifyCount(mlir::Operation *op, mlir::MemRefType tensor);
/// TMA adds numbers of these types to a tensor.
llvm::LogicalResult verifyReduceAdd(mlir::Operation *op, mlir::Type element);

} // namespace tilewright::tile

#endif
