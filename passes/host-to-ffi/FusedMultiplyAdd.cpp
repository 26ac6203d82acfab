//===- FusedMultiplyAdd.cpp - x y + z without the instruction for it ------===//
#include "passes/host-to-ffi/FusedMultiplyAdd.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

void tilewright::computeFMAInDouble(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *fma = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!fma || fma->getIntrinsicID() != llvm::Intrinsic::fma || !fma->getType()->getScalarType()->isFloatTy())
      continue;
    llvm::IRBuilder<> builder(fma);
    llvm::Type *wide = fma->getType()->getWithNewType(builder.getDoubleTy());
    auto extend = [&](unsigned operand) { return builder.CreateFPExt(fma->getArgOperand(operand), wide); };
    llvm::Value *product = builder.CreateFMul(extend(0), extend(1));
    fma->replaceAllUsesWith(builder.CreateFPTrunc(builder.CreateFAdd(product, extend(2)), fma->getType()));
    fma->eraseFromParent();
  }
}
