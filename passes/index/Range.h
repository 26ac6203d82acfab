//===- Range.h - which values an index takes ------------------------------===//
#ifndef TILEWRIGHT_PASSES_INDEX_RANGE_H
#define TILEWRIGHT_PASSES_INDEX_RANGE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

#include <optional>

namespace tilewright::index {

/// A range of integers, both ends included. An end that is not known, or that 64 bits do not hold, is missing.
struct Range {
  std::optional<int64_t> min, max;

  static Range constant(int64_t value) { return {value, value}; }
  bool operator==(const Range &other) const { return min == other.min && max == other.max; }
  /// Whether all values of this range are below all of the other.
  bool isBelow(const Range &other) const { return max && other.min && *max < *other.min; }
};

/// A range of upstream's. An end that is the end of 64 bits is not known.
Range fromUpstream(const mlir::ConstantIntRanges &range);

Range operator+(Range a, Range b);
Range operator*(Range range, int64_t factor);
Range intersect(Range a, Range b);
/// Quotients and remainders by a positive number.
Range floorDiv(Range range, int64_t divisor);
Range ceilDiv(Range range, int64_t divisor);
Range mod(Range range, int64_t divisor);

/// The ranges of an affine expression's operands: those of the dimensions, then those of the symbols.
struct OperandRanges {
  unsigned numDims;
  llvm::ArrayRef<Range> ranges;

  Range of(mlir::AffineExpr operand) const;
};

/// The values that an affine expression takes while its operands are in these ranges. Each term of a sum counts by
/// itself.
Range getRange(mlir::AffineExpr expr, const OperandRanges &operands);

/// The values that an index takes: from constants, loops, affine.apply, and all ops that tell it by upstream's
/// InferIntRangeInterface, among them the indices of threads and blocks.
Range getRange(mlir::Value value);

} // namespace tilewright::index

#endif
