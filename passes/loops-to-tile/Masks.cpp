//===- Masks.cpp - conditions on an element's place, and what they choose -===//
#include "passes/loops-to-tile/Masks.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

std::optional<std::pair<Value, Value>> matchMask(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return std::pair(select.getFalseValue(), select.getCondition());
  auto choice = dyn_cast<scf::IfOp>(op);
  if (!choice || choice.getNumResults() != 1)
    return std::nullopt;
  return std::pair(choice.elseYield().getOperand(0), choice.getCondition());
}

std::optional<index::LinearIndex> getSum(Value value, LoadedTerm getLoaded) {
  if (value.getType().isIndex())
    return index::LinearIndex::get(value);
  index::LinearIndex sum;
  if (IntegerAttr number; matchPattern(value, m_Constant(&number))) {
    sum.constant = number.getInt();
    return sum;
  }
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op); cast && cast.getIn().getType().isIndex())
    return index::LinearIndex::get(cast.getIn());
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    auto left = getSum(op->getOperand(0), getLoaded), right = getSum(op->getOperand(1), getLoaded);
    if (!left || !right)
      return std::nullopt;
    return left->plus(*right, isa<arith::AddIOp>(op) ? 1 : -1);
  }
  auto load = dyn_cast_or_null<memref::LoadOp>(op);
  return load ? getLoaded(load) : std::nullopt;
}

std::optional<index::LinearIndex> getMargin(Value condition, LoadedTerm getLoaded) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  auto left = getSum(compare.getLhs(), getLoaded), right = getSum(compare.getRhs(), getLoaded);
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  bool isLess = predicate == Predicate::slt || predicate == Predicate::sle;
  if (!left || !right || (!isLess && predicate != Predicate::sgt && predicate != Predicate::sge))
    return std::nullopt;
  index::LinearIndex margin = isLess ? right->plus(*left, -1) : left->plus(*right, -1);
  if (predicate == Predicate::slt || predicate == Predicate::sgt)
    --margin.constant;
  return margin;
}
} // namespace tilewright
