//===- TileBox.h - parts of the boxes that TMA copies ---------------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_TILEBOX_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_TILEBOX_H

#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"

namespace tilewright {

/// How many elements of a tensor a tile takes along each dimension, and one in how many. The last dimension has
/// columns, all others rows.
struct TileBox {
  llvm::SmallVector<int64_t> box, steps;

  /// Of a `tile.load` or `tile.store`.
  template <typename Op> static TileBox of(Op op) {
    llvm::SmallVector<int64_t> steps(op.getBox().size(), 1);
    if (op.getSteps())
      steps.assign(op.getSteps()->begin(), op.getSteps()->end());
    return {llvm::SmallVector<int64_t>(op.getBox()), steps};
  }
  int64_t getRows() const { return llvm::product_of(llvm::ArrayRef(box).drop_back()); }
  /// The extents of a part with so many of the rows, as one box of them; nothing where they are none.
  std::optional<llvm::SmallVector<int64_t>> getPart(int64_t partRows) const;
  /// From the coordinates of the tile to those of one of the parts of so many rows.
  void moveToPart(mlir::OpBuilder &builder, mlir::Location loc, int64_t partRows, mlir::Value number,
                  llvm::MutableArrayRef<mlir::Value> coordinates) const;
};

/// What each of a cluster's blocks copies of a tile that all of them need: whole panels of its columns, or else rows.
/// Nothing where these are no equal parts.
std::optional<tile::BufferType> getCopiedPart(tile::BufferType tile, int64_t blocks);

} // namespace tilewright

#endif
