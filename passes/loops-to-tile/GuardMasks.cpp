//===- GuardMasks.cpp - masks for the tiles that they cut -----------------===//
//
// Where a mask's condition holds for all elements of a tile, nothing is chosen: such a tile needs neither the places of
// its elements nor the comparisons. Which tiles those are is known from the tile's place, once for a warpgroup. A block
// of a persistent kernel that has few tiles keeps one copy of the map: the code of another has to come from memory.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-tile/Masks.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_GUARDMASKS
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
/// A second copy of a map has to save as much as it costs to fetch: what it saves grows with the columns of the tiles
/// that a warpgroup computes one after the other. Kernels of 256 were measured to lose time, those of 512 to gain.
constexpr int64_t kLeastColumns = 512;

/// Whether a loop begins at the place of its block: it goes through the tiles of one.
static bool isOfBlock(Value begin) {
  Operation *op = begin.getDefiningOp();
  return isa_and_nonnull<gpu::BlockIdOp, gpu::ClusterIdOp>(op) ||
         (isa_and_nonnull<arith::AddIOp>(op) && llvm::any_of(op->getOperands(), isOfBlock));
}

/// How many tiles a warpgroup of a persistent kernel computes with the map at most, if nothing else repeats the map.
static std::optional<int64_t> getTilesOfWarpgroup(tile::MapOp map) {
  std::optional<int64_t> tiles;
  for (auto loop = map->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>()) {
    auto end = getConstantIntValue(loop.getUpperBound()), step = getConstantIntValue(loop.getStep());
    if (!isOfBlock(loop.getLowerBound()) || !end || !step)
      return std::nullopt;
    tiles = tiles.value_or(1) * llvm::divideCeil(*end, *step);
  }
  return tiles;
}

/// Whether a warpgroup computes too few tiles with the map for a second copy.
static bool isOfFewTiles(tile::MapOp map) {
  auto tiles = getTilesOfWarpgroup(map);
  return tiles && *tiles * map.getResult().getType().getColumns() < kLeastColumns;
}

/// The masks of one map.
class MaskedMap {
public:
  explicit MaskedMap(tile::MapOp map) : map(map) {}
  /// Whether there is a mask whose condition may hold for a whole tile.
  bool match();
  /// Computes the masks only where they cut the tile. Gives back what does.
  Operation *guard();

private:
  bool isKnownBefore(Value value) const { return !map->isAncestor(value.getParentBlock()->getParentOp()); }
  /// The comparisons that all have to hold.
  void collect(Value condition);
  /// The least margin of a comparison in the tile, which the tile's place tells.
  std::optional<index::LinearIndex> getLeast(Value condition);
  /// The fragment of which the map chooses elements, where it does nothing else.
  Value getChosen();
  void yieldUnmasked(OpBuilder &builder);
  /// This map, and equal ones behind it in its block: the scores of several reductions are one fragment.
  SmallVector<Operation *> getEqual();

  tile::MapOp map;
  llvm::SmallMapVector<Value, index::LinearIndex, 4> conditions;
  SmallVector<memref::LoadOp> loaded;
};

std::optional<index::LinearIndex> MaskedMap::getLeast(Value condition) {
  auto getLoaded = [&](memref::LoadOp load) -> std::optional<index::LinearIndex> {
    if (load->getParentOp() != map ||
        !llvm::all_of(load->getOperands(), [&](Value value) { return isKnownBefore(value); }))
      return std::nullopt;
    loaded.push_back(load);
    index::LinearIndex term;
    term.terms[load.getResult()] = 1;
    return term;
  };
  auto least = getMargin(condition, getLoaded);
  if (!least)
    return std::nullopt;
  Block &body = map.getBody().front();
  unsigned count = map.getFragments().size();
  std::pair<Value, int64_t> extents[] = {{body.getArgument(count), tile::kWgmmaRows},
                                         {body.getArgument(count + 1), map.getResult().getType().getColumns()}};
  for (auto [value, extent] : extents) {
    least->constant += std::min<int64_t>(least->terms.lookup(value), 0) * (extent - 1);
    least->terms.erase(value);
  }
  bool isOfPlace = llvm::all_of(least->terms, [&](auto term) {
    return isKnownBefore(term.first) || llvm::is_contained(loaded, term.first.getDefiningOp());
  });
  bool isNever = least->terms.empty() && least->constant < 0;
  return isOfPlace && !isNever ? least : std::nullopt;
}

