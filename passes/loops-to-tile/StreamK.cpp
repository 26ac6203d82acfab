//===- StreamK.cpp - blocks that share the reductions of the last tiles ---===//
//
// Each cluster first computes whole tiles, as long as there are some for all and one turn more. The steps of the tiles
// that are left are dealt out in equal shares that lie together, one after the other, and a share is gone through from its
// end: what it has of a tile that the next share ends is saved first, and its own first tile, which the shares before
// have parts of, comes last. Whoever arrives last has the sum of all parts, always added in the same order, beginning
// with the part that ends the tile. Nobody waits for anybody, so blocks may run in any order, or one by one.
//
//===----------------------------------------------------------------------===//
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

/// A share has at least so many steps: less cost more to add than to compute.
static constexpr int64_t kLeastShare = 4;

TileShares::TileShares(int64_t tiles, int64_t steps, int64_t clusters) : steps(steps), clusters(clusters) {
  if (tiles % clusters == 0) {
    whole = tiles / clusters;
    return;
  }
  whole = std::max<int64_t>(0, tiles / clusters - 1);
  shared = tiles - whole * clusters;
  if (whole == 0)
    this->clusters = std::clamp<int64_t>(shared * steps / kLeastShare, 1, clusters);
  each = shared * steps / this->clusters;
  more = shared * steps % this->clusters;
  grain = std::min({kLeastShare, steps / 4, each / 3});
}

/// Where a share begins, of all steps that are shared. Where that is near the end of a tile, it is there.
static Value getBegin(const Numbers &numbers, const TileShares &shares, Value cluster) {
  Value begin = numbers.multiply(cluster, shares.each);
  if (shares.more)
    begin = numbers.add(begin, numbers.least(cluster, numbers.constant(shares.more)));
  if (!shares.grain)
    return begin;
  Value past = numbers.remainder(begin, shares.steps), tile = numbers.subtract(begin, past);
  Value isNearEnd = numbers.isLess(numbers.constant(shares.steps - shares.grain - 1), past);
  begin = numbers.choose(isNearEnd, numbers.add(tile, shares.steps), begin);
  return numbers.choose(numbers.isLess(past, shares.grain + 1), tile, begin);
}

/// The cluster that has a step, before shares were moved to ends of tiles.
static Value getCluster(const Numbers &numbers, const TileShares &shares, Value step) {
  int64_t larger = shares.more * (shares.each + 1);
  Value cluster = numbers.add(numbers.divide(numbers.subtract(step, larger), shares.each), shares.more);
  if (!larger)
    return cluster;
  return numbers.choose(numbers.isLess(step, larger), numbers.divide(step, shares.each + 1), cluster);
}

TileShares TileEmitter::getShares() const {
  return TileShares(*getConstantIntValue(tiles), *getConstantIntValue(program.steps.getUpperBound()),
                    program.nest->getAttrOfType<IntegerAttr>(schedule::kPersistentAttr).getInt() /
                        (program.cluster[0] * program.cluster[1]));
}

void TileEmitter::emitWorkspace() {
  if (!program.sharesSteps())
    return;
  TileShares shares = getShares();
  if (!shares.shared)
    return;
  int64_t ofCluster = program.cluster[0] * program.cluster[1] * program.numWarpgroups;
  auto sum = cast<MemRefType>(program.sum.getType());
  auto make = [&](ArrayRef<int64_t> shape, Type element, StringRef what) -> Value {
    auto alloc = memref::AllocOp::create(builder, loc, MemRefType::get(shape, element));
    alloc->setAttr(te::kStageAttr, builder.getStringAttr(program.getStage() + what));
    return alloc;
  };
  // Of each cluster what it has of a tile that it does not end, and of one that it does.
  savedParts = make({2 * shares.clusters * ofCluster, sum.getNumElements()}, sum.getElementType(), ".parts");
  arrivals = make({shares.shared * ofCluster}, builder.getI64Type(), ".arrivals");
}

