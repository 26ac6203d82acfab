//===- SynchronizeCopies.cpp - cp.async becomes a load and a store --------===//
#include "passes/PassSupport.h"

#include "passes/gpu-to-sim/SimSupport.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_SYNCHRONIZECOPIES
#include "passes/gpu-to-sim/Passes.h.inc"

namespace {
struct SynchronizeCopies : impl::SynchronizeCopiesBase<SynchronizeCopies> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op);
      if (!copy)
        return;
      OpBuilder builder(op);
      auto type = VectorType::get({copy.getDstElements().getSExtValue()}, cast<MemRefType>(copy.getDst().getType()).getElementType());
      Value value = vector::LoadOp::create(builder, op->getLoc(), type, copy.getSrc(), copy.getSrcIndices());
      auto store = vector::StoreOp::create(builder, op->getLoc(), value, copy.getDst(), copy.getDstIndices());
      store->setAttr(sim::copyAttrName, builder.getUnitAttr());
      op->erase();
    });
  }
};
} // namespace
} // namespace tilewright
