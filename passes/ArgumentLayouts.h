//===- ArgumentLayouts.h - arguments that are not row-major ---------------===//
#ifndef TILEWRIGHT_PASSES_ARGUMENTLAYOUTS_H
#define TILEWRIGHT_PASSES_ARGUMENTLAYOUTS_H

#include "dialects/TE/TE.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// Whether an argument has strides of its own.
bool isStridedArgument(mlir::func::FuncOp function, unsigned position);

/// The memref that stands for an argument of such a shape and element type: row-major, or as te.strides says.
mlir::MemRefType getArgumentMemRef(mlir::func::FuncOp function, unsigned position, mlir::ShapedType like);

/// A number that divides the stride of a dimension of `buffer`: the stride itself, where it is known, what is known of
/// an argument's of the function, 1 of any other.
int64_t getStrideDivisor(mlir::Value buffer, int64_t dimension);

/// Whether the extents have a product of 2^63 or more. Upstream does not check that where it computes strides.
bool isTooLarge(mlir::MemRefType type);
/// Whether a memref is laid out as an argument may be: row-major, or by strides from its first element on.
bool hasArgumentLayout(mlir::MemRefType type);

/// Whether a memref is static and its elements are numbered by ints, as far apart as they lie.
bool hasShortIndices(mlir::MemRefType type);

/// How many of the strides of a memref a kernel is given, behind its extents: none of one that is row-major.
int64_t getNumDynamicStrides(mlir::MemRefType type);

/// Whether elements that follow each other along the last dimension lie side by side.
bool hasUnitRows(mlir::MemRefType type);

} // namespace tilewright

#endif
