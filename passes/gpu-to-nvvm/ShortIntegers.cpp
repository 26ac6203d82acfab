//===- ShortIntegers.cpp - integers of 8 and 16 bits that ptxas gets right -===//
#include "passes/gpu-to-nvvm/ShortIntegers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
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

/// Stores vectors of bytes as vectors of 32-bit words. LLVM's back end makes 64-bit numbers of eight bytes.
static void storeAsWords(StoreInst *store) {
  constexpr unsigned kWordBytes = 4;
  auto *vector = dyn_cast<FixedVectorType>(store->getValueOperand()->getType());
  if (!vector || !vector->getElementType()->isIntegerTy(8) || vector->getNumElements() <= kWordBytes ||
      !store->isSimple() || store->getAlign() < kWordBytes)
    return;
  IRBuilder<> builder(store);
  unsigned size = vector->getNumElements();
  auto bytes = [&](unsigned begin, unsigned number) {
    SmallVector<int> lanes = to_vector(seq<int>(begin, begin + number));
    return builder.CreateShuffleVector(store->getValueOperand(), lanes);
  };
  for (unsigned begin = 0; begin < size;) {
    Align align = commonAlignment(store->getAlign(), begin);
    unsigned words = std::min<uint64_t>({4, align.value() / kWordBytes, bit_floor((size - begin) / kWordBytes)});
    Value *part = words == 0 ? bytes(begin, size - begin) : nullptr;
    if (words == 1)
      part = builder.CreateBitCast(bytes(begin, kWordBytes), builder.getInt32Ty());
    else if (words > 1)
      part = PoisonValue::get(FixedVectorType::get(builder.getInt32Ty(), words));
    for (unsigned word = 0; words > 1 && word < words; ++word)
      part = builder.CreateInsertElement(
          part, builder.CreateBitCast(bytes(begin + word * kWordBytes, kWordBytes), builder.getInt32Ty()), word);
    Value *address = builder.CreateConstInBoundsGEP1_32(builder.getInt8Ty(), store->getPointerOperand(), begin);
    builder.CreateAlignedStore(part, address, align)->copyMetadata(*store);
    begin += words == 0 ? size - begin : words * kWordBytes;
  }
  store->eraseFromParent();
}

void tilewright::widenShortIntegers(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      if (auto *store = dyn_cast<StoreInst>(&instruction)) {
        storeAsWords(store);
      } else if (Value *made = widen(&instruction)) {
        instruction.replaceAllUsesWith(made);
        instruction.eraseFromParent();
      }
    }
}
