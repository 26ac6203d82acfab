//===- CheckKernelOps.cpp - refuse what has no lowering for a GPU ---------===//
#include "passes/PassSupport.h"

namespace tilewright {
#define GEN_PASS_DEF_CHECKKERNELOPS
#include "passes/gpu-to-nvvm/Passes.h.inc"
} // namespace tilewright

using namespace mlir;

/// Whether LLVM selects the math op on scalars of `type`, on every architecture. Its other functions would become calls
/// of libdevice, which is not linked.
static bool hasLowering(Operation *op, Type type) {
  if (isa<math::Exp2Op>(op))
    return !type.isF64();
  return isa<math::SqrtOp, math::AbsFOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp, math::RoundOp,
             math::CopySignOp, math::FmaOp, math::AbsIOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp>(op);
}

namespace tilewright {
namespace {

struct CheckKernelOps : impl::CheckKernelOpsBase<CheckKernelOps> {
  void runOnOperation() override {
    bool failed = false;
    getOperation().walk([&](Operation *op) {
      bool isMath = isa_and_nonnull<math::MathDialect>(op->getDialect());
      if (isMath || isa<arith::RemFOp>(op)) {
        Type type = getElementTypeOrSelf(op->getResult(0));
        if (!isMath || !hasLowering(op, type)) {
          op->emitError() << op->getName() << " on " << type << " has no lowering for target cuda";
          failed = true;
        }
      }
      // Upstream's conversion of loads and stores asserts on these.
      auto isNarrow = [](Type type) {
        auto memref = dyn_cast<MemRefType>(type);
        return memref && memref.getElementType().isInteger() && memref.getElementTypeBitWidth() < 8;
      };
      // Of more than one dimension. The symbol of shared memory has one, and no elements of its own.
      auto isEmpty = [](Type type) {
        auto memref = dyn_cast<MemRefType>(type);
        return memref && memref.getRank() > 1 && llvm::is_contained(memref.getShape(), 0);
      };
      SmallVector<Type> types(op->getResultTypes());
      if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
        llvm::append_range(types, kernel.getArgumentTypes());
      for (Type type : types)
        if (isNarrow(type)) {
          op->emitError("expected buffers with elements of at least 8 bits for target cuda, got ") << type;
          failed = true;
        } else if (isEmpty(type)) {
          op->emitError("expected buffers with at least one element, got ") << type;
          failed = true;
        }
    });
    if (failed)
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
