//===- DeferStores.cpp - tiles stored while the next one is computed ------===//
//
// A block that goes through several tiles holds what it stores of a tile in registers, rounded, begins the matmuls of
// the next, and then stores it: the tensor cores do not wait for that. What is left after the last tile is stored at
// the end.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/loops-to-tile/FragmentAccumulation.h"
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_DEFERSTORES
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
/// A fragment of zeros in the place of one that is not there.
Value makeZeros(OpBuilder &builder, Location loc, tile::FragmentType type) {
  auto map = tile::MapOp::create(builder, loc, type, ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  Type index = builder.getIndexType();
  builder.createBlock(&map.getBody(), {}, {index, index}, {loc, loc});
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  tile::YieldOp::create(builder, loc, zero);
  return map.getResult();
}

/// A tile that is held in registers, and where it is to be stored.
struct HeldTile {
  Value fragment, isThere;
  SmallVector<Value> coordinates;
  Value width; // of tiles of several widths

  static HeldTile take(ValueRange values, size_t coordinates, bool hasWidth) {
    return {values[0], values[1], SmallVector<Value>(values.slice(2, coordinates)), hasWidth ? values.back() : Value()};
  }
  SmallVector<Value> getValues() const {
    SmallVector<Value> values = {fragment, isThere};
    values.append(coordinates);
    if (width)
      values.push_back(width);
    return values;
  }
};

/// Defers one store.
class StoreDeferrer {
public:
  StoreDeferrer(tile::KernelOp kernel, tile::StoreOp store) : kernel(kernel), store(store), builder(store) {}
  LogicalResult defer();

private:
  /// Stores parts of what is held, if there is anything.
  void emitHeld(const HeldTile &held, int64_t firstPart, int64_t parts) {
    OpBuilder::InsertionGuard guard(builder);
    Location loc = getIterationLoc();
    builder.setInsertionPointToStart(
        scf::IfOp::create(builder, loc, held.isThere, /*withElseRegion=*/false).thenBlock());
    emitParts(held, firstPart, parts);
  }
  void emitParts(const HeldTile &held, int64_t firstPart, int64_t parts) {
    auto made = cast<tile::StoreOp>(builder.clone(*store));
    made.getFragmentMutable().assign(held.fragment);
    made.getCoordinatesMutable().assign(held.coordinates);
    if (held.width)
      made.getWidthMutable().assign(held.width);
    made.setParts(ArrayRef<int64_t>{firstPart, parts});
  }
  void emitBehind(const HeldTile &held, scf::ForOp loop);
  int64_t countStoringIterations(scf::ForOp loop);
  int64_t countPartsBehind(int64_t iteration, int64_t storing) {
    return iteration + 1 == storing ? store.countParts() - iteration : 1;
  }
  Location getIterationLoc() { return accumulations.empty() ? store.getLoc() : accumulations[0].getLoc(); }

  tile::KernelOp kernel;
  tile::StoreOp store;
  OpBuilder builder;
  SmallVector<scf::ForOp> accumulations;
};

struct DeferStores : impl::DeferStoresBase<DeferStores> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels;
    getOperation().walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels) {
      SmallVector<tile::StoreOp> stores;
      kernel.walk([&](tile::StoreOp store) {
        if (store.getDeferred() && !store.getParts())
          stores.push_back(store);
      });
      if (stores.size() > 1) {
        emitError(stores[1].getLoc()) << "copy_by: expected one deferred result, got a second";
        return signalPassFailure();
      }
      for (tile::StoreOp store : stores)
        if (failed(StoreDeferrer(kernel, store).defer()))
          return signalPassFailure();
    }
  }
};

/// Whether the warpgroups of a tile begin its iterations one after the other: each gets through what it does between
/// two tiles while the tensor cores do what the others began. Not those that share iterations with other blocks, for
/// which this gains little: what they know of their shares takes the registers that it needs.
bool alternatesIterations(tile::KernelOp kernel, ArrayRef<scf::ForOp> loops) {
  return kernel.getRegisters() && kernel.getPingpong() == 1 && kernel.getWarpgroups() > 1 &&
         llvm::none_of(loops, [](scf::ForOp loop) { return loop->hasAttr(tile::kLeastIterationsAttr); });
}
} // namespace

