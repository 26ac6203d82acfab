//===- UnrollScheduledLoops.cpp - marked loops are written out ------------===//
#include "passes/PassSupport.h"

#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_UNROLLSCHEDULEDLOOPS
#include "passes/loops-to-gpu/Passes.h.inc"

/// Past this a loop stays one, whatever it indexes: the code would no longer fit the instruction cache.
static constexpr int64_t kMaxOps = 4096;

/// Whether `index` is computed from `variable`.
static bool dependsOn(Value index, Value variable) {
  if (index == variable)
    return true;
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  return apply && llvm::any_of(apply.getMapOperands(), [&](Value operand) { return dependsOn(operand, variable); });
}

/// Whether the loop's variable picks an element of a thread's own memory. Registers have no addresses: such a buffer
/// stays in registers only where the loop is written out.
static bool indexesRegisters(scf::ForOp loop) {
  auto isPrivate = [](Value memref) {
    auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(cast<MemRefType>(memref.getType()).getMemorySpace());
    return space && space.getValue() == gpu::AddressSpace::Private;
  };
  auto moves = [&](Value memref, ValueRange indices) {
    return isPrivate(memref) && llvm::any_of(indices, [&](Value index) { return dependsOn(index, loop.getInductionVar()); });
  };
  return loop
      .walk([&](Operation *op) {
        bool found = llvm::TypeSwitch<Operation *, bool>(op)
                         .Case<memref::LoadOp, memref::StoreOp>([&](auto access) { return moves(access.getMemRef(), access.getIndices()); })
                         .Case<vector::LoadOp, vector::StoreOp>([&](auto access) { return moves(access.getBase(), access.getIndices()); })
                         .Default(false);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool isSmallEnough(scf::ForOp loop, int64_t trips) {
  int64_t ops = 0;
  loop.walk([&](Operation *) { ++ops; });
  return ops * trips <= kMaxOps;
}

namespace {
struct UnrollScheduledLoops : impl::UnrollScheduledLoopsBase<UnrollScheduledLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    // Inner loops first, so that an outer one copies what is already written out.
    getOperation()->walk([&](scf::ForOp loop) {
      loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      if (!loop->hasAttr(schedule::kUnrollAttr)) {
        auto trips = getConstantIntValue(loop.getUpperBound());
        if (trips && !loop->hasAttr(schedule::kBindAttr) && isSmallEnough(loop, *trips) && indexesRegisters(loop))
          (void)loopUnrollFull(loop);
        continue;
      }
      loop->removeAttr(schedule::kUnrollAttr);
      if (failed(loopUnrollFull(loop))) {
        loop.emitError("unroll: expected an axis of constant extent, got one that is symbolic");
        return signalPassFailure();
      }
    }
  }
};
} // namespace
} // namespace tilewright
