//===- LoopRelations.h - what the schedule has made of a stage's axes ------===//
#ifndef TILEWRIGHT_PASSES_TETOTE_LOOPRELATIONS_H
#define TILEWRIGHT_PASSES_TETOTE_LOOPRELATIONS_H

#include "passes/te-to-te/Dataflow.h"

namespace tilewright {

/// The spatial or the reduction axes of a stage, and the loops that splits and fusions before a primitive have made of
/// them, each in terms of the others.
class LoopRelations {
public:
  mlir::AffineExpr getExtent(mlir::Value axis) const { return axes.find(axis)->second.extent; }
  /// The values of the stage's own axes.
  llvm::SmallVector<mlir::AffineExpr> getRootIndices() const;
  /// An expression of the symbols, and of dims that have these values.
  mlir::OpFoldResult materialize(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr,
                                 mlir::ValueRange dims) const;
  /// Ends the body of a te.compute: it yields what `stage` computes where the stage's axes are at `places`, and
  /// `outside` where a split that does not divide goes beyond the end of its axis.
  void yieldBody(mlir::OpBuilder &builder, mlir::Location loc, te::ComputeOp stage,
                 llvm::ArrayRef<mlir::AffineExpr> places, llvm::ArrayRef<mlir::TypedAttr> outside) const;

  llvm::SmallVector<mlir::Value> symbols;          // what the symbols of the expressions stand for
  llvm::SmallVector<mlir::Operation *> primitives; // which made and took axes of the stage, of either kind, in order

protected:
  explicit LoopRelations(mlir::MLIRContext *context) : context(context) {}
  /// Reads the primitives on `stage` before `op`; `reduce` says of which axes.
  mlir::LogicalResult read(mlir::Operation *op, te::ComputeOp stage, bool reduce);
  /// Gives every axis the value that those made of it have.
  void indexRoots();

  struct Axis {
    mlir::AffineExpr extent, index;
  };
  struct Relation {
    llvm::SmallVector<mlir::Value> above, below; // one split into two, or several fused into one
    bool isSplit;
  };
  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::Value, Axis> axes;
  llvm::SmallVector<mlir::Value> roots;
  llvm::SmallVector<Relation> relations;

private:
  /// Where a split does not divide: the axis's value, which must stay under its extent.
  llvm::SmallVector<std::pair<mlir::AffineExpr, mlir::AffineExpr>> getPredicates() const;
  mlir::LogicalResult addRoots(mlir::Operation *op, te::ComputeOp stage, bool reduce);
  void addPrimitive(mlir::Operation *op);
  void split(mlir::Value axis, mlir::Value outer, mlir::Value inner, int64_t factor, int64_t nparts);
};

} // namespace tilewright

#endif