/// A part takes less time than the matmuls of an iteration, so one is stored after each, if every tile has as many.
int64_t StoreDeferrer::countStoringIterations(scf::ForOp loop) {
  int64_t least = 1;
  if (auto known = loop->getAttrOfType<IntegerAttr>(tile::kLeastIterationsAttr))
    least = known.getInt();
  else if (std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound());
           end && getConstantIntValue(loop.getLowerBound()))
    least = *end;
  return std::min(least, store.countParts());
}

/// Inside of the loop over iterations: unrolled before it, these would double the time that a kernel takes to compile.
void StoreDeferrer::emitBehind(const HeldTile &held, scf::ForOp loop) {
  int64_t storing = countStoringIterations(loop);
  bool isPeeled = !isZeroFill(loop.getInitArgs()[0]);
  if (isPeeled) {
    builder.setInsertionPoint(loop);
    emitHeld(held, 0, countPartsBehind(0, storing));
  }
  if (storing == int64_t(isPeeled))
    return;
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  Numbers numbers{builder, loop.getLoc()};
  auto startIf = [&](Value condition) {
    builder.setInsertionPointToStart(
        scf::IfOp::create(builder, loop.getLoc(), condition, /*withElseRegion=*/false).thenBlock());
  };
  // Counted from the iteration before the loop on, where there is one.
  Value number = loop.getInductionVar(), first = loop.getLowerBound();
  if (!getConstantIntValue(first)) {
    if (auto second = first.getDefiningOp<arith::AddIOp>(); second && isPeeled)
      first = second.getLhs();
    number = numbers.subtract(number, first);
  }
  startIf(numbers.both(held.isThere, numbers.isLess(number, storing)));
  for (int64_t part = isPeeled; part < storing; ++part) {
    OpBuilder::InsertionGuard inner(builder);
    startIf(numbers.isEqual(number, part));
    emitParts(held, part, countPartsBehind(part, storing));
  }
}

