//===- CutIndices.cpp - the simulator computes indices as a GPU does -------===//
#include "passes/PassSupport.h"
#include "passes/narrow-types/IndexWidths.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CUTINDICES
#include "passes/gpu-to-sim/Passes.h.inc"

namespace {

struct CutIndices : impl::CutIndicesBase<CutIndices> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    unsigned bits = getIndexBits(module);
    if (bits >= 64) // those of this machine
      return;
    if (bits == 0) {
      module.emitError("expected an index of 32 or 64 bits in the data layout, got ") << bits;
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (index::isIndexArithmetic(op))
        ops.push_back(op);
    });
    OpBuilder builder(&getContext());
    auto type = builder.getIntegerType(bits);
    for (Operation *op : ops) {
      builder.setInsertionPoint(op);
      auto cast = [&](Value value, Type to) -> Value {
        auto vector = dyn_cast<VectorType>(value.getType());
        return arith::IndexCastOp::create(builder, op->getLoc(), vector ? Type(vector.clone(to)) : to, value);
      };
      Value made = computeInIntegers(builder, op, type, [&](Value operand) { return cast(operand, type); });
      if (index::isIndexLike(op->getResult(0).getType()))
        made = cast(made, builder.getIndexType());
      op->getResult(0).replaceAllUsesWith(made);
      op->erase();
    }
  }
};

} // namespace
} // namespace tilewright
