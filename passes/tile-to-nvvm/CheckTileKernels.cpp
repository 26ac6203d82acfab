//===- CheckTileKernels.cpp - what cannot work, before it hangs -----------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/tile-to-nvvm/TileKernel.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CHECKTILEKERNELS
#include "passes/tile-to-nvvm/Passes.h.inc"

namespace {
struct CheckTileKernels : impl::CheckTileKernelsBase<CheckTileKernels> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    if (!hasTileOps(kernel))
      return;
    if (failed(checkBlock(kernel)) || failed(checkPlaces(kernel)) || failed(checkElected(kernel)) ||
        failed(checkSlots(kernel)) || failed(checkTurns(kernel)) || failed(checkArrivals(kernel)))
      signalPassFailure();
  }

  static LogicalResult checkBlock(gpu::GPUFuncOp kernel);
  static LogicalResult checkPlaces(gpu::GPUFuncOp kernel);
  static LogicalResult checkElected(gpu::GPUFuncOp kernel);
  static LogicalResult checkSlots(gpu::GPUFuncOp kernel);
  static LogicalResult checkTurns(gpu::GPUFuncOp kernel);
  static LogicalResult checkArrivals(gpu::GPUFuncOp kernel);
};
} // namespace

LogicalResult CheckTileKernels::checkBlock(gpu::GPUFuncOp kernel) {
  DenseI32ArrayAttr block = kernel.getKnownBlockSizeAttr();
  if (!block || block[1] != 1 || block[2] != 1 || block[0] % tile::kWarpSize)
    return kernel.emitError("expected known_block_size of whole warps along x alone for a kernel of tiles");
  if (DenseI32ArrayAttr cluster = kernel.getKnownClusterSizeAttr(); cluster && cluster[2] != 1)
    return kernel.emitError("expected a cluster along x and y for a kernel of tiles, got ")
           << cluster[2] << " blocks along z";
  for (auto roles : kernel.getOps<tile::RolesOp>()) {
    int64_t threads = 0;
    for (auto role : roles.getOps<tile::RoleOp>())
      threads += role.getWarps() * tile::kWarpSize;
    if (threads != block[0])
      return roles.emitOpError("expected roles for the block's ") << block[0] << " threads, got " << threads;
  }
  return success();
}

