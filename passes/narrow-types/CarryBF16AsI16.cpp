//===- CarryBF16AsI16.cpp - bf16 is moved as the integer of its bits ------===//
#include "dialects/Tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/PassSupport.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CARRYBF16ASI16
#include "passes/narrow-types/Passes.h.inc"

namespace {

struct CarryBF16AsI16 : impl::CarryBF16AsI16Base<CarryBF16AsI16> {
  void runOnOperation() override {
    // Of types of tiles bf16 is a part that they could not have as an integer.
    WalkResult found = getOperation().walk([](Operation *op) {
      for (Type type : op->getResultTypes())
        if (isa<tile::TileDialect>(type.getDialect())) {
          op->emitError() << "expected tiles to be lowered, got " << type;
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (found.wasInterrupted())
      return signalPassFailure();
    Type i16 = IntegerType::get(&getContext(), 16);
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](BFloat16Type) { return i16; });
    replacer.addReplacement([&](FloatAttr attr) -> std::optional<Attribute> {
      if (!attr.getType().isBF16())
        return std::nullopt;
      return IntegerAttr::get(i16, attr.getValue().bitcastToAPInt());
    });
    replacer.addReplacement([&](DenseElementsAttr attr) -> std::optional<Attribute> {
      if (!attr.getElementType().isBF16())
        return std::nullopt;
      return attr.bitcast(i16);
    });
    // What an argument is for its caller stays.
    replacer.addReplacement([&](DictionaryAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
      if (!attr.contains(te::kDtypeAttr))
        return std::nullopt;
      NamedAttrList entries;
      for (NamedAttribute entry : attr)
        entries.set(entry.getName(),
                    entry.getName() == te::kDtypeAttr ? entry.getValue() : replacer.replace(entry.getValue()));
      return std::pair<Attribute, WalkResult>(entries.getDictionary(&getContext()), WalkResult::skip());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    getOperation().walk([](LLVM::BitcastOp op) {
      if (op.getType() != op.getArg().getType())
        return;
      op.replaceAllUsesWith(op.getArg());
      op.erase();
    });
  }
};

} // namespace
} // namespace tilewright
