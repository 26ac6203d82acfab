//===- KnownValues.h - what is known of index values at the loops stage ---===//
#ifndef TILEWRIGHT_PASSES_LINALGTOLOOPS_KNOWNVALUES_H
#define TILEWRIGHT_PASSES_LINALGTOLOOPS_KNOWNVALUES_H

#include "passes/linalg-to-loops/StageModel.h"

namespace tilewright {

/// On a function argument with symbolic extents: for each dimension the least extent that a call may have.
inline constexpr llvm::StringLiteral kMinimumAttr = "te.minimum";

/// Index values as expressions of loops, the dimensions, and of what is known before them, the symbols.
class KnownValues {
public:
  explicit KnownValues(mlir::func::FuncOp function) : function(function) {}

  /// Whether a + more < b, for all that the values can be.
  bool isLess(mlir::Value a, mlir::Value b, int64_t more = 0) { return isLess(getExpr(a) + more, getExpr(b)); }
  bool isPositive(mlir::Value value) {
    return isLess(mlir::getAffineConstantExpr(0, function.getContext()), getExpr(value));
  }

private:
  mlir::AffineExpr getExpr(mlir::Value value);
  bool isLess(mlir::AffineExpr a, mlir::AffineExpr b);
  /// The symbol that stands for `value`, whose least value is `least`, where one is known.
  mlir::AffineExpr getSymbol(mlir::Value value, std::optional<int64_t> least);

  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::scf::ForOp> loops;
  llvm::SmallVector<mlir::Value> symbols;
  llvm::SmallVector<std::optional<int64_t>> least;
};

} // namespace tilewright

#endif
