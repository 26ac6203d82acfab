//===- WideProducts.cpp - high halves of products that ptxas gets right ----===//
#include "passes/gpu-to-nvvm/WideProducts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/DivisionByConstantInfo.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;
using namespace llvm::PatternMatch;

static bool hasBits(Value *value, unsigned bits) { return value->getType()->isIntOrIntVectorTy(bits); }

/// Whether `function` subtracts in 64 bits, or will when LLVM's back end has made its choices.
static bool subtractsIn64Bits(Function &function) {
  return any_of(instructions(function), [](Instruction &instruction) {
    if (!hasBits(&instruction, 64))
      return false;
    if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction))
      return is_contained({Intrinsic::abs, Intrinsic::usub_sat, Intrinsic::ssub_sat}, intrinsic->getIntrinsicID());
    const APInt *factor;
    if (match(&instruction, m_Mul(m_Value(), m_APInt(factor))))
      return factor->isNegative();
    return match(&instruction, m_Sub(m_Value(), m_Value())) || match(&instruction, m_Not(m_Value()));
  });
}

/// Whether `value` becomes a number of 64 bits, maybe after it was cut, or chosen among others.
static bool isExtended(Value *value, SmallPtrSetImpl<Value *> &seen) {
  return any_of(value->users(), [&](User *user) {
    if (isa<ZExtInst, SExtInst>(user))
      return true;
    return isa<PHINode, SelectInst, FreezeInst, TruncInst>(user) && seen.insert(user).second && isExtended(user, seen);
  });
}

/// The products of 32 bits of `a` and `b`, in 64.
static Value *multiply(IRBuilder<> &builder, Value *a, Value *b, bool isSigned) {
  Type *i32 = builder.getInt32Ty(), *i64 = builder.getInt64Ty();
  auto *type = FunctionType::get(i64, {i32, i32}, /*isVarArg=*/false);
  // Inline PTX, for LLVM's back end makes mul.hi of any other form.
  auto *wide = InlineAsm::get(type, isSigned ? "mul.wide.s32 $0, $1, $2;" : "mul.wide.u32 $0, $1, $2;", "=l,r,r",
                              /*hasSideEffects=*/false);
  auto *vector = dyn_cast<FixedVectorType>(a->getType());
  if (!vector)
    return builder.CreateCall(wide, {a, b});
  Value *all = PoisonValue::get(FixedVectorType::get(i64, vector->getNumElements()));
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
    all = builder.CreateInsertElement(
        all, builder.CreateCall(wide, {builder.CreateExtractElement(a, lane), builder.CreateExtractElement(b, lane)}),
        lane);
  return all;
}

/// The quotient of a division by a constant of a number of 32 bits, or null where it does not end in the high half of a
/// product. LLVM's back end makes such divisions of those of 64 bits, too, where it knows the upper half to be 0.
static Value *divide(BinaryOperator *division) {
  const APInt *divisor;
  if (!hasBits(division, 32) && !hasBits(division, 64))
    return nullptr;
  if ((division->getOpcode() != Instruction::UDiv && division->getOpcode() != Instruction::SDiv) ||
      !match(division->getOperand(1), m_APInt(divisor)) || divisor->ule(1) || divisor->isPowerOf2() ||
      !divisor->isIntN(32))
    return nullptr;
  const DataLayout &layout = division->getModule()->getDataLayout();
  Value *number = division->getOperand(0);
  unsigned bits = divisor->getBitWidth(), zeros = computeKnownBits(number, layout).countMinLeadingZeros();
  // What is not negative is divided as if it were unsigned.
  if (zeros < bits - 32 || (division->getOpcode() == Instruction::SDiv && (zeros == 0 || divisor->isNegative())))
    return nullptr;
  auto magic = UnsignedDivisionByConstantInfo::get(divisor->trunc(32), zeros - (bits - 32));
  if (magic.IsAdd)
    return nullptr;
  IRBuilder<> builder(division);
  number = builder.CreateZExtOrTrunc(number, division->getType()->getWithNewBitWidth(32));
  if (magic.PreShift != 0)
    number = builder.CreateLShr(number, magic.PreShift);
  Value *product = multiply(builder, number, ConstantInt::get(number->getType(), magic.Magic), /*isSigned=*/false);
  return builder.CreateZExtOrTrunc(builder.CreateLShr(product, 32 + magic.PostShift), division->getType());
}

/// The same product of 64 bits, of what is known to have 32, or null.
static Value *multiply(BinaryOperator *product) {
  const DataLayout &layout = product->getModule()->getDataLayout();
  Value *a = product->getOperand(0), *b = product->getOperand(1);
  auto isHalf = [&](Value *value) { return computeKnownBits(value, layout).countMinLeadingZeros() >= 32; };
  auto isSignedHalf = [&](Value *value) { return ComputeNumSignBits(value, layout) > 32; };
  bool isUnsigned = isHalf(a) && isHalf(b);
  if (!isUnsigned && !(isSignedHalf(a) && isSignedHalf(b)))
    return nullptr;
  IRBuilder<> builder(product);
  Type *half = product->getType()->getWithNewBitWidth(32);
  return multiply(builder, builder.CreateTrunc(a, half), builder.CreateTrunc(b, half), !isUnsigned);
}

void tilewright::makeHighProductsWide(Module &module) {
  for (Function &function : module) {
    if (!subtractsIn64Bits(function))
      continue;
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *op = dyn_cast<BinaryOperator>(&instruction);
      if (!op)
        continue;
      Value *made = nullptr;
      SmallPtrSet<Value *, 8> seen;
      if (op->isIntDivRem() && (hasBits(op, 64) || isExtended(op, seen)))
        made = divide(op);
      else if (op->getOpcode() == Instruction::Mul && hasBits(op, 64) &&
               any_of(op->users(), [](User *user) { return match(user, m_LShr(m_Value(), m_SpecificInt(32))); }))
        made = multiply(op);
      if (!made)
        continue;
      op->replaceAllUsesWith(made);
      op->eraseFromParent();
    }
  }
}
