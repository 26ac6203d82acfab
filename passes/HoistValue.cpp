//===- HoistValue.cpp - values of a nest, before it -------------------------===//
#include "passes/HoistValue.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright {

FailureOr<Value> hoistValue(OpBuilder &builder, Operation *nest, Value value) {
  IRMapping mapping;
  std::function<LogicalResult(Value)> hoist = [&](Value one) -> LogicalResult {
    Operation *op = one.getDefiningOp();
    bool inside = op ? nest->isAncestor(op) : nest->isAncestor(one.getParentBlock()->getParentOp());
    if (mapping.contains(one) || !inside)
      return success();
    if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      return failure();
    for (Value operand : op->getOperands())
      if (failed(hoist(operand)))
        return failure();
    builder.clone(*op, mapping);
    return success();
  };
  if (failed(hoist(value)))
    return failure();
  return mapping.lookupOrDefault(value);
}

} // namespace tilewright
