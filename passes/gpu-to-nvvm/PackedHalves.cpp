//===- PackedHalves.cpp - pairs of 16-bit floats that ptxas gets right -----===//
#include "passes/gpu-to-nvvm/PackedHalves.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static bool isVectorOfHalves(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getElementType()->is16bitFPTy();
}

/// Whether the back end may know what `load` reads, because the kernel writes there, and put a constant in its place.
static bool isForwarded(LoadInst *load) {
  auto *argument = dyn_cast<Argument>(getUnderlyingObject(load->getPointerOperand()));
  return !load->hasMetadata(LLVMContext::MD_invariant_load) && !(argument && argument->onlyReadsMemory());
}

/// Whether ptxas may see a number whose sign it changes in `value`, or in a lane of it.
static bool isNegated(Value *value) {
  if (auto *number = dyn_cast<ConstantFP>(value))
    return number->isNegative();
  if (auto *constant = dyn_cast<Constant>(value)) {
    auto *vector = dyn_cast<FixedVectorType>(constant->getType());
    return vector && any_of(seq(vector->getNumElements()), [&](unsigned lane) {
             Constant *element = constant->getAggregateElement(lane);
             return element && isNegated(element);
           });
  }
  auto *op = dyn_cast<Instruction>(value);
  if (!op)
    return false;
  if (auto *load = dyn_cast<LoadInst>(op))
    return isForwarded(load);
  if (isa<InsertElementInst, ShuffleVectorInst>(op))
    return isNegated(op->getOperand(0)) || isNegated(op->getOperand(1));
  return op->getOpcode() == Instruction::FNeg || (isa<ExtractElementInst>(op) && isNegated(op->getOperand(0)));
}

/// Whether `shuffle` leaves pairs of lanes together, or makes pairs of a lane twice.
static bool keepsPairs(ShuffleVectorInst *shuffle) {
  ArrayRef<int> mask = shuffle->getShuffleMask();
  return all_of(seq<size_t>(0, mask.size() / 2), [&](size_t pair) {
    int first = mask[2 * pair], second = mask[2 * pair + 1];
    return first == second || (first % 2 == 0 && second == first + 1);
  });
}

/// Whether pairs of lanes are put together of two numbers in `value`, and one of its lanes may be negated.
static bool hasNegatedLane(Value *value) {
  if (!isVectorOfHalves(value->getType()))
    return false;
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(value); shuffle && keepsPairs(shuffle))
    return !shuffle->isZeroEltSplat() &&
           (hasNegatedLane(shuffle->getOperand(0)) || hasNegatedLane(shuffle->getOperand(1)));
  return isa<InsertElementInst, ShuffleVectorInst>(value) && isNegated(value);
}

/// Whether `op` goes lane by lane, and reads lanes with signs of their own, or of `unpacked`. What follows an unpacked
/// operation is unpacked, too: the back end makes a negation of a product by -1, and one fma of a product and a sum.
static bool goesByLanes(Instruction *op, const SmallPtrSetImpl<Value *> &unpacked) {
  auto *intrinsic = dyn_cast<IntrinsicInst>(op);
  return isa<FixedVectorType>(op->getType()) &&
         (isa<UnaryOperator, BinaryOperator, FCmpInst>(op) ||
          (intrinsic && isTriviallyVectorizable(intrinsic->getIntrinsicID()))) &&
         any_of(op->operands(), [&](Value *operand) { return unpacked.contains(operand) || hasNegatedLane(operand); });
}

/// `op` on scalars.
static Value *computeLanes(Instruction *op) {
  auto *vector = cast<FixedVectorType>(op->getType());
  auto *intrinsic = dyn_cast<IntrinsicInst>(op);
  IRBuilder<> builder(op);
  Value *all = PoisonValue::get(vector);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    auto scalar = [&](Value *operand) {
      return operand->getType()->isVectorTy() ? builder.CreateExtractElement(operand, lane) : operand;
    };
    Value *made;
    if (intrinsic) {
      SmallVector<Value *> arguments = map_to_vector(intrinsic->args(), [&](Use &use) { return scalar(use); });
      made = builder.CreateIntrinsic(vector->getElementType(), intrinsic->getIntrinsicID(), arguments, intrinsic);
    } else if (auto *compare = dyn_cast<FCmpInst>(op)) {
      made = builder.CreateFCmpFMF(compare->getPredicate(), scalar(op->getOperand(0)), scalar(op->getOperand(1)), op);
    } else {
      SmallVector<Value *> operands = map_to_vector(op->operands(), [&](Use &use) { return scalar(use); });
      made = builder.CreateNAryOp(op->getOpcode(), operands);
      if (auto *instruction = dyn_cast<Instruction>(made))
        instruction->copyIRFlags(op);
    }
    all = builder.CreateInsertElement(all, made, lane);
  }
  return all;
}

void tilewright::unpackSignedHalves(Module &module) {
  SmallPtrSet<Value *, 16> unpacked;
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      if (!goesByLanes(&instruction, unpacked))
        continue;
      Value *made = computeLanes(&instruction);
      if (isVectorOfHalves(made->getType()))
        unpacked.insert(made);
      instruction.replaceAllUsesWith(made);
      instruction.eraseFromParent();
    }
}
