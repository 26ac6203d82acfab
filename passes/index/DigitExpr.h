//===- DigitExpr.h - quotients and remainders as digits of a number -------===//
#ifndef TILEWRIGHT_PASSES_INDEX_DIGITEXPR_H
#define TILEWRIGHT_PASSES_INDEX_DIGITEXPR_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace tilewright::index {

/// A digit of a number: (number floordiv stride) mod extent. The highest digit has no extent.
struct DigitExpr {
  int64_t stride = 1;
  std::optional<int64_t> extent;

  bool isWhole() const { return stride == 1 && !extent; }
  bool isQuotient() const { return stride > 1 && !extent; }
  bool isRemainder() const { return stride == 1 && extent; }
};

/// The dimension or the symbol that an expression is a digit of, and the digit; nothing where it is none.
std::optional<std::pair<mlir::AffineExpr, DigitExpr>> getDigit(mlir::AffineExpr expr);
/// The value of which another value is a digit by an affine.apply, and the digit: of what no affine.apply computes, the
/// value itself and all of it.
std::optional<std::pair<mlir::Value, DigitExpr>> getDigit(mlir::Value value);

/// Whether a number follows from these digits of it, among others: there is one for each place, up to the highest.
bool areWhole(llvm::ArrayRef<DigitExpr> digits);

} // namespace tilewright::index

#endif
