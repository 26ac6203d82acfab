//===- IndexRanges.h - which values the indices of a kernel take -----------===//
#ifndef TILEWRIGHT_PASSES_INDEX_INDEXRANGES_H
#define TILEWRIGHT_PASSES_INDEX_INDEXRANGES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace tilewright::index {

/// The ranges of all integers of a kernel at the gpu stage, computed in 64 bits, as its program means them. Upstream's
/// transfer functions (InferIntRangeInterface), in one walk over structured control flow: a solver would give up every
/// value that a loop carries, and here the number of a pipeline's buffer is one.
class IndexRanges {
public:
  explicit IndexRanges(mlir::gpu::GPUFuncOp kernel);

  mlir::ConstantIntRanges of(mlir::Value value) const;

  /// Whether 32 bits hold every value of `value`; of what is no index, yes.
  bool fits(mlir::Value value) const;

  /// Whether `op` gives another result where indices have 32 bits: an operand, a result or a number between does not
  /// fit, or the operation is one of unsigned numbers and meets a negative one.
  bool needs64Bits(mlir::Operation *op) const;

private:
  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visit(mlir::scf::ForOp loop);
  void infer(mlir::Operation *op);
  void setMax(mlir::Value value);
  bool isOfScheduler(mlir::Operation *op) const;
  mlir::ConstantIntRanges evaluate(mlir::AffineExpr expr, mlir::AffineMap map, mlir::ValueRange operands,
                                   bool &fits) const;
  bool fitsAffine(mlir::AffineMap map, mlir::ValueRange operands) const;

  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> ranges;
  llvm::DenseSet<mlir::Value> fromData;
  bool isOfTiles;
};

/// Whether `type` is `index`, or a vector of it.
bool isIndexLike(mlir::Type type);

/// Whether `op` is an op of arith on indices.
bool isIndexArithmetic(mlir::Operation *op);

} // namespace tilewright::index

#endif
