//===- UnrollScheduledLoops.cpp - marked loops are written out ---------------------===//
#include "passes/PassSupport.h"

#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_UNROLLSCHEDULEDLOOPS
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
struct UnrollScheduledLoops : impl::UnrollScheduledLoopsBase<UnrollScheduledLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    // Inner loops first, so that an outer one copies what is already written out.
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->hasAttr(schedule::kUnrollAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      if (!getConstantIntValue(loop.getUpperBound())) {
        loop.emitError("unroll: expected an axis of constant extent, got one that is symbolic");
        return signalPassFailure();
      }
      loop->removeAttr(schedule::kUnrollAttr);
      if (failed(loopUnrollFull(loop))) {
        loop.emitError("unroll: the loop can not be written out");
        return signalPassFailure();
      }
    }
  }
};
} // namespace
} // namespace tilewright
