//===- ScheduledLoops.h - programs of target cpu that follow a schedule ---===//
#ifndef TILEWRIGHT_PASSES_LINALG_TO_CPU_SCHEDULEDLOOPS_H
#define TILEWRIGHT_PASSES_LINALG_TO_CPU_SCHEDULEDLOOPS_H

#include "dialects/Program/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright {

/// A product and a sum may be one instruction, as on the GPU.
inline void allowContraction(mlir::Operation *op) {
  using namespace mlir;
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    return;
  auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue();
  op->setAttr("fastmath", arith::FastMathFlagsAttr::get(op->getContext(), flags | arith::FastMathFlags::contract));
}

} // namespace tilewright

#endif
