//===- KnownValues.h - what is known of index values at the loops stage ---===//
#ifndef TILEWRIGHT_PASSES_LINALGTOLOOPS_KNOWNVALUES_H
#define TILEWRIGHT_PASSES_LINALGTOLOOPS_KNOWNVALUES_H

#include "passes/PassSupport.h"
#include "passes/index/IndexSpace.h"

namespace tilewright {

/// Index values as expressions of loops, the dimensions, and of what is known before them, the symbols.
class KnownValues {
public:
  explicit KnownValues(mlir::func::FuncOp function) : function(function), space(function.getContext()) {}

  /// Whether a + more < b, for all that the values can be.
  bool isLess(mlir::Value a, mlir::Value b, int64_t more = 0) { return isLess(getExpr(a) + more, getExpr(b)); }
  bool isPositive(mlir::Value value) {
    return isLess(mlir::getAffineConstantExpr(0, function.getContext()), getExpr(value));
  }

private:
  mlir::AffineExpr getExpr(mlir::Value value);
  bool isLess(mlir::AffineExpr a, mlir::AffineExpr b);
  /// The next dimension for a loop from 0 with step 1, the next symbol for any other value.
  mlir::AffineExpr classify(mlir::Value value);
  /// The least value of what `te.minimum` says of.
  std::optional<int64_t> getLeast(mlir::Value value);

  mlir::func::FuncOp function;
  index::IndexSpace space;
  llvm::SmallVector<mlir::AffineExpr> kinds; // for each dimension of `space` the loop's dimension or the symbol
  llvm::SmallVector<mlir::scf::ForOp> loops;
  llvm::SmallVector<std::optional<int64_t>> least; // of each symbol
};

} // namespace tilewright

#endif
