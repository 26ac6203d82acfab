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

void StateOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getState(), getName()); }

LogicalResult StateOp::verify() {
  int64_t expected = cast<RankedTensorType>(getState().getType()).getNumDynamicDims();
  if (int64_t(getSizes().size()) != expected)
    return emitOpError() << "expected a size for each dimension that has no number, " << expected << ", got "
                         << getSizes().size();
  return success();
}

#define GET_OP_CLASSES
#include "dialects/TE/TEOps.cpp.inc"
