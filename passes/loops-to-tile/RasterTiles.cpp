//===- RasterTiles.cpp - grids of tiles become rows of them, in order -----===//
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_RASTERTILES
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
struct RasterTiles : impl::RasterTilesBase<RasterTiles> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels;
    getOperation().walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels) {
      tile::OrderAttr order = kernel.getOrderAttr();
      if (!order || order.getRaster() == tile::Raster::Linear)
        continue;
      if (order.getNarrower()) {
        orderError(kernel) << "expected narrow-tiles to have made the narrower tiles before";
        return signalPassFailure();
      }
      if (failed(checkOrder(kernel)))
        return signalPassFailure();
      linearize(kernel);
    }
  }

  static void linearize(tile::KernelOp kernel) {
    OpBuilder builder(kernel);
    Location loc = kernel.getLoc();
    Numbers numbers{builder, loc};
    tile::OrderAttr order = kernel.getOrderAttr();
    ArrayRef<int64_t> cluster = kernel.getCluster();
    Value sizes[] = {kernel.getX(), kernel.getY(), kernel.getZ()}, clusters[3], tiles = numbers.constant(1);
    for (unsigned dimension = 0; dimension < 3; ++dimension) {
      clusters[dimension] = numbers.divideUp(sizes[dimension], cluster[dimension]);
      tiles = numbers.multiply(tiles, clusters[dimension]);
    }
    builder.setInsertionPointToStart(&kernel.getBody().front());
    Value ranks[2];
    for (unsigned dimension = 0; dimension < 2; ++dimension)
      if (cluster[dimension] > 1)
        ranks[dimension] = gpu::ClusterBlockIdOp::create(builder, loc, static_cast<gpu::Dimension>(dimension));
    Value number = kernel.getPlace(0), inPlane = number, plane = numbers.constant(0);
    Operation *made = plane.getDefiningOp();
    if (getConstantIntValue(clusters[2]) != 1) {
      Value ofPlane = numbers.multiply(clusters[0], clusters[1]);
      inPlane = numbers.remainder(number, ofPlane);
      plane = numbers.divide(number, ofPlane);
    }
    TilePlace place = getTilePlace(numbers, order, cluster, inPlane, clusters[0], clusters[1]);
    Value indices[3] = {place.column, place.row, plane};
    for (unsigned dimension = 0; dimension < 2; ++dimension)
      if (ranks[dimension])
        indices[dimension] = numbers.add(numbers.multiply(indices[dimension], cluster[dimension]), ranks[dimension]);
    // The number is that of the first dimension from here on: what stands behind this speaks of the tile's place.
    Block *body = &kernel.getBody().front();
    Operation *last = builder.getInsertionPoint() == body->begin() ? made : &*std::prev(builder.getInsertionPoint());
    for (unsigned dimension = 0; dimension < 3; ++dimension)
      kernel.getPlace(dimension).replaceUsesWithIf(indices[dimension], [&](OpOperand &use) {
        Operation *user = body->findAncestorOpInBlock(*use.getOwner());
        return user && last->isBeforeInBlock(user);
      });
    setGrid(kernel, tiles, numbersOne(kernel),
            tile::OrderAttr::get(kernel.getContext(), order.getBlocks(), tile::Raster::Linear, 1, order.getStreamK(), 0,
                                 order.getSerpentineK()));
  }

  static Value numbersOne(tile::KernelOp kernel) {
    OpBuilder builder(kernel);
    return arith::ConstantIndexOp::create(builder, kernel.getLoc(), 1);
  }
};
} // namespace
} // namespace tilewright
