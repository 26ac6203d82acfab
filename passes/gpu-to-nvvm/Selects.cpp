//===- Selects.cpp - choices that ptxas gets right ------------------------===//
#include "passes/gpu-to-nvvm/Selects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

void tilewright::selectHalvesByMasks(Module &module) {
  auto isUsedOtherwise = [](Value *value) { return !isa<Constant>(value) && !value->hasOneUse(); };
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *select = dyn_cast<SelectInst>(&instruction);
      if (!select || !select->getType()->is16bitFPTy() ||
          !(isUsedOtherwise(select->getTrueValue()) || isUsedOtherwise(select->getFalseValue())))
        continue;
      IRBuilder<> builder(select);
      auto bits = [&](Value *value) {
        return builder.CreateZExt(builder.CreateBitCast(value, builder.getInt16Ty()), builder.getInt32Ty());
      };
      // Of 32 bits: in 16, the back end makes a select of it again.
      Value *mask = builder.CreateSExt(select->getCondition(), builder.getInt32Ty());
      Value *chosen = builder.CreateOr(builder.CreateAnd(bits(select->getTrueValue()), mask),
                                       builder.CreateAnd(bits(select->getFalseValue()), builder.CreateNot(mask)));
      select->replaceAllUsesWith(
          builder.CreateBitCast(builder.CreateTrunc(chosen, builder.getInt16Ty()), select->getType()));
      select->eraseFromParent();
    }
}

/// Whether `value` is not 0, of numbers that predicates are made into, and of sums of their bits; null for others.
static Value *isNotZero(IRBuilder<> &builder, Value *value) {
  Value *condition, *other;
  const APInt *yes, *no;
  if (match(value, m_ZExtOrSExt(m_Value(condition))) && condition->getType()->isIntOrIntVectorTy(1))
    return condition;
  if (match(value, m_Select(m_Value(condition), m_APInt(yes), m_APInt(no))) && yes->isZero() != no->isZero() &&
      condition->getType() == CmpInst::makeCmpResultType(value->getType()))
    return yes->isZero() ? builder.CreateNot(condition) : condition;
  if (!match(value, m_Or(m_Value(condition), m_Value(other))))
    return nullptr;
  Value *one = isNotZero(builder, condition), *two = isNotZero(builder, other);
  if (!one && !two)
    return nullptr;
  auto compare = [&](Value *number) { return builder.CreateICmpNE(number, Constant::getNullValue(number->getType())); };
  return builder.CreateOr(one ? one : compare(condition), two ? two : compare(other));
}

void tilewright::compareBitsAsPredicates(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *compare = dyn_cast<ICmpInst>(&instruction);
      if (!compare || !compare->isEquality() || !match(compare->getOperand(1), m_Zero()))
        continue;
      IRBuilder<> builder(compare);
      Value *made = isNotZero(builder, compare->getOperand(0));
      if (!made)
        continue;
      if (compare->getPredicate() == ICmpInst::ICMP_EQ)
        made = builder.CreateNot(made);
      compare->replaceAllUsesWith(made);
      compare->eraseFromParent();
    }
}
