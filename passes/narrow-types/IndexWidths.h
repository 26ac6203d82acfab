//===- IndexWidths.h - indices of a chosen width ---------------------------===//
#ifndef TILEWRIGHT_PASSES_NARROW_TYPES_INDEXWIDTHS_H
#define TILEWRIGHT_PASSES_NARROW_TYPES_INDEXWIDTHS_H

#include "passes/index/IndexRanges.h"

namespace tilewright {

/// The result of `op`, an op of arith on indices, computed in integers of `type`. `operand` gives those of its
/// operands.
mlir::Value computeInIntegers(mlir::OpBuilder &builder, mlir::Operation *op, mlir::IntegerType type,
                              llvm::function_ref<mlir::Value(mlir::Value)> operand);

/// How many bits the indices of a module's kernels have: what choose-index-widths said, or 64; 0 for what is no
/// width.
unsigned getIndexBits(mlir::gpu::GPUModuleOp module);

} // namespace tilewright

#endif
