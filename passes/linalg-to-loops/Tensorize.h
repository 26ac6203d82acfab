//===- Tensorize.h - tiles of stages that intrinsics compute --------------===//
#ifndef TILEWRIGHT_PASSES_LINALGTOLOOPS_TENSORIZE_H
#define TILEWRIGHT_PASSES_LINALGTOLOOPS_TENSORIZE_H

#include "passes/linalg-to-loops/LoopBounds.h"

namespace tilewright {

/// A buffer that an intrinsic is given. An element of the argument at `indices` is that of the tensor at `base`, moved
/// along each dimension d by `indices[moves[d]]` where that is none of -1.
struct TileArgument {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> base; // over the loops around the tile; of a result, in the stage's buffer
  llvm::SmallVector<int> moves;
};

/// The loops of a stage from one on, matched with an intrinsic that computes the same.
struct TensorizedTile {
  mlir::func::FuncOp body, reset, update;    // null where the intrinsic has none
  llvm::SmallVector<TileArgument> arguments; // inputs, then results
  bool isWholeReduction = true;              // all axes of the stage's reduction are in the tile
};

/// Matches the loops of `stage` that are tensorized with its intrinsic's description; a diagnostic says what differs.
mlir::FailureOr<TensorizedTile> matchTile(const StageModel &model, const LoopBounds &bounds,
                                          const ScheduledStage &stage);

} // namespace tilewright

#endif
