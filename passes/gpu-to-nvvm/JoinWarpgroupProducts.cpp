//===- JoinWarpgroupProducts.cpp - products of one step as one inline PTX --===//
//
// LLVM knows no wgmma: each is inline PTX whose accumulator is a struct of up to 128 numbers, and between any two of
// them each number is taken out and handed on. That, and not what the kernel does otherwise, is most of what LLVM sees
// of it.
//
//===----------------------------------------------------------------------===//
#include "passes/PassSupport.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_JOINWARPGROUPPRODUCTS
#include "passes/gpu-to-nvvm/Passes.h.inc"

namespace {

/// The numbers of an accumulator that a product gives back; nothing where the op is no product.
std::optional<unsigned> countResults(LLVM::InlineAsmOp op) {
  auto type = op->getNumResults() ? dyn_cast<LLVM::LLVMStructType>(op.getResult(0).getType()) : nullptr;
  if (!type || !op.getAsmString().contains("wgmma.mma_async"))
    return std::nullopt;
  return type.getBody().size();
}

/// The product whose numbers this one adds to, all of which it takes and nobody else.
LLVM::InlineAsmOp findBefore(LLVM::InlineAsmOp op) {
  std::optional<unsigned> count = countResults(op);
  if (!count || op.getOperands().size() < *count)
    return nullptr;
  LLVM::InlineAsmOp before;
  for (unsigned number = 0; number < *count; ++number) {
    auto extract = op.getOperand(number).getDefiningOp<LLVM::ExtractValueOp>();
    auto from = extract ? extract.getContainer().getDefiningOp<LLVM::InlineAsmOp>() : nullptr;
    if (!from || (before && from != before) || !extract->hasOneUse() ||
        extract.getPosition() != ArrayRef<int64_t>(number))
      return nullptr;
    before = from;
  }
  bool isAlone = countResults(before) == count && before->getBlock() == op->getBlock() &&
                 llvm::range_size(before->getUsers()) == *count;
  for (Operation *between = before->getNextNode(); isAlone && between != op; between = between->getNextNode())
    isAlone = isMemoryEffectFree(between);
  return isAlone ? before : nullptr;
}

/// The text, whose operands that are no numbers of the accumulator begin so much later.
std::string renumber(StringRef text, unsigned count, size_t later) {
  std::string result;
  while (!text.empty()) {
    auto [plain, rest] = text.split('$');
    result += plain;
    StringRef digits = rest.take_while(llvm::isDigit);
    unsigned number;
    if (!digits.getAsInteger(10, number))
      result += "$" + std::to_string(number < 2 * count ? number : number + later);
    text = rest.drop_front(digits.size());
  }
  return result;
}

struct JoinWarpgroupProducts : impl::JoinWarpgroupProductsBase<JoinWarpgroupProducts> {
  void runOnOperation() override {
    SmallVector<LLVM::InlineAsmOp> products;
    getOperation().walk([&](LLVM::InlineAsmOp op) { products.push_back(op); });
    for (LLVM::InlineAsmOp product : products)
      if (LLVM::InlineAsmOp before = findBefore(product))
        join(before, product);
  }

  static void join(LLVM::InlineAsmOp before, LLVM::InlineAsmOp product) {
    unsigned count = *countResults(product);
    // Results, the same numbers as operands, and then what each product has of its own.
    SmallVector<StringRef> constraints, own;
    before.getConstraints().split(constraints, ',');
    product.getConstraints().split(own, ',');
    if (constraints.size() != count + before.getOperands().size() || own.size() != count + product.getOperands().size())
      return;
    constraints.append(own.begin() + 2 * count, own.end());
    SmallVector<Value> numbers(product.getOperands().take_front(count)), operands(before.getOperands());
    llvm::append_range(operands, product.getOperands().drop_front(count));
    std::string text =
        before.getAsmString().str() + renumber(product.getAsmString(), count, before.getOperands().size() - count);
    product->setOperands(operands);
    product.setAsmString(text);
    product.setConstraints(llvm::join(constraints, ","));
    for (Value number : numbers)
      number.getDefiningOp()->erase();
    before->erase();
  }
};

} // namespace
} // namespace tilewright
