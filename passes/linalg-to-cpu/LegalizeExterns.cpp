//===- LegalizeExterns.cpp - te.extern as a processor can run it ----------===//
#include "dialects/TE/BufferAllocation.h"
#include "passes/PassSupport.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_LEGALIZEEXTERNS
#include "passes/linalg-to-cpu/Passes.h.inc"

/// So many bytes at most of a buffer are on the stack.
static constexpr int64_t kMostBytesOnStack = 1024;

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

/// Whether a buffer is small enough for the stack: LLVM then keeps elements of it in registers.
static bool isOnStack(MemRefType type) {
  return type.hasStaticShape() && type.getNumElements() <= kMostBytesOnStack / getElementBytes(type.getElementType());
}

/// The innermost loop for threads around a statement, if there is one.
static scf::ForOp getLoopForThreads(Operation *statement, te::ExternOp op) {
  for (Operation *around = statement->getParentOp(); around != op; around = around->getParentOp())
    if (around->hasAttr(schedule::kParallelAttr))
      return cast<scf::ForOp>(around);
  return {};
}

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
    auto given = cast<MemRefType>(buffer->getResult(0).getType());
    auto type = MemRefType::get(given.getShape(), given.getElementType());
    // Once, or once in each iteration of a loop for threads: in others the stack would grow.
    scf::ForOp loop = getLoopForThreads(buffer, op);
    Operation *around = loop ? loop.getOperation() : op->getParentOfType<func::FuncOp>().getOperation();
    Value made;
    if (isOnStack(type)) {
      OpBuilder builder = OpBuilder::atBlockBegin(&around->getRegion(0).front());
      made = memref::AllocaOp::create(builder, buffer->getLoc(), type);
    } else {
      OpBuilder builder(op);
      if (loop)
        builder.setInsertionPointToStart(loop.getBody());
      made = memref::AllocOp::create(builder, buffer->getLoc(), type, buffer->getOperands());
    }
    buffer->getResult(0).replaceAllUsesWith(made);
    buffer->erase();
  }
  return success();
}
} // namespace tilewright
