#include "passes/tile-to-nvvm/TileKernel.h"

using namespace mlir;

bool tilewright::hasTileOps(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](Operation *op) { return WalkResult(failure(isa_and_nonnull<tile::TileDialect>(op->getDialect()))); })
      .wasInterrupted();
}

int64_t tilewright::getClusterExtent(Operation *kernel, tile::ClusterAxis axis) {
  auto size = kernel->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getClusterDimAttrName());
  if (auto function = dyn_cast<gpu::GPUFuncOp>(kernel))
    size = function.getKnownClusterSizeAttr();
  return size ? size[static_cast<unsigned>(axis)] : 1;
}

int64_t tilewright::getMulticastBits(Operation *kernel, tile::ClusterAxis axis) {
  int64_t distance = axis == tile::ClusterAxis::X ? 1 : getClusterExtent(kernel, tile::ClusterAxis::X), bits = 0;
  for (int64_t i = 0; i < getClusterExtent(kernel, axis); ++i)
    bits |= int64_t(1) << i * distance;
  return bits;
}

bool tilewright::isMulticastAlong(tile::RingOp ring, tile::ClusterAxis axis) {
  return llvm::any_of(ring->getUsers(), [&](Operation *user) {
    auto load = dyn_cast<tile::TMALoadOp>(user);
    return load && load.getMulticast() == axis;
  });
}

bool tilewright::isDrain(tile::AcquireOp acquire) {
  return acquire.use_empty() &&
         llvm::none_of(acquire->getBlock()->getOps<tile::CommitOp>(), [&](tile::CommitOp commit) {
           return commit.getRing() == acquire.getRing() && commit.getSlot() == acquire.getSlot();
         });
}

int64_t tilewright::countPeers(Operation *kernel, tile::RingOp ring) {
  int64_t peers = 1;
  for (tile::ClusterAxis axis : {tile::ClusterAxis::X, tile::ClusterAxis::Y})
    if (isMulticastAlong(ring, axis))
      peers += getClusterExtent(kernel, axis) - 1;
  return peers;
}
