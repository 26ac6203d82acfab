//===- LocalMemory.cpp - the order of accesses to memory ----------------------===//
#include "passes/gpu-to-nvvm/LocalMemory.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

/// Of loads and stores together; with 200 stores in a block, ptxas has been seen to move a load before them.
static constexpr unsigned kMostAccessesOfABlock = 128;

static void loadAsWritten(Function &function) {
  for (Argument &argument : function.args()) // NVPTX's sign for memory that nothing writes, with noalias
    argument.removeAttr(Attribute::ReadOnly);
  for (Instruction &instruction : instructions(function))
    if (isa<LoadInst>(instruction))
      instruction.setMetadata(LLVMContext::MD_invariant_load, nullptr);
}

/// The instructions before which `block` is to be split.
static SmallVector<Instruction *> getEnds(BasicBlock &block) {
  SmallVector<Instruction *> ends;
  unsigned accesses = 0;
  for (Instruction &instruction : block)
    if (isa<LoadInst, StoreInst>(instruction) && ++accesses > kMostAccessesOfABlock) {
      ends.push_back(&instruction);
      accesses = 1;
    }
  return ends;
}

static void splitBlocks(Function &function) {
  SmallVector<Instruction *> ends;
  for (BasicBlock &block : function)
    ends.append(getEnds(block));
  if (ends.empty())
    return;
  BasicBlock *never = BasicBlock::Create(function.getContext(), "", &function);
  IRBuilder<> builder(never);
  builder.CreateIntrinsic(builder.getVoidTy(), Intrinsic::trap, {});
  builder.CreateUnreachable();
  builder.SetInsertPoint(function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Value *processors = builder.CreateIntrinsic(builder.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_nsmid, {});
  MDNode *unlikely = MDBuilder(function.getContext()).createUnlikelyBranchWeights();
  for (auto [i, end] : llvm::enumerate(ends)) {
    builder.SetInsertPoint(end);
    // A number of its own for each: a branch on what an earlier one has decided would be left out.
    Value *isNever = builder.CreateICmpEQ(processors, builder.getInt32(~uint32_t(i)));
    SplitBlockAndInsertIfThen(isNever, end->getIterator(), /*Unreachable=*/true, unlikely, nullptr, nullptr, never);
  }
}

void tilewright::keepOrderBesideLocalMemory(Module &module) {
  for (Function &function : module)
    if (any_of(instructions(function), IsaPred<AllocaInst>)) {
      loadAsWritten(function);
      splitBlocks(function);
    }
}

void tilewright::keepOrderBehindWaits(Module &module) {
  auto waits = [](Instruction &instruction) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == Intrinsic::nvvm_griddepcontrol_wait;
  };
  for (Function &function : module)
    if (any_of(instructions(function), waits))
      loadAsWritten(function);
}