void MaskedMap::collect(Value condition) {
  Operation *op = condition.getDefiningOp();
  if (!op || op->getParentOp() != map)
    return;
  if (isa<arith::AndIOp>(op)) {
    for (Value part : op->getOperands())
      collect(part);
    return;
  }
  // Of two conditions one that the place tells is enough.
  auto choice = dyn_cast<arith::SelectOp>(op);
  bool isEither = isa<arith::OrIOp>(op) || (choice && matchPattern(choice.getTrueValue(), m_One()));
  for (Value part : isEither ? ValueRange(op->getOperands().take_front(choice ? 1 : 2)) : ValueRange(condition))
    if (auto least = getLeast(part)) {
      conditions.insert({condition, *least});
      return;
    }
}

bool MaskedMap::match() {
  if (isOfFewTiles(map))
    return false;
  if (!onlyReads(map))
    return false;
  for (Operation &op : map.getBody().front())
    if (auto mask = matchMask(&op))
      collect(mask->second);
  return !conditions.empty();
}

Value MaskedMap::getChosen() {
  Block &body = map.getBody().front();
  auto select = cast<tile::YieldOp>(body.getTerminator()).getElement().getDefiningOp<arith::SelectOp>();
  auto element = select && conditions.contains(select.getCondition()) ? dyn_cast<BlockArgument>(select.getTrueValue())
                                                                      : BlockArgument();
  if (!element || element.getOwner() != &body || element.getArgNumber() >= map.getFragments().size())
    return nullptr;
  Value fragment = map.getFragments()[element.getArgNumber()];
  return fragment.getType() == map.getResult().getType() ? fragment : nullptr;
}

void MaskedMap::yieldUnmasked(OpBuilder &builder) {
  Value result = getChosen();
  if (!result) {
    IRMapping mapping;
    auto whole = cast<tile::MapOp>(builder.clone(*map, mapping));
    OpBuilder inner = OpBuilder::atBlockBegin(&whole.getBody().front());
    Value known = arith::ConstantIntOp::create(inner, map.getLoc(), 1, 1);
    for (auto &[condition, least] : conditions)
      mapping.lookup(condition).replaceAllUsesWith(known);
    result = whole;
  }
  scf::YieldOp::create(builder, map.getLoc(), result);
}

SmallVector<Operation *> MaskedMap::getEqual() {
  auto kernel = map->getParentOfType<tile::KernelOp>();
  auto flags = OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs;
  SmallVector<Operation *> equal = {map};
  // What is read stays the same where the kernel does not write there.
  bool isKept = !map.walk([&](memref::LoadOp load) {
                      return WalkResult(failure(llvm::any_of(load.getMemRef().getUsers(), [&](Operation *user) {
                        return hasEffect<MemoryEffects::Write>(user, load.getMemRef()) && kernel->isAncestor(user);
                      })));
                    })
                     .wasInterrupted();
  // Operands in their order: upstream sorts those of commutative ops by address, and misses equal ones.
  for (Operation *op = map->getNextNode(); op; op = op->getNextNode()) {
    DenseMap<Value, Value> known;
    auto isEqual = [&](Value own, Value other) { return success(own == other || known.lookup(own) == other); };
    auto learn = [&](Value own, Value other) { known[own] = other; };
    if (isKept && OperationEquivalence::isEquivalentTo(map, op, isEqual, learn, flags))
      equal.push_back(op);
  }
  return equal;
}

Operation *MaskedMap::guard() {
  OpBuilder builder(map);
  Location loc = map.getLoc();
  IRMapping mapping;
  for (memref::LoadOp load : loaded)
    if (!mapping.contains(load)) {
      Value number = builder.clone(*load)->getResult(0);
      mapping.map(load.getResult(),
                  arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number).getResult());
    }
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0), isWhole;
  for (auto &[condition, least] : conditions) {
    Value margin = least.materialize(builder, loc, mapping);
    Value holds = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, margin, zero);
    isWhole = isWhole ? builder.createOrFold<arith::AndIOp>(loc, isWhole, holds) : holds;
  }
  auto choice = scf::IfOp::create(
      builder, loc, isWhole, [&](OpBuilder &inner, Location) { yieldUnmasked(inner); },
      [&](OpBuilder &inner, Location) { scf::YieldOp::create(inner, loc, inner.clone(*map)->getResult(0)); });
  for (Operation *op : getEqual()) {
    op->replaceAllUsesWith(choice);
    op->erase();
  }
  return choice;
}

struct GuardMasks : impl::GuardMasksBase<GuardMasks> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](tile::MapOp map) {
      if (!llvm::is_contained(blocks, map->getBlock()))
        blocks.push_back(map->getBlock());
    });
    for (Block *block : blocks)
      for (Operation *op = &block->front(); op; op = op->getNextNode())
        if (auto map = dyn_cast<tile::MapOp>(op))
          if (MaskedMap masked(map); masked.match())
            op = masked.guard();
  }
};
} // namespace
} // namespace tilewright
