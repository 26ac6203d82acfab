//===- PackFragments.cpp - elements of 8 bits, which are rounded together -===//
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PACKFRAGMENTS
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
struct PackFragments : impl::PackFragmentsBase<PackFragments> {
  void runOnOperation() override {
    getOperation().walk([](tile::MapOp map) {
      if (map.getInterleaved())
        pack(map);
    });
  }

  static void pack(tile::MapOp map) {
    auto yield = cast<tile::YieldOp>(map.getBody().front().getTerminator());
    auto rounded = yield.getElement().getDefiningOp<arith::TruncFOp>();
    if (!rounded || !rounded.getIn().getType().isF32())
      return;
    yield.getElementMutable().assign(rounded.getIn());
    if (rounded.use_empty())
      rounded.erase();
    tile::FragmentType type = map.getResult().getType();
    map.setInterleaved(false);
    map.getResult().setType(
        tile::FragmentType::get(type.getContext(), type.getShape(), Float32Type::get(type.getContext())));
    OpBuilder builder(map->getContext());
    builder.setInsertionPointAfter(map);
    auto packed = tile::PackOp::create(builder, map.getLoc(), type, map.getResult());
    map.getResult().replaceAllUsesExcept(packed, packed);
  }
};
} // namespace
} // namespace tilewright
