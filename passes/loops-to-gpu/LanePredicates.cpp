//===- LanePredicates.cpp - predicates in front of a vectorized loop ------===//
#include "passes/index/Stride.h"
#include "passes/loops-to-gpu/Lanes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright {

bool LanePredicates::isKnownBefore(Value value) {
  if (value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isAncestor(op))
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  return op->getNumRegions() == 0 && isPure(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isKnownBefore(operand); });
}

bool LanePredicates::canHoist() {
  bool isKnown = true;
  loop.getBody()->walk([&](Operation *op) {
    if (auto guard = dyn_cast<scf::IfOp>(op)) {
      guards.push_back(guard);
      isKnown &= isKnownBefore(guard.getCondition());
    } else {
      isKnown &= op->getNumRegions() == 0;
    }
  });
  return isKnown && !guards.empty();
}

void LanePredicates::copyUnguarded(OpBuilder &builder, Block &block, IRMapping &mapping) {
  for (Operation &op : block.without_terminator()) {
    auto guard = dyn_cast<scf::IfOp>(op);
    if (!guard) {
      builder.clone(op, mapping);
      continue;
    }
    copyUnguarded(builder, *guard.thenBlock(), mapping);
    for (auto [result, yielded] : llvm::zip(guard.getResults(), guard.thenYield().getResults()))
      mapping.map(result, mapping.lookupOrDefault(yielded));
  }
}

scf::ForOp LanePredicates::createUnguarded() {
  OpBuilder builder(loop);
  auto copy = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
  copy->setAttrs(loop->getAttrs());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  builder.setInsertionPointToStart(copy.getBody());
  copyUnguarded(builder, *loop.getBody(), mapping);
  // What the predicates alone were computed from is of no use in it.
  SmallVector<Operation *> ops =
      llvm::map_to_vector(copy.getBody()->without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  return copy;
}

Value LanePredicates::valueInLane(OpBuilder &builder, Value value, int64_t lane) {
  Operation *op = value.getDefiningOp();
  if (value != loop.getInductionVar() && (!op || !loop->isAncestor(op)))
    return value;
  Value &found = known[{value, lane}];
  if (found)
    return found;
  if (value == loop.getInductionVar())
    return found = arith::ConstantIndexOp::create(builder, loop.getLoc(), lane);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, valueInLane(builder, operand, lane));
  Operation *copy = builder.clone(*op, mapping);
  // The map may have grown meanwhile.
  return known[{value, lane}] = copy->getResult(cast<OpResult>(value).getResultNumber());
}

/// By how much the left side of a comparison gains on the right from lane to lane, where that is a constant.
static std::optional<int64_t> getGrowth(arith::CmpIOp compare, Value variable) {
  if (!compare.getLhs().getType().isIndex())
    return std::nullopt;
  auto lhs = index::getStride(compare.getLhs(), variable), rhs = index::getStride(compare.getRhs(), variable);
  return lhs && rhs ? std::optional<int64_t>(*lhs - *rhs) : std::nullopt;
}

bool isSameInAllLanes(Value condition, scf::ForOp loop, int64_t lanes) {
  Operation *op = condition.getDefiningOp();
  if (!op || !loop->isAncestor(op))
    return true;
  Value variable = loop.getInductionVar();
  if (auto both = dyn_cast<arith::AndIOp>(op))
    return isSameInAllLanes(both.getLhs(), loop, lanes) && isSameInAllLanes(both.getRhs(), loop, lanes);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  auto slope = compare ? getGrowth(compare, variable) : std::nullopt;
  if (!slope)
    return false;
  if (*slope == 0)
    return true;
  // Lanes that begin at a multiple of their number are all on one side of another multiple of it.
  auto predicate = compare.getPredicate();
  return (predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sge) &&
         index::getStride(compare.getLhs(), variable) == 1 && *slope == 1 &&
         index::getDivisor(compare.getLhs(), variable) % lanes == 0 &&
         index::getDivisor(compare.getRhs(), variable) % lanes == 0;
}

bool holdsInFirstLanes(Value condition, scf::ForOp loop, int64_t lanes) {
  if (isSameInAllLanes(condition, loop, lanes))
    return true;
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return holdsInFirstLanes(both.getLhs(), loop, lanes) && holdsInFirstLanes(both.getRhs(), loop, lanes);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == arith::CmpIPredicate::slt &&
         getGrowth(compare, loop.getInductionVar()) == 1;
}

Value LanePredicates::holdsInAllLanes(OpBuilder &builder, Value condition) {
  Operation *op = condition.getDefiningOp();
  if (!op || !loop->isAncestor(op))
    return condition;
  if (auto both = dyn_cast<arith::AndIOp>(op))
    return arith::AndIOp::create(builder, op->getLoc(), holdsInAllLanes(builder, both.getLhs()),
                                 holdsInAllLanes(builder, both.getRhs()));
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (auto slope = compare ? getGrowth(compare, loop.getInductionVar()) : std::nullopt) {
    // What grows is below a bound in all lanes where it is in the last.
    using Predicate = arith::CmpIPredicate;
    bool isBelow = llvm::is_contained({Predicate::slt, Predicate::sle}, compare.getPredicate());
    bool isAbove = llvm::is_contained({Predicate::sgt, Predicate::sge}, compare.getPredicate());
    if (isBelow || isAbove || *slope == 0)
      return valueInLane(builder, condition, *slope == 0 || (*slope > 0) != isBelow ? 0 : lanes - 1);
  }
  Value all = valueInLane(builder, condition, 0);
  for (int64_t lane = 1; lane < lanes; ++lane)
    all = arith::AndIOp::create(builder, op->getLoc(), all, valueInLane(builder, condition, lane));
  return all;
}

scf::ForOp LanePredicates::hoist(scf::ForOp unguarded) {
  OpBuilder builder(unguarded);
  Location loc = loop.getLoc();
  Value all;
  // Nothing is left to do for the lanes outside if all of them are, and if nothing stands beside the predicate.
  bool isWhole = guards.size() == 1 && !guards.front().elseBlock() &&
                 isSameInAllLanes(guards.front().getCondition(), loop, lanes) &&
                 loop.getBody()->getOps<memref::StoreOp>().empty();
  for (scf::IfOp guard : guards) {
    Value holds = holdsInAllLanes(builder, guard.getCondition());
    all = all ? arith::AndIOp::create(builder, loc, all, holds).getResult() : holds;
  }
  auto choose = scf::IfOp::create(builder, loc, all, /*withElseRegion=*/!isWhole);
  unguarded->moveBefore(choose.thenBlock()->getTerminator());
  if (isWhole)
    loop.erase();
  else
    loop->moveBefore(choose.elseBlock()->getTerminator());
  return unguarded;
}
} // namespace tilewright