LogicalResult StoreDeferrer::defer() {
  // The loop over tiles, and maybe a condition around the store.
  auto guard = dyn_cast<scf::IfOp>(store->getParentOp());
  auto tiles = dyn_cast<scf::ForOp>(guard ? guard->getParentOp() : store->getParentOp());
  if (!tiles || tiles.getNumResults())
    return emitError(store.getLoc()) << "copy_by: expected a loop over tiles around a deferred result";
  Location loc = store.getLoc();
  tiles->walk([&](scf::ForOp loop) {
    if (isAccumulation(loop))
      accumulations.push_back(loop);
  });
  if (accumulations.size() != 1)
    return emitError(loc)
           << "copy_by: expected one loop with a matmul for a deferred result, which is stored behind the next "
              "tile's matmuls, got "
           << accumulations.size();
  bool alternates = alternatesIterations(kernel, accumulations);
  Location at = getIterationLoc();
  int64_t warpgroups = kernel.getWarpgroups();
  Value warpgroup = kernel.getWarpgroup();
  if (auto role = tiles->getParentOfType<tile::RoleOp>())
    warpgroup = role.getBody().getArgument(0);
  auto onlyBy = [&](int64_t number, auto make) {
    OpBuilder::InsertionGuard inner(builder);
    Value isIt = Numbers{builder, at}.isEqual(warpgroup, number);
    builder.setInsertionPointToStart(scf::IfOp::create(builder, at, isIt, /*withElseRegion=*/false).thenBlock());
    make();
  };

  // Nothing is held before the first tile.
  builder.setInsertionPoint(tiles);
  Numbers numbers{builder, at};
  tile::FragmentType type = store.getFragment().getType();
  HeldTile nothing{makeZeros(builder, loc, type), arith::ConstantIntOp::create(builder, at, 0, 1),
                   SmallVector<Value>(store.getCoordinates().size(), numbers.constant(0)), Value()};
  if (store.getWidth())
    nothing.width = numbers.constant(0);
  if (alternates) // The first warpgroup's first turn, which none had before it.
    onlyBy(warpgroups - 1, [&] { tile::PassTurnOp::create(builder, at, warpgroup, warpgroups, 1); });
  auto made = scf::ForOp::create(builder, tiles.getLoc(), tiles.getLowerBound(), tiles.getUpperBound(), tiles.getStep(),
                                 nothing.getValues());
  made->setDiscardableAttrs(tiles->getDiscardableAttrDictionary());
  tiles.getInductionVar().replaceAllUsesWith(made.getInductionVar());
  tiles.getBody()->getTerminator()->erase();
  made.getBody()->getOperations().splice(made.getBody()->end(), tiles.getBody()->getOperations());
  size_t count = store.getCoordinates().size();
  bool hasWidth = bool(store.getWidth());
  HeldTile held = HeldTile::take(made.getRegionIterArgs(), count, hasWidth);
  emitBehind(held, accumulations[0]);

  // What is stored of this tile is held. Its place is known before what is computed of its accumulator.
  HeldTile next{store.getFragment(), Value(), {}, store.getWidth()};
  Operation *behind = guard ? guard.getOperation() : store.getOperation();
  for (Operation *op = accumulations[0]->getNextNode(); !guard && op != store; op = op->getNextNode())
    if (isa<tile::MapOp>(op)) {
      behind = op;
      break;
    }
  llvm::SmallPtrSet<Operation *, 8> needed;
  std::function<void(Value)> need = [&](Value value) {
    Operation *op = value.getDefiningOp();
    Operation *here = op ? made.getBody()->findAncestorOpInBlock(*op) : nullptr;
    if (!here || here->isBeforeInBlock(behind) || !needed.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      need(operand);
  };
  for (Value coordinate : store.getCoordinates())
    need(coordinate);
  builder.setInsertionPoint(behind);
  IRMapping mapping;
  for (Operation &op : llvm::make_early_inc_range(*store->getBlock()))
    if (needed.contains(&op))
      builder.clone(op, mapping);
  for (Value coordinate : store.getCoordinates())
    next.coordinates.push_back(mapping.lookupOrDefault(coordinate));
  if (guard) {
    auto choice = scf::IfOp::create(builder, at, type, guard.getCondition(), /*withElseRegion=*/true);
    Block *then = choice.thenBlock();
    then->getOperations().splice(then->begin(), guard.thenBlock()->getOperations(), guard.thenBlock()->begin(),
                                 guard.thenBlock()->getTerminator()->getIterator());
    OpBuilder inner = OpBuilder::atBlockEnd(then);
    scf::YieldOp::create(inner, at, store.getFragment());
    inner = OpBuilder::atBlockEnd(choice.elseBlock());
    scf::YieldOp::create(inner, at, makeZeros(inner, loc, type));
    next.fragment = choice.getResult(0);
    next.isThere = guard.getCondition();
    guard.erase();
  }
  builder.setInsertionPointToEnd(made.getBody());
  if (!next.isThere)
    next.isThere = arith::ConstantIntOp::create(builder, at, 1, 1);
  scf::YieldOp::create(builder, at, next.getValues());
  builder.setInsertionPointAfter(made);
  emitHeld(HeldTile::take(made.getResults(), count, hasWidth), 0, store.countParts());
  if (alternates) {
    onlyBy(0, [&] { tile::TakeTurnOp::create(builder, at, warpgroup, warpgroups, 1); });
    made->walk([&](tile::MatmulOp matmul) {
      if (!isa_and_nonnull<tile::MatmulOp>(matmul->getPrevNode())) {
        OpBuilder around(matmul);
        tile::TakeTurnOp::create(around, at, warpgroup, warpgroups, 1);
      }
      if (!isa<tile::MatmulOp>(matmul->getNextNode())) {
        OpBuilder around(matmul->getContext());
        around.setInsertionPointAfter(matmul);
        tile::PassTurnOp::create(around, at, warpgroup, warpgroups, 1);
      }
    });
  }
  store.erase();
  tiles.erase();
  return success();
}
} // namespace tilewright
