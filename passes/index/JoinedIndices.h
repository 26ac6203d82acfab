//===- JoinedIndices.h - dimensions that an access counts as one ----------===//
#ifndef TILEWRIGHT_PASSES_INDEX_JOINEDINDICES_H
#define TILEWRIGHT_PASSES_INDEX_JOINEDINDICES_H

#include "passes/index/LinearIndex.h"

namespace tilewright::index {

/// The indices of an access, and the dimensions that they are of. Dimensions of the tensor that hold the quotient and
/// the remainder of one number are one dimension, which has that number as its index: of `A[m floordiv 8, m mod 8]` of
/// a tensor of 4 x 8 that is `m`, of 32.
struct JoinedIndices {
  llvm::SmallVector<LinearIndex> indices;
  llvm::SmallVector<int64_t> shape, strides;

  /// Joins dimensions by numbers that change with one of these loops. Nothing where there are none, or an index is no
  /// sum of multiples of loops all the same.
  static std::optional<JoinedIndices> get(mlir::ValueRange indices, mlir::MemRefType type,
                                          llvm::ArrayRef<mlir::scf::ForOp> loops);
};

/// The dividend, a sum of multiples of loops, and the divisor of a value that is a quotient by a constant, a quotient
/// of such a quotient, or one plus a number.
std::optional<std::pair<LinearIndex, int64_t>> getQuotient(mlir::Value value);

} // namespace tilewright::index

#endif
