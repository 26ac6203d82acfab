//===- ShortIntegers.cpp - arithmetic of 16 bits that ptxas gets right -----===//
#include "passes/gpu-to-nvvm/ShortIntegers.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// One operation on scalars: a maximum or minimum in 32 bits, or what `op` is.
static Value *compute(IRBuilder<> &builder, Instruction *op, Value *a, Value *b) {
  if (auto *extremum = dyn_cast<MinMaxIntrinsic>(op)) {
    auto widen = [&](Value *value) { return builder.CreateIntCast(value, builder.getInt32Ty(), extremum->isSigned()); };
    Value *wide = builder.CreateBinaryIntrinsic(extremum->getIntrinsicID(), widen(a), widen(b));
    return builder.CreateTrunc(wide, a->getType());
  }
  return builder.CreateBinOp(cast<BinaryOperator>(op)->getOpcode(), a, b);
}

/// `op` without packed or 16-bit instructions that ptxas gets wrong, or null where it has none.
static Value *widen(Instruction *op) {
  bool isExtremum = isa<MinMaxIntrinsic>(op);
  auto *vector = dyn_cast<FixedVectorType>(op->getType());
  if ((!isExtremum && !(isa<BinaryOperator>(op) && vector)) || !op->getType()->isIntOrIntVectorTy() ||
      op->getType()->getScalarSizeInBits() > 16)
    return nullptr;
  IRBuilder<> builder(op);
  Value *a = op->getOperand(0), *b = op->getOperand(1);
  if (!vector)
    return compute(builder, op, a, b);
  Value *all = PoisonValue::get(vector);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
    all = builder.CreateInsertElement(
        all, compute(builder, op, builder.CreateExtractElement(a, lane), builder.CreateExtractElement(b, lane)), lane);
  return all;
}

void tilewright::widenShortIntegers(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function)))
      if (Value *made = widen(&instruction)) {
        instruction.replaceAllUsesWith(made);
        instruction.eraseFromParent();
      }
}
