//===- CarriedRegisters.cpp - registers that ptxas keeps over loops --------===//
#include "passes/gpu-to-nvvm/CarriedRegisters.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// `value` with zeros where it is undefined, or null where nothing of it is.
static Constant *defined(Value *value) {
  auto *constant = dyn_cast<Constant>(value);
  if (!constant || !(isa<UndefValue>(constant) || constant->containsUndefOrPoisonElement()))
    return nullptr;
  if (isa<UndefValue>(constant))
    return Constant::getNullValue(constant->getType());
  return Constant::replaceUndefsWith(constant, Constant::getNullValue(constant->getType()->getScalarType()));
}

void tilewright::initializeCarriedRegisters(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    // The values at the loops' heads, and those that reach these through other phis.
    SetVector<PHINode *> carried;
    for (BasicBlock &block : function)
      if (loops.isLoopHeader(&block))
        for (PHINode &phi : block.phis())
          carried.insert(&phi);
    for (unsigned next = 0; next < carried.size(); ++next) {
      PHINode *phi = carried[next];
      for (Use &use : phi->incoming_values()) {
        if (Constant *value = defined(use))
          use.set(value);
        else if (auto *source = dyn_cast<PHINode>(use))
          carried.insert(source);
      }
    }
  }
}
