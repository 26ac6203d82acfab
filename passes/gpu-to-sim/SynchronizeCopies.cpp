//===- SynchronizeCopies.cpp - cp.async becomes a load and a store --------===//
#include "passes/PassSupport.h"

#include "passes/gpu-to-sim/SimSupport.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_SYNCHRONIZECOPIES
#include "passes/gpu-to-sim/Passes.h.inc"

/// The first of the elements, as many as the copy says, and zeros.
static Value loadSome(OpBuilder &builder, nvgpu::DeviceAsyncCopyOp copy, VectorType type) {
  Location loc = copy.getLoc();
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value number = arith::ConstantIndexOp::create(builder, loc, i);
    Value isRead = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, copy.getSrcElements());
    auto load = [&](OpBuilder &builder, Location loc) {
      SmallVector<Value> indices(copy.getSrcIndices());
      indices.back() = arith::AddIOp::create(builder, loc, indices.back(), number);
      scf::YieldOp::create(builder, loc, memref::LoadOp::create(builder, loc, copy.getSrc(), indices).getResult());
    };
    auto zero = [&](OpBuilder &builder, Location loc) {
      Value constant = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
      scf::YieldOp::create(builder, loc, constant);
    };
    elements.push_back(scf::IfOp::create(builder, loc, isRead, load, zero).getResult(0));
  }
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

namespace {
struct SynchronizeCopies : impl::SynchronizeCopiesBase<SynchronizeCopies> {
  void runOnOperation() override {
    WalkResult found = getOperation().walk([](Operation *op) {
      auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op);
      if (!copy)
        return WalkResult::advance();
      if (!op->use_empty()) {
        op->emitError("expected copies in groups of nvvm.cp.async.commit.group, got a use of one");
        return WalkResult::interrupt();
      }
      OpBuilder builder(op);
      auto type = VectorType::get({copy.getDstElements().getSExtValue()},
                                  cast<MemRefType>(copy.getDst().getType()).getElementType());
      Value value = copy.getSrcElements()
                        ? loadSome(builder, copy, type)
                        : vector::LoadOp::create(builder, op->getLoc(), type, copy.getSrc(), copy.getSrcIndices());
      auto store = vector::StoreOp::create(builder, op->getLoc(), value, copy.getDst(), copy.getDstIndices());
      store->setAttr(kSimCopyAttr, builder.getUnitAttr());
      op->erase();
      return WalkResult::advance();
    });
    if (found.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
} // namespace tilewright
