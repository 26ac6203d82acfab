//===- KeepOuterLoops.cpp - loops around loops that LLVM leaves alone -----===//
//
// LLVM unrolls an outer loop of few iterations with all that is in it: seconds of work that save no time, as the time
// goes to the inner loops.
//
//===----------------------------------------------------------------------===//
#include "passes/PassSupport.h"
#include "passes/gpu-to-nvvm/UnrolledLoops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_KEEPOUTERLOOPS
#include "passes/linalg-to-cpu/Passes.h.inc"

/// Up to this many ops in all iterations LLVM may unroll a loop: then all that it indexes is known.
static constexpr int64_t kMaxOpsOfLoops = 512;

/// The iterations of a loop; many where they are not known.
static int64_t getTrips(scf::ForOp loop) {
  auto from = getConstantIntValue(loop.getLowerBound()), to = getConstantIntValue(loop.getUpperBound()),
       step = getConstantIntValue(loop.getStep());
  return from && to && step && *step > 0 ? std::max<int64_t>(0, llvm::divideCeil(*to - *from, *step))
                                         : kMaxOpsOfLoops + 1;
}

/// How many ops run in all iterations of a loop, at most one more than matters.
static int64_t countRun(scf::ForOp loop) {
  int64_t ops = 0;
  std::function<void(Region &)> add = [&](Region &region) {
    for (Operation &op : region.getOps()) {
      if (auto inner = dyn_cast<scf::ForOp>(op)) {
        ops += countRun(inner);
        continue;
      }
      ++ops;
      for (Region &inside : op.getRegions())
        add(inside);
    }
  };
  add(loop.getRegion());
  return std::min(kMaxOpsOfLoops + 1, std::min(ops, kMaxOpsOfLoops + 1) * std::min(getTrips(loop), kMaxOpsOfLoops + 1));
}

namespace {

struct KeepOuterLoops : impl::KeepOuterLoopsBase<KeepOuterLoops> {
  void runOnOperation() override {
    // Inner loops come before the loops around them. What is unrolled anyway is no loop for those around it.
    llvm::DenseSet<Operation *> unrolled;
    getOperation()->walk([&](scf::ForOp loop) {
      bool hasLoops =
          loop.getBody()
              ->walk([&](LoopLikeOpInterface inner) { return WalkResult(failure(!unrolled.contains(inner))); })
              .wasInterrupted();
      if (loop->hasAttr(kLoopAnnotationAttr)) {
        if (isToBeWrittenOut(loop) && !hasLoops)
          unrolled.insert(loop);
        return;
      }
      if (hasLoops && countRun(loop) > kMaxOpsOfLoops)
        loop->setAttr(kLoopAnnotationAttr, getUnrollAnnotation(&getContext(), /*isWrittenOut=*/false));
    });
  }
};

} // namespace
} // namespace tilewright
