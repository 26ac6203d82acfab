//===- RaiseReductions.cpp - rows of a fragment that are reduced ----------===//
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileRaiser.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

/// How a store combines what is in its place with an element, and the element.
static std::optional<std::pair<tile::Reduction, Value>> matchCombination(memref::StoreOp store) {
  Operation *op = store.getValue().getDefiningOp();
  std::optional<tile::Reduction> kind;
  if (isa_and_nonnull<arith::AddFOp, arith::AddIOp>(op))
    kind = tile::Reduction::Sum;
  else if (isa_and_nonnull<arith::MaximumFOp, arith::MaxSIOp>(op))
    kind = tile::Reduction::Max;
  else if (isa_and_nonnull<arith::MinimumFOp, arith::MinSIOp>(op))
    kind = tile::Reduction::Min;
  if (!kind)
    return std::nullopt;
  for (unsigned side : {0u, 1u}) {
    auto before = op->getOperand(side).getDefiningOp<memref::LoadOp>();
    if (before && before.getMemRef() == store.getMemRef() && before.getIndices() == store.getIndices())
      return std::pair(*kind, op->getOperand(1 - side));
  }
  return std::nullopt;
}

std::optional<LogicalResult> TileRaiser::raiseRowReduction(Operation *of, ArrayRef<memref::StoreOp> stores) {
  // Each element of the column is maybe set first, and then combined with those of its row.
  if (stores.empty() || stores.size() > 2)
    return std::nullopt;
  memref::StoreOp store = stores.back();
  Value buffer = store.getMemRef();
  auto combination = matchCombination(store);
  if (!combination || !isPrivate(buffer) || !isColumn(buffer))
    return std::nullopt;
  auto [kind, element] = *combination;
  auto refuse = [&] {
    return error("wgmma", store.getLoc())
           << "stage '" << getBufferName(buffer) << "' of the accumulator of '" << getStage() << "': ";
  };
  SmallVector<scf::ForOp> loops = getLoopsAround(store, of);
  Elements elements{of, store, {}, {}, {}, {}};
  elements.reduced = buffer;
  std::optional<index::LinearIndex> row = getRow(buffer, store.getIndices());
  bool isMatched = matchElements(elements);
  if (isMatched && elements.like.isColumn())
    return std::nullopt;
  if (!isMatched || !row || !(*row == elements.row))
    return LogicalResult(refuse() << "expected a reduction of each row of a warpgroup's accumulator to one element");
  auto rowDigits = index::getDigits(elements.row, tile::kWgmmaRows),
       columnDigits = index::getDigits(elements.column, elements.like.getColumns());
  size_t numLoops =
      llvm::count_if(loops, [](scf::ForOp loop) { return index::getLoopExtent(loop.getInductionVar()) != 1; });
  bool isInLoops = llvm::all_of(stores, [](memref::StoreOp one) { return isa<scf::ForOp>(one->getParentOp()); });
  if (!rowDigits || !columnDigits || rowDigits->size() + columnDigits->size() != numLoops || !isInLoops)
    return LogicalResult(refuse() << "expected loops that go through all " << tile::kWgmmaRows << " rows and "
                                  << elements.like.getColumns() << " columns of a warpgroup's accumulator");
  Type type = element.getType();
  if (!type.isF32() && !type.isSignlessInteger(32))
    return LogicalResult(refuse() << "expected rows of f32 or i32 to reduce, got " << type);
  elements.rows = *rowDigits;
  elements.columns = *columnDigits;

  Location loc = store.getLoc();
  if (memref::StoreOp first = stores.front(); first != store) {
    bool isAround = first->getParentOp() != store->getParentOp() && first->getParentOp()->isAncestor(store);
    if (first.getMemRef() != buffer || first.getIndices() != store.getIndices() || !isAround ||
        !matchPattern(first.getValue(), m_Constant()))
      return LogicalResult(refuse() << "expected a reduction that begins with a constant");
    Value value = builder.clone(*first.getValue().getDefiningOp())->getResult(0);
    tiles[buffer] = tile::FillOp::create(builder, first.getLoc(), getFragmentType(buffer), value);
  }
  Value before = tiles.lookup(buffer);
  if (!before)
    return LogicalResult(refuse() << "expected a reduction that begins with a constant");
  auto load = element.getDefiningOp<memref::LoadOp>();
  Value reduced = load && tiles.contains(load.getMemRef()) ? tiles[load.getMemRef()]
                                                           : makeMap(elements, element, type, /*stores=*/false);
  auto made = tile::RowReduceOp::create(builder, loc, before.getType(), kind, reduced, before);
  made->setAttr(te::kStageAttr, builder.getStringAttr(getBufferName(buffer)));
  tiles[buffer] = made;
  return success();
}
} // namespace tilewright
