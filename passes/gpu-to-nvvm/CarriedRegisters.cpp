//===- CarriedRegisters.cpp - registers that ptxas keeps over branches -----===//
#include "passes/gpu-to-nvvm/CarriedRegisters.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

/// `value` with zeros where it is undefined, or null where nothing of it is.
static Constant *defined(Value *value) {
  auto *constant = dyn_cast<Constant>(value);
  if (!constant || !(isa<UndefValue>(constant) || constant->containsUndefOrPoisonElement()))
    return nullptr;
  // A vector of which some elements are poison and the others undefined is neither value.
  if (PatternMatch::match(constant, PatternMatch::m_Undef()))
    return Constant::getNullValue(constant->getType());
  return Constant::replaceUndefsWith(constant, Constant::getNullValue(constant->getType()->getScalarType()));
}

void tilewright::initializeCarriedRegisters(Module &module) {
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (PHINode &phi : block.phis())
        for (Use &use : phi.incoming_values())
          if (Constant *value = defined(use))
            use.set(value);
}
