//===- ExpandTileMaps.cpp - fragments, element by element -----------------===//
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_EXPANDTILEMAPS
#include "passes/tile-to-nvvm/Passes.h.inc"

namespace {
struct ExpandTileMaps : impl::ExpandTileMapsBase<ExpandTileMaps> {
  void runOnOperation() override {
    SmallVector<tile::MapOp> maps;
    getOperation().walk([&](tile::MapOp map) { maps.push_back(map); });
    for (tile::MapOp map : maps)
      expand(map);
  }

  static void expand(tile::MapOp map) {
    OpBuilder builder(map);
    Location loc = map.getLoc();
    Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
    AffineExpr t = builder.getAffineDimExpr(0);
    auto apply = [&](AffineExpr expr) {
      return affine::makeComposedAffineApply(builder, loc, expr, {OpFoldResult(thread)}).getResult();
    };
    // Of each 8 rows a warp holds its lanes are 4 a row, and each lane has two neighbours (FragmentType).
    AffineExpr row = (t % 128).floorDiv(32) * 16 + (t % 32).floorDiv(4), column = t % 4 * 2;
    Value rows[] = {apply(row), apply(row + 8)};
    Block &body = map.getBody().front();
    auto yield = cast<tile::YieldOp>(body.getTerminator());
    SmallVector<Value> elements;
    for (int64_t number = 0; number < map.getResult().getType().getElementsPerThread(); ++number) {
      IRMapping mapping;
      unsigned count = map.getFragments().size();
      for (auto [argument, fragment] : llvm::zip(body.getArguments(), map.getFragments()))
        mapping.map(argument, tile::ExtractOp::create(builder, loc, argument.getType(), fragment, number));
      mapping.map(body.getArgument(count), rows[number / 2 % 2]);
      mapping.map(body.getArgument(count + 1), apply(column + number / 4 * 8 + number % 2));
      for (Operation &op : body.without_terminator())
        builder.clone(op, mapping);
      elements.push_back(mapping.lookupOrDefault(yield.getElement()));
    }
    Value result = tile::AssembleOp::create(builder, loc, map.getResult().getType(), elements);
    map.replaceAllUsesWith(result);
    map.erase();
  }
};
} // namespace
} // namespace tilewright
