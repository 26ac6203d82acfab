//===- IndexWidths.cpp - indices of a chosen width -------------------------===//
#include "passes/narrow-types/IndexWidths.h"

#include "passes/PassSupport.h"

#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;

namespace tilewright {

using index::isIndexLike;

unsigned getIndexBits(gpu::GPUModuleOp module) {
  Type index = IndexType::get(module.getContext());
  // A layout that was written by hand may hold what is no width, which upstream does not look at.
  if (DataLayoutSpecInterface spec = module.getDataLayoutSpec())
    for (DataLayoutEntryInterface entry : spec.getEntries())
      if (auto bits = dyn_cast<IntegerAttr>(entry.getValue()); entry.getKey().dyn_cast<Type>() == index && bits)
        if (bits.getValue().sle(0) || bits.getValue().sgt(64))
          return 0;
  DataLayout layout(cast<DataLayoutOpInterface>(module.getOperation()));
  return layout.getTypeSizeInBits(index).getFixedValue();
}

Value computeInIntegers(OpBuilder &builder, Operation *op, IntegerType type, llvm::function_ref<Value(Value)> operand) {
  Location loc = op->getLoc();
  auto typed = [&](Type old) -> Type {
    auto vector = dyn_cast<VectorType>(old);
    return vector ? Type(vector.clone(type)) : Type(type);
  };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Value given = op->getOperand(0);
    bool isToIndex = isIndexLike(op->getResult(0).getType());
    Value value = isToIndex ? given : operand(given);
    Type wanted = isToIndex ? typed(op->getResult(0).getType()) : op->getResult(0).getType();
    unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
    unsigned to = getElementTypeOrSelf(wanted).getIntOrFloatBitWidth();
    if (from == to)
      return value;
    if (from > to)
      return arith::TruncIOp::create(builder, loc, wanted, value);
    if (isa<arith::IndexCastOp>(op))
      return arith::ExtSIOp::create(builder, loc, wanted, value);
    return arith::ExtUIOp::create(builder, loc, wanted, value);
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto resize = [&](const APInt &value) { return value.sextOrTrunc(type.getWidth()); };
    if (auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(builder, loc, elements.mapValues(type, resize));
    return arith::ConstantOp::create(builder, loc,
                                     IntegerAttr::get(type, resize(cast<IntegerAttr>(constant.getValue()).getValue())));
  }
  IRMapping mapping;
  for (Value each : op->getOperands())
    if (isIndexLike(each.getType()))
      mapping.map(each, operand(each));
  Operation *made = builder.clone(*op, mapping);
  if (Value result = made->getResult(0); isIndexLike(result.getType()))
    result.setType(typed(result.getType()));
  return made->getResult(0);
}

} // namespace tilewright
