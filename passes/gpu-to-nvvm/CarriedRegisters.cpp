//===- CarriedRegisters.cpp - registers that ptxas keeps over branches -----===//
#include "passes/gpu-to-nvvm/CarriedRegisters.h"
#include "passes/gpu-to-nvvm/FunctionAnalyses.h"

#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using tilewright::FunctionAnalyses;

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

static bool isOfLocalMemory(const Instruction &instruction) {
  const auto *load = dyn_cast<LoadInst>(&instruction);
  return load && !load->isVolatile() &&
         isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand(), /*MaxLookup=*/0));
}

static bool loadsLocalMemory(const Function &function) { return any_of(instructions(function), isOfLocalMemory); }

/// Replaces loads of local memory that nothing has written by zeros. LICM leaves such loads before a loop whose
/// registers are to hold the memory's elements, and the back end makes undefined values of them.
static void initializeLoadedElements(Function &function, FunctionAnalysisManager &analyses) {
  MemorySSA &memory = analyses.getResult<MemorySSAAnalysis>(function).getMSSA();
  SmallVector<Instruction *> unwritten;
  for (Instruction &load : instructions(function))
    if (isOfLocalMemory(load) && memory.isLiveOnEntryDef(memory.getWalker()->getClobberingMemoryAccess(&load)))
      unwritten.push_back(&load);
  for (Instruction *load : unwritten) {
    load->replaceAllUsesWith(Constant::getNullValue(load->getType()));
    load->eraseFromParent();
  }
}

void tilewright::initializeCarriedRegisters(Module &module) {
  if (any_of(module, loadsLocalMemory)) {
    PassBuilder builder;
    FunctionAnalyses analyses(builder);
    for (Function &function : make_filter_range(module, loadsLocalMemory))
      initializeLoadedElements(function, analyses.functions);
  }
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (PHINode &phi : block.phis())
        for (Use &use : phi.incoming_values())
          if (Constant *value = defined(use))
            use.set(value);
}
