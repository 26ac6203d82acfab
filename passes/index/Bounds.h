//===- Bounds.h - bounds of index expressions over loops ------------------===//
#ifndef TILEWRIGHT_PASSES_INDEX_BOUNDS_H
#define TILEWRIGHT_PASSES_INDEX_BOUNDS_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace tilewright::index {

/// What is known of the operands of expressions in which each dimension is a loop that runs from 0 with step 1, and
/// each symbol is a number that is the same in all iterations, an extent: the extents of the loops, as expressions of
/// symbols, and the least values of symbols. Refers to the function and the numbers that it is made from.
class ExtentFn {
public:
  ExtentFn(std::nullptr_t = nullptr) {}
  template <typename Callable, typename = std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, ExtentFn>>>
  ExtentFn(Callable &&extent, llvm::ArrayRef<std::optional<int64_t>> least = {})
      : extent(std::forward<Callable>(extent)), least(least) {}

  explicit operator bool() const { return bool(extent); }
  mlir::AffineExpr operator()(unsigned loop) const { return extent(loop); }
  std::optional<int64_t> getLeast(unsigned symbol) const {
    return symbol < least.size() ? least[symbol] : std::nullopt;
  }

private:
  llvm::function_ref<mlir::AffineExpr(unsigned)> extent;
  llvm::ArrayRef<std::optional<int64_t>> least;
};

/// The values of an expression while some loops run: from `min`, `width` further at most. Both are expressions of the
/// loops that do not run, and of symbols.
struct Interval {
  mlir::AffineExpr min, width;
};

/// Lets the loops for which `runs` holds run over their extents. None where no expression is known.
std::optional<Interval> getInterval(mlir::AffineExpr expr, llvm::function_ref<bool(unsigned)> runs, ExtentFn extent);
/// True where `expr < bound` for all values of the loops.
bool isProvablyLess(mlir::AffineExpr expr, mlir::AffineExpr bound, ExtentFn extent);
/// True where `expr >= 0` for all values of the loops.
bool isProvablyNonNegative(mlir::AffineExpr expr, ExtentFn extent);
/// True where `expr` is a multiple of `factor` for all values of the loops. Upstream's AffineExpr::isMultipleOf says so
/// of quotients that are none, such as (d0 * 6) floordiv 8 of 2.
bool isMultipleOf(mlir::AffineExpr expr, int64_t factor);
/// Simplifies sums, and quotients and remainders of sums; with the loops' extents also those that never wrap. A
/// remainder stays one: upstream's simplification makes a difference with a quotient of it, of which no tight interval
/// is known.
mlir::AffineExpr simplify(mlir::AffineExpr expr, ExtentFn extent = nullptr);

} // namespace tilewright::index

#endif
