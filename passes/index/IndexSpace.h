//===- IndexSpace.h - index values as affine expressions ------------------===//
#ifndef TILEWRIGHT_PASSES_INDEX_INDEXSPACE_H
#define TILEWRIGHT_PASSES_INDEX_INDEXSPACE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace tilewright::index {

/// Gives each index value a dimension, so that index values of one program are affine expressions that can be compared.
/// What `affine.apply` computes is an expression of its operands; what another op computes is a dimension, the same one
/// for the same operands. Values and operations are told apart by their addresses: what has been asked about may not be
/// erased before the last question.
class IndexSpace {
public:
  using Substitution = llvm::SmallDenseMap<mlir::Value, mlir::AffineExpr, 4>;

  explicit IndexSpace(mlir::MLIRContext *context) : context(context) {}

  /// The expression of a value, simplified as upstream does it: a remainder is a difference with a quotient. With a
  /// substitution that of the value that the program would have with these expressions in place of these values.
  mlir::AffineExpr get(mlir::Value index, const Substitution &substitution = Substitution());
  llvm::SmallVector<mlir::AffineExpr> get(mlir::ValueRange indices, const Substitution &substitution = Substitution());
  /// The same, not simplified: what the program says.
  mlir::AffineExpr compose(mlir::Value index) { return build(index, Substitution(), /*isSimplified=*/false); }
  /// A dimension of its own that stands for no value.
  mlir::AffineExpr getFresh();

  unsigned getNumDims() const { return atoms.size(); }
  /// The value that a dimension stands for, or null.
  mlir::Value getValue(unsigned dim) const { return atoms[dim].value; }
  /// The values that an expression depends on.
  llvm::SmallVector<mlir::Value> getValues(mlir::AffineExpr expr) const;

  mlir::AffineExpr simplify(mlir::AffineExpr expr) const { return mlir::simplifyAffineExpr(expr, atoms.size(), 0); }
  bool dependsOn(mlir::AffineExpr expr, mlir::Value value);
  /// How much the expression grows with each step of the value, where that is always the same.
  std::optional<int64_t> getSlope(mlir::AffineExpr expr, mlir::Value value);
  /// The expression without a value that it counts along, one by one; null where it does not.
  mlir::AffineExpr without(mlir::AffineExpr expr, mlir::Value value);

  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr) const;

private:
  struct Atom {
    mlir::Value value;             // as it stands, or null
    mlir::Operation *op = nullptr; // what computes it from operands
    llvm::SmallVector<mlir::AffineExpr> operands;
  };
  mlir::AffineExpr build(mlir::Value index, const Substitution &substitution, bool isSimplified);

  mlir::MLIRContext *context;
  llvm::SmallVector<Atom> atoms;
};

/// The number of an element in row-major order, by its indices. Null where an extent but the first is not constant.
mlir::AffineExpr getRowMajorPlace(llvm::ArrayRef<mlir::AffineExpr> indices, llvm::ArrayRef<int64_t> shape);

} // namespace tilewright::index

#endif
