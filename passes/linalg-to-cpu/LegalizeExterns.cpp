//===- LegalizeExterns.cpp - te.extern as a processor can run it ----------===//
#include "dialects/TE/BufferAllocation.h"
#include "passes/PassSupport.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_LEGALIZEEXTERNS
#include "passes/linalg-to-cpu/Passes.h.inc"

namespace {
struct LegalizeExterns : impl::LegalizeExternsBase<LegalizeExterns> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](te::ExternOp op) { return WalkResult(legalize(op)); });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult legalize(te::ExternOp op);
};
} // namespace

LogicalResult LegalizeExterns::legalize(te::ExternOp op) {
  SmallVector<Operation *> buffers;
  WalkResult result = op.getBody().walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (auto thread = inner->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr)) {
      inner->emitError() << "te.extern '" << op.getName() << "': expected loops for target cpu, got a thread axis, "
                         << schedule::stringifyThreadTag(thread.getValue()) << ": use ib.for_range";
      return WalkResult::interrupt();
    }
    if (allocatesBuffer(inner))
      buffers.push_back(inner);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (Operation *buffer : buffers) {
    auto type = cast<MemRefType>(buffer->getResult(0).getType());
    // Once, on the heap: the stack would grow with every iteration.
    OpBuilder builder(op);
    auto made = memref::AllocOp::create(builder, buffer->getLoc(),
                                        MemRefType::get(type.getShape(), type.getElementType()), buffer->getOperands());
    buffer->getResult(0).replaceAllUsesWith(made);
    buffer->erase();
  }
  return success();
}
} // namespace tilewright
