//===- Negations.cpp - negated integers that ptxas gets right -------------===//
#include "passes/gpu-to-nvvm/Negations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/// Whether `value` may come to a minimum or a maximum as it is. ptxas makes those of comparisons and selects, too.
static bool isCompared(Value *value, SmallPtrSetImpl<Value *> &seen) {
  return any_of(value->users(), [&](User *user) {
    if (isa<MinMaxIntrinsic, SelectInst, ICmpInst>(user))
      return true;
    return isa<PHINode, FreezeInst, ExtractElementInst, InsertElementInst, ShuffleVectorInst>(user) &&
           seen.insert(user).second && isCompared(user, seen);
  });
}

void tilewright::completeNegations(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      Value *number;
      SmallPtrSet<Value *, 8> seen;
      if (!instruction.getType()->isIntOrIntVectorTy(32) || !match(&instruction, m_Neg(m_Value(number))) ||
          !isCompared(&instruction, seen))
        continue;
      IRBuilder<> builder(&instruction);
      Type *i32 = builder.getInt32Ty();
      // Inline PTX, for the back end makes a negation of any other form.
      auto *invert = InlineAsm::get(FunctionType::get(i32, {i32}, /*isVarArg=*/false), "not.b32 $0, $1;", "=r,r",
                                    /*hasSideEffects=*/false);
      auto negate = [&](Value *value) {
        return builder.CreateAdd(builder.CreateCall(invert, {value}), builder.getInt32(1));
      };
      Value *made;
      if (auto *vector = dyn_cast<FixedVectorType>(instruction.getType())) {
        made = PoisonValue::get(vector);
        for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
          made = builder.CreateInsertElement(made, negate(builder.CreateExtractElement(number, lane)), lane);
      } else {
        made = negate(number);
      }
      instruction.replaceAllUsesWith(made);
      instruction.eraseFromParent();
    }
}
