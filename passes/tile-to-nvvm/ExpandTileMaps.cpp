//===- ExpandTileMaps.cpp - fragments, element by element -----------------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
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
    getOperation().walk([](tile::SaveFragmentOp save) { expand(save); });
    getOperation().walk([](tile::RestoreFragmentOp restore) { expand(restore); });
  }

  /// A thread's elements, this many at a time, beside those of its neighbours: of how many, and where the first are.
  static constexpr int64_t kAtOnce = 4;
  static int64_t getElementsPerThread(MemRefType saved) { return saved.getShape().back() / tile::kWarpgroupSize; }
  static Value getFirst(OpBuilder &builder, Location loc) {
    Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
    return affine::makeComposedAffineApply(builder, loc, builder.getAffineDimExpr(0) % tile::kWarpgroupSize * kAtOnce,
                                           {OpFoldResult(thread)});
  }
  static Value getPlace(OpBuilder &builder, Location loc, Value first, int64_t number) {
    return affine::makeComposedAffineApply(builder, loc, builder.getAffineDimExpr(0) + number * tile::kWarpgroupSize,
                                           {OpFoldResult(first)});
  }
  static llvm::Align getAlignment(MemRefType saved) {
    return llvm::Align(kAtOnce * saved.getElementTypeBitWidth() / 8);
  }

  static void expand(tile::SaveFragmentOp save) {
    OpBuilder builder(save);
    Location loc = save.getLoc();
    auto type = cast<MemRefType>(save.getBuffer().getType());
    Type element = type.getElementType();
    Value first = getFirst(builder, loc);
    for (int64_t number = 0; number < getElementsPerThread(type); number += kAtOnce) {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < kAtOnce; ++i)
        elements.push_back(tile::ExtractOp::create(builder, loc, element, save.getFragment(), number + i));
      Value vector = vector::FromElementsOp::create(builder, loc, VectorType::get({kAtOnce}, element), elements);
      vector::StoreOp::create(builder, loc, vector, save.getBuffer(),
                              ValueRange{save.getRow(), getPlace(builder, loc, first, number)}, /*nontemporal=*/false,
                              llvm::MaybeAlign(getAlignment(type)));
    }
    save.erase();
  }

  static void expand(tile::RestoreFragmentOp restore) {
    OpBuilder builder(restore);
    Location loc = restore.getLoc();
    auto type = cast<MemRefType>(restore.getBuffer().getType());
    auto vectorType = VectorType::get({kAtOnce}, type.getElementType());
    Value first = getFirst(builder, loc);
    SmallVector<Value> elements;
    for (int64_t number = 0; number < getElementsPerThread(type); number += kAtOnce) {
      Value vector = vector::LoadOp::create(builder, loc, vectorType, restore.getBuffer(),
                                            ValueRange{restore.getRow(), getPlace(builder, loc, first, number)},
                                            /*nontemporal=*/false, llvm::MaybeAlign(getAlignment(type)));
      for (int64_t i = 0; i < kAtOnce; ++i)
        elements.push_back(vector::ExtractOp::create(builder, loc, vector, i));
    }
    restore.replaceAllUsesWith(
        tile::AssembleOp::create(builder, loc, restore.getFragment().getType(), elements).getResult());
    restore.erase();
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
    AffineExpr row = (t % kWarpgroupSize).floorDiv(kWarpSize) * 16 + (t % kWarpSize).floorDiv(4), column = t % 4 * 2;
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
