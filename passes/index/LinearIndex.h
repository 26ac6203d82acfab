//===- LinearIndex.h - indices as sums of multiples of loops --------------===//
#ifndef TILEWRIGHT_PASSES_INDEX_LINEARINDEX_H
#define TILEWRIGHT_PASSES_INDEX_LINEARINDEX_H

#include "passes/PassSupport.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright::index {

/// An index at the loops stage: a constant, and multiples of other values: loops, and quotients and remainders of one
/// loop that is several fused into one, each of which is the result of one affine.apply at the loop's start.
struct LinearIndex {
  llvm::SmallMapVector<mlir::Value, int64_t, 4> terms; // none is 0
  int64_t constant = 0;

  /// The index as such a sum, or nothing where it is none.
  static std::optional<LinearIndex> get(mlir::Value index);
  /// The one result of a map.
  static std::optional<LinearIndex> get(mlir::AffineMap map, mlir::ValueRange operands);

  bool isZero() const { return terms.empty() && constant == 0; }
  /// Whether all of it is a multiple of `factor`.
  bool isMultipleOf(int64_t factor) const;
  LinearIndex plus(const LinearIndex &other, int64_t times = 1) const;
  LinearIndex dividedBy(int64_t factor) const;
  /// The multiples of `factor` in it, and the rest.
  std::pair<LinearIndex, LinearIndex> splitMultiples(int64_t factor) const;
  bool operator==(const LinearIndex &other) const { return plus(other, -1).isZero(); }

  /// The largest value that it has while none of the values in it is negative; nothing where that is not known.
  std::optional<int64_t> getMaximum() const;
  /// Whether it changes with the value of a loop.
  bool dependsOn(mlir::Value loop) const;
  /// What these loops add to it, and the rest.
  std::pair<LinearIndex, LinearIndex> split(llvm::ArrayRef<mlir::scf::ForOp> loops) const;

  /// Its value, with the values of `mapping` in place of those that it has them for.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc, const mlir::IRMapping &mapping) const;
};

/// The indices of an access, or nothing where one is no such sum.
std::optional<llvm::SmallVector<LinearIndex>> getLinearIndices(mlir::ValueRange indices);

/// A loop whose iteration is a digit of a number: the digit counts `stride`.
struct Digit {
  mlir::scf::ForOp loop;
  int64_t stride, extent;
};

/// The iterations of a loop that `value` is the number of, where that is a constant.
std::optional<int64_t> getLoopExtent(mlir::Value value);

/// The digits of an index that takes each value from 0 to `extent` - 1 once while the loops in it run; nothing where it
/// does not.
std::optional<llvm::SmallVector<Digit>> getDigits(const LinearIndex &index, int64_t extent);

} // namespace tilewright::index

#endif
