//===- ExpandTileMaps.cpp - fragments, element by element -----------------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/loops-to-gpu/KernelMemory.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_EXPANDTILEMAPS
#include "passes/tile-to-nvvm/Passes.h.inc"

namespace {
/// The ops of a map, for one element after another. What elements of a row or of a column share is there once.
class CopiedOps {
public:
  /// `mayShare` is whether nothing in the map writes.
  explicit CopiedOps(bool mayShare) : mayShare(mayShare) {}

  void add(OpBuilder &builder, Operation &op, IRMapping &mapping) {
    if (!mayShare || op.getNumRegions()) {
      builder.clone(op, mapping);
      return;
    }
    auto operands = llvm::map_to_vector(op.getOperands(), [&](Value one) { return mapping.lookupOrDefault(one); });
    SmallVector<Operation *> &same = copies[&op];
    auto *found = llvm::find_if(same, [&](Operation *copy) { return llvm::equal(copy->getOperands(), operands); });
    if (found == same.end())
      same.push_back(builder.clone(op, mapping));
    else
      mapping.map(op.getResults(), (*found)->getResults());
  }

private:
  bool mayShare;
  DenseMap<Operation *, SmallVector<Operation *>> copies;
};

struct ExpandTileMaps : impl::ExpandTileMapsBase<ExpandTileMaps> {
  void runOnOperation() override {
    SmallVector<tile::MapOp> maps;
    getOperation().walk([&](tile::MapOp map) { maps.push_back(map); });
    for (tile::MapOp map : maps)
      expand(map);
    getOperation().walk([](tile::RowReduceOp reduce) { expand(reduce); });
    getOperation().walk([](tile::FillOp fill) { expand(fill); });
    getOperation().walk([](tile::SaveFragmentOp save) { expand(save); });
    getOperation().walk([](tile::RestoreFragmentOp restore) { expand(restore); });
    getOperation().walk([](tile::StoreRowsOp store) { expand(store); });
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
    return llvm::Align(kAtOnce * tile::getElementBytes(saved.getElementType()));
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

  /// A warp takes every fourth row.
  static void expand(tile::StoreRowsOp store) {
    OpBuilder builder(store);
    Location loc = store.getLoc();
    Value tensor = store.getTensor();
    if (store.getExtents()) {
      auto own = cast<MemRefType>(tensor.getType());
      auto layout = StridedLayoutAttr::get(store.getContext(), 0, *store.getStrides());
      auto type = MemRefType::get(*store.getExtents(), own.getElementType(), layout, own.getMemorySpace());
      tensor =
          memref::ReinterpretCastOp::create(builder, loc, type, tensor, 0, *store.getExtents(), *store.getStrides());
    }
    tile::BufferType buffer = store.getBuffer().getType();
    ArrayRef<int64_t> box = store.getBox();
    int64_t last = box.size() - 1, columns = box.back();
    auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
    auto apply = [&](AffineExpr expr, ArrayRef<Value> values) -> Value {
      return affine::makeComposedAffineApply(builder, loc, expr, getAsOpFoldResult(values));
    };
    AffineExpr d0 = builder.getAffineDimExpr(0), d1 = builder.getAffineDimExpr(1);
    auto isInside = [&](Value place, int64_t dimension) -> Value {
      Value extent = memref::DimOp::create(builder, loc, tensor, dimension);
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, place, extent);
    };
    Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
    Value warp = apply((d0 % tile::kWarpgroupSize).floorDiv(kWarpSize), {thread});
    Value lane = apply(d0 % kWarpSize, {thread});
    // Of each turn of a warp along a row.
    SmallVector<Value> own, places, inside;
    for (int64_t first = 0; first < columns; first += kWarpSize) {
      own.push_back(apply(d0 + first, {lane}));
      places.push_back(apply(d0 + d1 + first, {store.getCoordinates()[last], lane}));
      inside.push_back(isInside(places.back(), last));
      if (first + kWarpSize > columns)
        inside.back() = arith::AndIOp::create(
            builder, loc, inside.back(),
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, own.back(), constant(columns)));
    }
    auto loop =
        scf::ForOp::create(builder, loc, warp, constant(buffer.getRows()), constant(tile::kWarpgroupSize / kWarpSize));
    builder.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar(), isRow;
    SmallVector<Value> indices(store.getCoordinates());
    int64_t stride = buffer.getRows();
    for (int64_t dimension = 0; dimension < last; ++dimension) {
      stride /= box[dimension];
      indices[dimension] = apply(d0 + d1.floorDiv(stride) % box[dimension], {indices[dimension], row});
      Value within = isInside(indices[dimension], dimension);
      isRow = isRow ? arith::AndIOp::create(builder, loc, isRow, within).getResult() : within;
    }
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isRow, /*withElseRegion=*/false).thenBlock());
    // All that are read first are on their way together. A lane past the last column reads any one of the row.
    SmallVector<Value> elements;
    for (Value column : own) {
      if (columns % kWarpSize)
        column = arith::MinSIOp::create(builder, loc, column, constant(columns - 1));
      elements.push_back(
          tile::ReadElementOp::create(builder, loc, buffer.getElementType(), store.getBuffer(), row, column));
    }
    for (auto [element, place, condition] : llvm::zip(elements, places, inside)) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(
          scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false).thenBlock());
      indices.back() = place;
      memref::StoreOp::create(builder, loc, element, tensor, indices);
    }
    store.erase();
  }

  static void expand(tile::FillOp fill) {
    OpBuilder builder(fill);
    SmallVector<Value> elements(fill.getFragment().getType().getElementsPerThread(), fill.getValue());
    fill.replaceAllUsesWith(
        tile::AssembleOp::create(builder, fill.getLoc(), fill.getFragment().getType(), elements).getResult());
    fill.erase();
  }

  /// Which of a thread's two rows an element is of.
  static int64_t getRow(tile::FragmentType type, int64_t number) { return type.isColumn() ? number : number / 2 % 2; }

  static Value combine(OpBuilder &builder, Location loc, tile::Reduction kind, Value a, Value b) {
    bool isFloat = isa<FloatType>(a.getType());
    switch (kind) {
    case tile::Reduction::Sum:
      return isFloat ? arith::AddFOp::create(builder, loc, a, b).getResult()
                     : arith::AddIOp::create(builder, loc, a, b).getResult();
    case tile::Reduction::Max:
      return isFloat ? arith::MaximumFOp::create(builder, loc, a, b).getResult()
                     : arith::MaxSIOp::create(builder, loc, a, b).getResult();
    case tile::Reduction::Min:
      return isFloat ? arith::MinimumFOp::create(builder, loc, a, b).getResult()
                     : arith::MinSIOp::create(builder, loc, a, b).getResult();
    }
    llvm_unreachable("no kind of reduction");
  }

  /// A thread combines what it holds of each of its two rows, then the four threads of a row what they have.
  static void expand(tile::RowReduceOp reduce) {
    OpBuilder builder(reduce);
    Location loc = reduce.getLoc();
    tile::FragmentType from = reduce.getFragment().getType(), to = reduce.getResult().getType();
    Type element = to.getElementType();
    auto extract = [&](Value fragment, int64_t number) -> Value {
      return tile::ExtractOp::create(builder, loc, element, fragment, number);
    };
    auto both = [&](Value a, Value b) { return a ? combine(builder, loc, reduce.getKind(), a, b) : b; };
    // Neighbours apart: four chains of half the length.
    Value parts[2][2];
    for (int64_t number = 0; number < from.getElementsPerThread(); ++number) {
      Value &part = parts[getRow(from, number)][number % 2];
      part = both(part, extract(reduce.getFragment(), number));
    }
    SmallVector<Value> rows;
    for (int64_t row = 0; row < to.getElementsPerThread(); ++row) {
      Value made = both(parts[row][0], parts[row][1]);
      for (int32_t distance : {1, 2})
        made = both(
            made,
            gpu::ShuffleOp::create(builder, loc, made, distance, kWarpSize, gpu::ShuffleMode::XOR).getShuffleResult());
      rows.push_back(both(extract(reduce.getInit(), row), made));
    }
    reduce.replaceAllUsesWith(tile::AssembleOp::create(builder, loc, to, rows).getResult());
    reduce.erase();
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
    // Two elements of a column, one of each row.
    SmallVector<Value> columns(map.getResult().getType().getElementsPerThread());
    auto getColumn = [&](int64_t number) {
      Value &made = columns[number / 4 * 2 + number % 2];
      if (!made)
        made = apply(column + number / 4 * 8 + number % 2);
      return made;
    };
    Block &body = map.getBody().front();
    auto yield = cast<tile::YieldOp>(body.getTerminator());
    SmallVector<Value> elements;
    tile::FragmentType type = map.getResult().getType();
    // Of the four threads that have a row's one element the first stores it.
    bool isOfFirst = type.isColumn() && !isMemoryEffectFree(map) && isa<BlockArgument>(yield.getElement());
    Value isFirst;
    if (isOfFirst)
      isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, apply(t % 4),
                                      arith::ConstantIndexOp::create(builder, loc, 0));
    CopiedOps copies(!isOfFirst && onlyReads(map));
    for (int64_t number = 0; number < type.getElementsPerThread(); ++number) {
      IRMapping mapping;
      unsigned count = map.getFragments().size();
      int64_t row = getRow(type, number);
      for (auto [argument, fragment] : llvm::zip(body.getArguments(), map.getFragments())) {
        bool isColumn = cast<tile::FragmentType>(fragment.getType()).isColumn();
        mapping.map(argument,
                    tile::ExtractOp::create(builder, loc, argument.getType(), fragment, isColumn ? row : number));
      }
      mapping.map(body.getArgument(count), rows[row]);
      mapping.map(body.getArgument(count + 1),
                  type.isColumn() ? arith::ConstantIndexOp::create(builder, loc, 0).getResult() : getColumn(number));
      OpBuilder::InsertionGuard guard(builder);
      if (isOfFirst)
        builder.setInsertionPointToStart(
            scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false).thenBlock());
      for (Operation &op : body.without_terminator())
        copies.add(builder, op, mapping);
      elements.push_back(mapping.lookupOrDefault(yield.getElement()));
    }
    Value result = tile::AssembleOp::create(builder, loc, map.getResult().getType(), elements);
    map.replaceAllUsesWith(result);
    map.erase();
  }
};
} // namespace
} // namespace tilewright
