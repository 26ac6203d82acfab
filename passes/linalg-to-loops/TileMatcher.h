//===- TileMatcher.h - one tile beside an intrinsic's description ---------===//
#ifndef TILEWRIGHT_PASSES_LINALGTOLOOPS_TILEMATCHER_H
#define TILEWRIGHT_PASSES_LINALGTOLOOPS_TILEMATCHER_H

#include "passes/linalg-to-loops/Tensorize.h"

namespace tilewright {

/// Matches a tile of a stage with what its intrinsic describes.
class TileMatcher {
public:
  TileMatcher(const StageModel &model, const LoopBounds &bounds, const ScheduledStage &stage)
      : model(model), bounds(bounds), stage(stage), op(stage.op), primitive(stage.tensorize), context(op.getContext()),
        zero(mlir::getAffineConstantExpr(0, context)) {}

  mlir::FailureOr<TensorizedTile> match();

private:
  mlir::InFlightDiagnostic error() {
    return mlir::emitError(primitive.getLoc())
           << "tensorize of stage '" << stage.name << "' by '" << primitive.getName() << "': ";
  }
  /// An error about an op of the stage beside one of the intrinsic.
  mlir::LogicalResult differ(mlir::Operation *mine, mlir::Operation *theirs, const llvm::Twine &wanted,
                             const llvm::Twine &got);

  mlir::LogicalResult readIntrinsic();
  mlir::LogicalResult checkLoops();
  /// Pairs the axes of the intrinsic with those of the stage that run in the tile.
  mlir::LogicalResult pairAxes();
  mlir::LogicalResult matchReduction();
  mlir::LogicalResult matchValue(mlir::Value mine, mlir::Value theirs);
  mlir::LogicalResult matchRead(mlir::Operation *at, const Access &mine, const Access &theirs);
  mlir::LogicalResult checkRegions();
  void addResults();

  /// The element that a value is, where it is one of a tensor.
  static std::optional<Access> getAccess(mlir::linalg::GenericOp op, mlir::Value value);
  /// An expression of the stage's axes as one of the loops around the tile, and what the tile's axes add to it.
  std::pair<mlir::AffineExpr, mlir::AffineExpr> getParts(mlir::AffineExpr expr);
  mlir::AffineExpr getLocal(unsigned root) { return mlir::getAffineDimExpr(bounds.getNumLoops() + root, context); }
  mlir::AffineExpr getExtent(unsigned dim) {
    unsigned loops = bounds.getNumLoops();
    return dim < loops ? bounds.getExtent(dim) : mlir::getAffineConstantExpr(tile[dim - loops], context);
  }
  mlir::AffineExpr simplified(mlir::AffineExpr expr) {
    return simplify(expr, [&](unsigned dim) { return getExtent(dim); });
  }

  const StageModel &model;
  const LoopBounds &bounds;
  const ScheduledStage &stage;
  mlir::linalg::GenericOp op;
  schedule::TensorizeOp primitive;
  mlir::MLIRContext *context;
  mlir::AffineExpr zero;

  mlir::func::FuncOp describe;
  mlir::linalg::GenericOp description;
  TensorizedTile result;
  llvm::DenseSet<unsigned> inTile;               // loops, by their number
  llvm::SmallVector<int64_t> tile;               // extent in the tile of each root axis
  llvm::SmallVector<mlir::AffineExpr> outside;   // each root axis with the tile's loops at 0, in the whole tensor
  llvm::SmallVector<mlir::AffineExpr> theirAxes; // for each axis of the description the tile's, as a local dim or 0
  llvm::SmallVector<llvm::SmallVector<std::pair<int64_t, int64_t>>>
      touched;                                    // of each input and dimension, first and last element read
  llvm::DenseMap<mlir::Value, mlir::Value> known; // values of the description with those of the stage
};
} // namespace tilewright

#endif