void TileEmitter::emitShares(bool multiplies, Value cluster) {
  TileShares shares = getShares();
  Numbers numbers{builder, loc};
  Value zero = constant(0), begin = getBegin(numbers, shares, cluster);
  Value end = getBegin(numbers, shares, numbers.add(cluster, 1));
  Value lastTile = numbers.divide(numbers.subtract(end, 1), shares.steps);
  Value count = numbers.add(numbers.subtract(lastTile, numbers.divide(begin, shares.steps)), 1 + shares.whole);
  Value slot = constant32(0);
  auto loop = scf::ForOp::create(builder, loc, zero, count, constant(1), beginTiles({slot, slot}, multiplies));
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  std::swap(builder, inner);
  Value turn = loop.getInductionVar();
  TilePart part;
  part.cluster = cluster;
  part.tile = numbers.subtract(numbers.add(lastTile, shares.whole), turn);
  Value ofTile = numbers.multiply(part.tile, shares.steps);
  firstStep = numbers.subtract(numbers.most(begin, ofTile), ofTile);
  endStep = numbers.subtract(numbers.least(end, numbers.add(ofTile, shares.steps)), ofTile);
  Value tile = numbers.add(part.tile, shares.whole * shares.clusters);
  if (shares.whole) {
    Value isWhole = numbers.isLess(turn, shares.whole);
    firstStep = numbers.choose(isWhole, zero, firstStep);
    endStep = numbers.choose(isWhole, constant(shares.steps), endStep);
    tile = numbers.choose(isWhole, numbers.add(cluster, numbers.multiply(turn, shares.clusters)), tile);
  }
  part.ends = numbers.isEqual(endStep, shares.steps);
  part.isWhole = numbers.both(part.ends, numbers.isEqual(firstStep, 0));
  emitPlace(tile);
  share = part;
  RingState state = emitTile(multiplies, takeCarried(loop.getRegionIterArgs()));
  share.reset();
  scf::YieldOp::create(builder, loc, carry(state));
  firstStep = endStep = nullptr;
  std::swap(builder, inner);
  endTiles(loop.getResults(), multiplies);
}

/// Gives back whether this warpgroup has the sum of the whole tile, and that sum.
std::pair<Value, Value> TileEmitter::emitSumOfParts(Value fragment) {
  TileShares shares = getShares();
  Numbers numbers{builder, loc};
  const TilePart &part = *share;
  Type boolean = builder.getI1Type(), type = fragment.getType();
  auto yield = [&](ValueRange values) { scf::YieldOp::create(builder, loc, values); };
  auto constantTrue = [&] { return arith::ConstantIntOp::create(builder, loc, 1, 1).getResult(); };
  /// What one branch or the other gives.
  auto choose = [&](TypeRange types, Value condition, llvm::function_ref<void()> holds, llvm::function_ref<void()> otherwise) {
    auto choice = scf::IfOp::create(builder, loc, types, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    holds();
    builder.setInsertionPointToStart(choice.elseBlock());
    otherwise();
    return choice;
  };

  // A warpgroup's own of what each cluster, or tile, has.
  int64_t blocks = program.cluster[0] * program.cluster[1];
  Value mine = warpgroup;
  int64_t before = program.numWarpgroups;
  for (unsigned tag = 0; tag < 2; ++tag)
    if (ranks[tag]) {
      mine = numbers.add(mine, numbers.multiply(ranks[tag], before));
      before *= program.cluster[tag];
    }
  int64_t ofCluster = blocks * program.numWarpgroups;
  auto getRow = [&](Value cluster, auto ends) { // a number, or a value
    return numbers.add(numbers.multiply(numbers.add(numbers.multiply(cluster, 2), ends), ofCluster), mine);
  };

  auto whole = choose({boolean, type}, part.isWhole, [&] { yield({constantTrue(), fragment}); }, [&] {
    Value counter = numbers.add(numbers.multiply(part.tile, ofCluster), mine);
    Value ofTile = numbers.multiply(part.tile, shares.steps);
    Value first = getCluster(numbers, shares, numbers.add(ofTile, shares.grain));
    Value last = getCluster(numbers, shares, numbers.add(ofTile, shares.steps - 1 - shares.grain));
    Value count = numbers.add(numbers.subtract(last, first), 1);
    // The sum of all but one is in registers where this part is the last to be done, as it mostly is.
    auto arrived = choose(boolean, part.ends,
                          [&] { yield(tile::ArriveOp::create(builder, loc, arrivals, counter, count, /*ifLast=*/true).getLast()); },
                          [&] { yield(arith::ConstantIntOp::create(builder, loc, 0, 1).getResult()); });
    auto isLast = choose(boolean, arrived.getResult(0), [&] { yield(constantTrue()); }, [&] {
      Value ends = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), part.ends);
      tile::SaveFragmentOp::create(builder, loc, fragment, savedParts, getRow(part.cluster, ends));
      yield(tile::ArriveOp::create(builder, loc, arrivals, counter, count, /*ifLast=*/false).getLast());
    });
    auto sum = choose(type, isLast.getResult(0), [&] {
      auto start = choose(type, part.ends, [&] { yield(fragment); },
                          [&] { yield(tile::RestoreFragmentOp::create(builder, loc, type, savedParts, getRow(last, 1)).getFragment()); });
      auto loop = scf::ForOp::create(builder, loc, first, last, constant(1), start.getResults());
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value other = tile::RestoreFragmentOp::create(builder, loc, type, savedParts, getRow(loop.getInductionVar(), 0));
      yield(emitSum(loop.getRegionIterArg(0), other));
      builder.setInsertionPointAfter(loop);
      yield(loop.getResults());
    }, [&] { yield(fragment); });
    yield({isLast.getResult(0), sum.getResult(0)});
  });
  return {whole.getResult(0), whole.getResult(1)};
}
} // namespace tilewright
