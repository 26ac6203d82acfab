//===- IndexRanges.h - which values the indices of a kernel take -----------===//
#ifndef TILEWRIGHT_PASSES_NARROW_TYPES_INDEXRANGES_H
#define TILEWRIGHT_PASSES_NARROW_TYPES_INDEXRANGES_H

#include "passes/PassSupport.h"

#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace tilewright {

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

/// The result of `op`, an op of arith on indices, computed in integers of `type`. `operand` gives those of its
/// operands.
mlir::Value computeInIntegers(mlir::OpBuilder &builder, mlir::Operation *op, mlir::IntegerType type,
                              llvm::function_ref<mlir::Value(mlir::Value)> operand);

/// How many bits the indices of a module's kernels have: what choose-index-widths said, or 64; 0 for what is no
/// width.
unsigned getIndexBits(mlir::gpu::GPUModuleOp module);

} // namespace tilewright

#endif