LogicalResult CheckTileKernels::checkPlaces(gpu::GPUFuncOp kernel) {
  WalkResult walked = kernel.walk([&](Operation *op) -> WalkResult {
    if (op->hasTrait<tile::TopOfKernel>() && op->getParentOp() != kernel)
      return op->emitOpError("expected at the top of the kernel");
    if (auto memory = dyn_cast<tile::SharedMemoryOpInterface>(op); memory && !memory.hasPlace())
      return op->emitOpError("expected a place in shared memory: plan-tile-memory gives one");
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult CheckTileKernels::checkElected(gpu::GPUFuncOp kernel) {
  WalkResult walked = kernel.walk([&](Operation *op) -> WalkResult {
    bool isElected = op->getParentOfType<tile::ElectOp>() != nullptr;
    if (op->hasTrait<tile::SingleThread>() && !isElected)
      return op->emitOpError("expected one thread to do this, in tile.elect");
    if ((op->hasTrait<tile::WarpgroupCollective>() || isa<tile::ElectOp>(op)) && isElected)
      return op->emitOpError("expected all threads of a warpgroup to do this, not one in tile.elect");
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// The loads to a slot must bring the bytes that its `full` barrier waits for: to each buffer those of the buffer.
LogicalResult CheckTileKernels::checkSlots(gpu::GPUFuncOp kernel) {
  WalkResult walked = kernel.walk([&](Operation *op) -> WalkResult {
    if (auto load = dyn_cast<tile::TMALoadOp>(op)) {
      if (load.getMulticast() && getClusterExtent(kernel, *load.getMulticast()) < 2)
        return load.emitOpError("expected a cluster of several blocks along ")
               << stringifyClusterAxis(*load.getMulticast()) << " for a multicast";
      Value buffer = load.getBuffer();
      while (auto part = buffer.getDefiningOp<tile::PartOp>())
        buffer = part.getSource();
      auto acquire = buffer.getDefiningOp<tile::AcquireOp>();
      if (!acquire || acquire.getRing() != load.getRing() || acquire.getSlot() != load.getSlot())
        return load.emitOpError("expected a buffer of the acquired slot that is signalled");
    }
    auto acquire = dyn_cast<tile::AcquireOp>(op);
    if (!acquire || isDrain(acquire))
      return WalkResult::advance();
    for (auto [number, buffer] : llvm::enumerate(acquire.getBuffers())) {
      int64_t bytes = 0, wanted = cast<tile::BufferType>(buffer.getType()).getBytes();
      SmallVector<Value> parts = {buffer};
      while (!parts.empty())
        for (Operation *user : parts.pop_back_val().getUsers())
          if (auto part = dyn_cast<tile::PartOp>(user)) {
            parts.push_back(part.getPart());
          } else if (auto load = dyn_cast<tile::TMALoadOp>(user)) {
            int64_t blocks = load.getMulticast() ? getClusterExtent(kernel, *load.getMulticast()) : 1;
            bytes += load.getBuffer().getType().getBytes() * blocks;
          }
      if (bytes != wanted)
        return acquire.emitOpError("expected loads that fill buffer #")
               << number << " of the slot with its " << wanted << " bytes, got " << bytes;
    }
    bool isCommitted = llvm::any_of(acquire->getBlock()->getOps<tile::CommitOp>(), [&](tile::CommitOp commit) {
      return commit.getRing() == acquire.getRing() && commit.getSlot() == acquire.getSlot() &&
             acquire->isBeforeInBlock(commit);
    });
    if (!isCommitted)
      return acquire.emitOpError("expected tile.commit of the slot after it");
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// As many wait at a turn's barrier as the op says, and each turn that is taken somebody passes.
LogicalResult CheckTileKernels::checkTurns(gpu::GPUFuncOp kernel) {
  auto check = [](tile::TurnOpInterface turn) -> LogicalResult {
    auto role = turn->getParentOfType<tile::RoleOp>();
    int64_t sets = turn.countSets(), warpgroups = turn.countWarpgroups();
    // Where the role's sets of warpgroups have no tiles of their own they take turns within one.
    if (!role || int64_t(role.getTurns().value_or(sets)) != sets ||
        int64_t(role.getWarps()) != sets * warpgroups * tile::kWarpgroupWarps)
      return turn->emitOpError("expected a role with turns ")
             << sets << " of " << warpgroups << " warpgroups each around it";
    return success();
  };
  WalkResult walked = kernel.walk([&](Operation *op) -> WalkResult {
    if (auto turn = dyn_cast<tile::TurnOpInterface>(op))
      return check(turn);
    auto role = dyn_cast<tile::RoleOp>(op);
    if (!role)
      return WalkResult::advance();
    bool isTaken = false, isPassed = false;
    role->walk([&](tile::TurnOpInterface turn) { (turn.takesTurn() ? isTaken : isPassed) = true; });
    if (isTaken != isPassed || (role.getTurns() && !isTaken))
      return role.emitOpError("expected tile.take_turn and tile.pass_turn in a role with turns, got no ")
             << (isTaken ? "tile.pass_turn" : "tile.take_turn");
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult CheckTileKernels::checkArrivals(gpu::GPUFuncOp kernel) {
  int64_t blockWarpgroups = kernel.getKnownBlockSizeAttr()[0] / tile::kWarpgroupSize;
  for (auto ring : kernel.getOps<tile::RingOp>()) {
    llvm::SmallPtrSet<Operation *, 4> releasing;
    int64_t consumers = 0;
    for (Operation *user : ring->getUsers())
      if (isa<tile::ReleaseOp>(user)) {
        auto role = user->getParentOfType<tile::RoleOp>();
        if (releasing.insert(role).second)
          consumers += role ? role.getWarps() / tile::kWarpgroupWarps / role.getTurns().value_or(1) : blockWarpgroups;
      }
    // A ring whose every slot is used once is never released.
    if (!releasing.empty() && consumers != ring.getConsumers())
      return ring.emitOpError("expected ")
             << consumers << " consumer warpgroups, which release the ring, got " << ring.getConsumers();
  }
  return success();
}
} // namespace tilewright
