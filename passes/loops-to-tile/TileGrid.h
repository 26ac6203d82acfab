//===- TileGrid.h - grids of tiles, and the order of tiles ----------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_TILEGRID_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_TILEGRID_H

#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/loops-to-tile/Numbers.h"

namespace tilewright {

/// A place among the tiles: columns along blockIdx.x, rows along blockIdx.y.
struct TilePlace {
  mlir::Value column, row;
};

/// The place of a number in an order of tiles among so many columns and rows of clusters.
TilePlace getTilePlace(const Numbers &numbers, tile::OrderAttr order, llvm::ArrayRef<int64_t> cluster,
                       mlir::Value number, mlir::Value columns, mlir::Value rows);

/// In a kernel's `tilewright.launch_origin`: where the number of blocks comes from once these stay.
inline constexpr llvm::StringLiteral kPersistentOrigin = "persistent";

/// Whether a dimension of the grid comes from a loop.
inline bool hasAxis(tile::KernelOp kernel, unsigned dimension) {
  mlir::Value sizes[] = {kernel.getX(), kernel.getY(), kernel.getZ()};
  return !mlir::cast<mlir::StringAttr>(kernel.getAxes()[dimension]).getValue().empty() ||
         mlir::getConstantIntValue(sizes[dimension]) != 1;
}

/// Whether blocks can go through the tiles as the kernel's order says.
mlir::LogicalResult checkOrder(tile::KernelOp kernel);

/// Whether a block can hold what the kernel's tiles and accumulators take.
mlir::LogicalResult checkResources(tile::KernelOp kernel);

/// The loops of a kernel that fill a ring.
llvm::SmallVector<mlir::scf::ForOp> getPipelines(mlir::Operation *root);

/// The blocks of a cluster.
inline int64_t getClusterBlocks(tile::KernelOp kernel) { return kernel.getCluster()[0] * kernel.getCluster()[1]; }

mlir::InFlightDiagnostic orderError(tile::KernelOp kernel);

/// Gives a kernel another grid, of so many tiles or blocks along x and y, and another order, or none.
void setGrid(tile::KernelOp kernel, mlir::Value x, mlir::Value y, tile::OrderAttr order);

/// Of a kernel with a linear order: says where the grid's extents come from now that blocks stay.
void sayBlocksStay(tile::KernelOp kernel);

/// The number of a block's cluster.
mlir::Value getClusterNumber(mlir::OpBuilder &builder, tile::KernelOp kernel);

} // namespace tilewright

#endif
