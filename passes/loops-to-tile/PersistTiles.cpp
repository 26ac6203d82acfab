//===- PersistTiles.cpp - blocks that stay go through the tiles -----------===//
#include "passes/loops-to-tile/TileGrid.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PERSISTTILES
#include "passes/loops-to-tile/Passes.h.inc"

/// Has the iterations of the kernel's pipelined loops come from the last one where `isBackwards`.
static void reverseIterations(tile::KernelOp kernel, Value isBackwards) {
  for (scf::ForOp loop : getPipelines(kernel)) {
    OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
    Numbers numbers{builder, loop.getLoc()};
    Value iteration = loop.getInductionVar();
    SmallVector<OpOperand *> uses(llvm::make_pointer_range(iteration.getUses()));
    Value last = numbers.subtract(numbers.add(loop.getLowerBound(), loop.getUpperBound()), 1);
    Value chosen = numbers.choose(isBackwards, numbers.subtract(last, iteration), iteration);
    for (OpOperand *use : uses)
      use->set(chosen);
  }
}

namespace {
struct PersistTiles : impl::PersistTilesBase<PersistTiles> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels;
    getOperation().walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels) {
      tile::OrderAttr order = kernel.getOrderAttr();
      if (!order)
        continue;
      if (order.getRaster() != tile::Raster::Linear || order.getStreamK()) {
        orderError(kernel) << "expected a linear order of tiles, which raster-tiles and share-iterations leave, got "
                           << order;
        return signalPassFailure();
      }
      persist(kernel, order);
    }
  }

  static void persist(tile::KernelOp kernel, tile::OrderAttr order) {
    OpBuilder builder(kernel);
    Location loc = kernel.getLoc();
    Numbers numbers{builder, loc};
    Value tiles = kernel.getX();
    int64_t most = std::max<int64_t>(1, order.getBlocks() / getClusterBlocks(kernel));
    Value clusters = numbers.least(tiles, numbers.constant(most));
    Block *body = &kernel.getBody().front();
    SmallVector<Operation *> ops;
    for (Operation &op : *body)
      if (!isa<gpu::ClusterBlockIdOp>(op))
        ops.push_back(&op);
    builder.setInsertionPointToEnd(body);
    Value first = getClusterNumber(builder, kernel);
    auto loop = scf::ForOp::create(builder, loc, first, tiles, clusters);
    builder.setInsertionPointToStart(loop.getBody());
    Value tile = loop.getInductionVar(), isBackwards;
    // What was read last for the tile before is still in the L2 cache.
    if (order.getSerpentineK())
      isBackwards = numbers.isEqual(numbers.remainder(numbers.divide(tile, clusters), 2), 1);
    for (Operation *op : ops)
      op->moveBefore(loop.getBody()->getTerminator());
    kernel.getPlace(0).replaceUsesWithIf(tile, [&](OpOperand &use) { return loop->isProperAncestor(use.getOwner()); });
    if (isBackwards)
      reverseIterations(kernel, isBackwards);
    builder.setInsertionPoint(kernel);
    Value x = numbers.multiply(clusters, kernel.getCluster()[0]);
    sayBlocksStay(kernel);
    setGrid(kernel, x, numbers.constant(kernel.getCluster()[1]), nullptr);
  }
};
} // namespace
} // namespace tilewright
