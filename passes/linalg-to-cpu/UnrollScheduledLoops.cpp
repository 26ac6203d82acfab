//===- UnrollScheduledLoops.cpp - which loops LLVM is to unroll -----------===//
#include "passes/PassSupport.h"
#include "passes/gpu-to-nvvm/UnrolledLoops.h"
#include "passes/linalg-to-cpu/ScheduledLoops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_UNROLLSCHEDULEDLOOPS
#include "passes/linalg-to-cpu/Passes.h.inc"

/// Past this many ops a loop stays one: its code would no longer fit the cache of instructions, and take LLVM minutes.
static constexpr int64_t kMaxUnrolledOps = 8192;
/// So many iterations of an innermost loop over vectors are one, and so many ops at most: processors foresee the end of
/// a loop of few iterations, and keep several of its ops in flight.
static constexpr int64_t kJoined = 4, kMaxOpsJoined = 512;

static bool hasVectors(scf::ForOp loop) {
  return loop->walk([](vector::LoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

namespace {

struct UnrollScheduledLoops : impl::UnrollScheduledLoopsBase<UnrollScheduledLoops> {
  void runOnOperation() override {
    if (!getOperation()->removeAttr(kScheduledAttr))
      return;
    // Inner loops come before the loops around them.
    llvm::DenseMap<Operation *, int64_t> unrolled;
    std::function<int64_t(Operation *)> count = [&](Operation *op) {
      if (auto found = unrolled.find(op); found != unrolled.end())
        return found->second;
      int64_t ops = 1;
      for (Region &region : op->getRegions())
        for (Operation &inner : region.getOps())
          ops += count(&inner);
      return ops;
    };
    getOperation().walk([&](scf::ForOp loop) {
      auto extent = getConstantIntValue(loop.getUpperBound());
      int64_t ops = count(loop);
      if (!loop->removeAttr(schedule::kUnrollAttr)) {
        WalkResult walked =
            loop->walk([&](scf::ForOp inner) { return WalkResult(failure(inner != loop && !unrolled.count(inner))); });
        bool isInnermost = !walked.wasInterrupted();
        if (isInnermost && extent && *extent % kJoined == 0 && *extent > kJoined && ops * kJoined <= kMaxOpsJoined &&
            hasVectors(loop))
          loop->setAttr(kLoopAnnotationAttr, getJoinedAnnotation(&getContext(), kJoined));
        return;
      }
      if (!extent || *extent > kMaxUnrolledOps || ops * *extent > kMaxUnrolledOps)
        return;
      loop->setAttr(kLoopAnnotationAttr, getUnrollAnnotation(&getContext(), /*isWrittenOut=*/true));
      unrolled[loop] = ops * *extent;
    });
  }
};

} // namespace
} // namespace tilewright
