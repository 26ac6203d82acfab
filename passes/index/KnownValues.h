//===- KnownValues.h - what is known of index values at the loops stage ---===//
#ifndef TILEWRIGHT_PASSES_INDEX_KNOWNVALUES_H
#define TILEWRIGHT_PASSES_INDEX_KNOWNVALUES_H

#include "passes/index/IndexSpace.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::index {

/// Index values as expressions of loops, the dimensions, and of what is known before them, the symbols.
class KnownValues {
public:
  explicit KnownValues(mlir::MLIRContext *context) : context(context), space(context) {}

  /// Whether a + more < b, for all that the values can be.
  bool isLess(mlir::Value a, mlir::Value b, int64_t more = 0) { return isLess(getExpr(a) + more, getExpr(b)); }
  bool isPositive(mlir::Value value) { return isLess(mlir::getAffineConstantExpr(0, context), getExpr(value)); }

private:
  mlir::AffineExpr getExpr(mlir::Value value);
  bool isLess(mlir::AffineExpr a, mlir::AffineExpr b);
  /// The next dimension for a loop from 0 with step 1, the next symbol for any other value.
  mlir::AffineExpr classify(mlir::Value value);

  mlir::MLIRContext *context;
  IndexSpace space;
  llvm::SmallVector<mlir::AffineExpr> kinds; // for each dimension of `space` the loop's dimension or the symbol
  llvm::SmallVector<mlir::scf::ForOp> loops;
  llvm::SmallVector<std::optional<int64_t>> least; // of each symbol
};

} // namespace tilewright::index

#endif
