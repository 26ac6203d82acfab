#include "dialects/TE/TE.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright::te;

LogicalResult PreviousOp::verify() {
  auto compute = (*this)->getParentOfType<ComputeOp>();
  if (!compute || !compute.getScan())
    return emitOpError("expected to stand inside te.compute with 'scan'");
  if (getOf() >= compute.getNumResults())
    return emitOpError() << "expected the number of a result, less than " << compute.getNumResults() << ", got "
                         << getOf();
  if (int64_t(getLag()) < 1)
    return emitOpError() << "expected an earlier step, at least 1 before, got " << int64_t(getLag());
  Type element = cast<RankedTensorType>(compute.getResultTypes()[getOf()]).getElementType();
  if (getElement().getType() != element)
    return emitOpError() << "expected an element of type " << element << ", got " << getElement().getType();
  return success();
}

#define GET_OP_CLASSES
#include "dialects/TE/TEOps.cpp.inc"
