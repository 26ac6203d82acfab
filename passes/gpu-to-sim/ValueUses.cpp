//===- ValueUses.cpp - when what is computed is used ----------------------===//
#include "passes/gpu-to-sim/ValueUses.h"
#include "passes/kernel-math/NonZero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::sim {

static ValueUse findUse(Value value, Block *block, int depth);

static ValueUse findUse(OpOperand &operand, Block *block, int depth) {
  Operation *user = operand.getOwner(), *ancestor = block->findAncestorOpInBlock(*user);
  auto under = [&](Value condition, bool holds, ValueUse rest) {
    if (!rest.conjunctions)
      rest.conjunctions.emplace({Conjunction()});
    for (Conjunction &conjunction : *rest.conjunctions)
      conjunction.push_back({condition, holds});
    return rest;
  };
  if (ancestor != user) {
    auto branch = dyn_cast_or_null<scf::IfOp>(ancestor);
    return branch ? under(branch.getCondition(), branch.getThenRegion().isAncestor(user->getParentRegion()), {})
                  : ValueUse();
  }
  if (user->getNumResults() != 1 || (!isPure(user) && !mayDivideByZero(user)))
    return {};
  ValueUse rest = findUse(user->getResult(0), block, depth + 1);
  if (auto choice = dyn_cast<arith::SelectOp>(user); choice && operand.getOperandNumber() > 0)
    return under(choice.getCondition(), operand.getOperandNumber() == 1, rest);
  // te.all and te.any: the condition before this one may have decided.
  bool isCondition = getElementTypeOrSelf(operand.get().getType()).isInteger(1) && operand.getOperandNumber() == 1;
  if (isCondition && isa<arith::AndIOp, arith::OrIOp>(user))
    return under(user->getOperand(0), isa<arith::AndIOp>(user), rest);
  return rest;
}

static ValueUse findUse(Value value, Block *block, int depth) {
  // What is made of the value by more ops, or in more ways, counts as used.
  constexpr int maxDepth = 16;
  constexpr size_t maxConjunctions = 16;
  ValueUse all;
  all.conjunctions.emplace();
  for (OpOperand &operand : value.getUses()) {
    ValueUse one = depth < maxDepth ? findUse(operand, block, depth) : ValueUse();
    if (!one.conjunctions || all.conjunctions->size() + one.conjunctions->size() > maxConjunctions)
      return {};
    llvm::append_range(*all.conjunctions, *one.conjunctions);
  }
  return all;
}

ValueUse findUse(Value value, Block *block) { return findUse(value, block, 0); }

} // namespace tilewright::sim
