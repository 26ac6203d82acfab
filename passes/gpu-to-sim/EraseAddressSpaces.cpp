//===- EraseAddressSpaces.cpp - on a processor there is one memory --------===//
#include "passes/PassSupport.h"

#include "mlir/IR/AttrTypeSubElements.h"

namespace tilewright {
#define GEN_PASS_DEF_ERASEADDRESSSPACES
#include "passes/gpu-to-sim/Passes.h.inc"

using namespace mlir;
namespace {

struct EraseAddressSpaces : impl::EraseAddressSpacesBase<EraseAddressSpaces> {
  void runOnOperation() override {
    AttrTypeReplacer replacer;
    replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
      if (!isa_and_nonnull<gpu::AddressSpaceAttr>(type.getMemorySpace()))
        return std::nullopt;
      return MemRefType::get(type.getShape(), type.getElementType(), type.getLayout());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    // A cast between memory spaces casts nothing any more.
    getOperation()->walk([](memref::MemorySpaceCastOp cast) {
      cast.replaceAllUsesWith(cast.getSource());
      cast.erase();
    });
  }
};

} // namespace
} // namespace tilewright
