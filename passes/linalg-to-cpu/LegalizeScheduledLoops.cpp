//===- LegalizeScheduledLoops.cpp - scheduled loops as a processor runs them //
#include "passes/PassSupport.h"
#include "passes/linalg-to-cpu/ScheduledLoops.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_LEGALIZESCHEDULEDLOOPS
#include "passes/linalg-to-cpu/Passes.h.inc"

namespace {

struct LegalizeScheduledLoops : impl::LegalizeScheduledLoopsBase<LegalizeScheduledLoops> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // Without a schedule it is on tensors still.
    if (function.isExternal() || llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<RankedTensorType>))
      return;
    function->setAttr(kScheduledAttr, UnitAttr::get(&getContext()));
    WalkResult result = function.walk([&](Operation *op) {
      allowContraction(op);
      // A pipeline's loop runs in order, so one place is enough.
      if (isa<memref::AllocOp>(op))
        op->removeDiscardableAttr(schedule::kPipelinedAttr);
      auto bind = op->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr);
      if (!bind)
        return WalkResult::advance();
      // Virtual threads are of one thread.
      if (bind.getValue() == schedule::ThreadTag::VThread) {
        op->removeAttr(schedule::kBindAttr);
        return WalkResult::advance();
      }
      op->emitError() << "expected loops for target cpu, got a loop bound to "
                      << schedule::stringifyThreadTag(bind.getValue());
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
