//===- Fragments.h - tiles of matrices in the registers of a warp ---------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_FRAGMENTS_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_FRAGMENTS_H

#include "passes/PassSupport.h"
#include "passes/index/IndexSpace.h"

namespace tilewright {

/// Which lane of a warp has which elements of a buffer that an instruction reads or writes, and where.
///
/// Eight rows by `4 * pack` columns lie in one register of all the lanes: lane l has `pack` neighbouring elements of
/// row l / 4, from column l mod 4 * pack on. A tile is one to four of these: first those below one another, then those
/// beside.
struct FragmentLayout {
  static constexpr int64_t kRows = 8;

  unsigned rowDim = 0, colDim = 0; // of the buffer
  int64_t rowTile = 0, colTile = 0;
  int64_t pack = 0; // elements in 32 bits; of accumulators two, whatever their size

  int64_t getColumns() const { return 4 * pack; }
  int64_t getRowParts() const { return rowTile / kRows; }
  /// The elements of a tile in one lane.
  int64_t getElements() const { return rowTile * colTile / kWarpSize; }
  bool operator==(const FragmentLayout &other) const {
    return rowDim == other.rowDim && colDim == other.colDim && rowTile == other.rowTile && colTile == other.colTile &&
           pack == other.pack;
  }
  /// What a lane keeps of a buffer: for each tile its elements, along a dimension behind the others.
  mlir::MemRefType getLaneType(mlir::MemRefType type) const;
};

/// A load or store of one element of a fragment, in loops that the lanes share out.
struct FragmentAccess {
  mlir::Operation *op;
  mlir::Value buffer;
  FragmentLayout layout;
  mlir::scf::ForOp rowLoop, colLoop;
  llvm::SmallVector<mlir::AffineExpr> indices; // with these loops at the first of the lanes' elements
};

/// Where the access is all that its loops do, and copies from shared memory: lets the lanes of a warp fetch the tiles
/// together
/// (`nvgpu.ldmatrix`) into `buffer`, what the lanes keep of them. Gives back the loops that this replaces, which are
/// left for the caller to erase; null where the instruction cannot: 16 bytes of a row have to lie together.
mlir::scf::ForOp loadMatrices(const FragmentAccess &access, mlir::Value buffer, mlir::Value lane,
                              index::IndexSpace &space);

} // namespace tilewright

#endif
