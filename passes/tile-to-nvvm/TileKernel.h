//===- TileKernel.h - what passes ask of a kernel of tiles ----------------===//
#ifndef TILEWRIGHT_PASSES_TILETONVVM_TILEKERNEL_H
#define TILEWRIGHT_PASSES_TILETONVVM_TILEKERNEL_H

#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace tilewright {

bool hasTileOps(mlir::gpu::GPUFuncOp kernel);

/// How many blocks a kernel's cluster has along an axis, from the attribute of its function, which may be converted.
int64_t getClusterExtent(mlir::Operation *kernel, tile::ClusterAxis axis);

/// The blocks that share what is loaded along an axis, a bit for each by its rank in the cluster. Those are of the
/// first row or column; the others' bits are as many places further.
int64_t getMulticastBits(mlir::Operation *kernel, tile::ClusterAxis axis);

/// Whether blocks of the cluster along an axis copy to this ring of each other.
bool isMulticastAlong(tile::RingOp ring, tile::ClusterAxis axis);

/// Whether it only waits until what a slot held has been used, since nothing is copied to it after.
bool isDrain(tile::AcquireOp acquire);

/// The blocks that are told when a slot is released: those that copy to it.
int64_t countPeers(mlir::Operation *kernel, tile::RingOp ring);

} // namespace tilewright

#endif
