//===- Externs.h - what a schedule may say of a te.extern -----------------===//
#ifndef TILEWRIGHT_PASSES_EXTERNS_H
#define TILEWRIGHT_PASSES_EXTERNS_H

#include "passes/PassSupport.h"

namespace tilewright {

/// The statements of an extern say how it is computed: of primitives only compute_root, which changes nothing, may be
/// of one.
inline mlir::LogicalResult checkHasLoops(mlir::Operation *op, llvm::function_ref<bool(llvm::StringRef)> isExtern) {
  if (mlir::isa<schedule::ComputeRootOp>(op))
    return mlir::success();
  for (mlir::Value operand : op->getOperands())
    if (mlir::isa<schedule::StageType>(operand.getType()) && isExtern(schedule::stageName(operand)))
      return op->emitOpError() << "expected a stage with loops of its own, got the extern '"
                               << schedule::stageName(operand) << "', whose statements say how it is computed";
  return mlir::success();
}

} // namespace tilewright

#endif
