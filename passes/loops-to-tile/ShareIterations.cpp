//===- ShareIterations.cpp - blocks that share the reductions of the last tiles ---===//
//
// Each cluster first computes whole tiles, as long as there are some for all and one turn more. The steps of the tiles
// that are left are dealt out in equal shares that lie together, one after the other, and a share is gone through from
// its end: what it has of a tile that the next share ends is saved first, and its own first tile, which the shares
// before have parts of, comes last. Whoever arrives last has the sum of all parts, always added in the same order,
// beginning with the part that ends the tile. Nobody waits for anybody, so blocks may run in any order, or one by one.
//
//===----------------------------------------------------------------------===//
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/FragmentAccumulation.h"
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_SHAREITERATIONS
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
/// How clusters share the iterations of tiles: each has `whole` tiles for itself; of the `shared` tiles that are left
/// each has `each` iterations, the first `more` clusters one more. No share ends within `grain` iterations of the end
/// of a tile.
struct TileShares {
  TileShares(int64_t tiles, int64_t steps, int64_t clusters);
  int64_t steps, clusters, whole = 0, shared = 0, each = 0, more = 0, grain = 0;
};

/// What a cluster has of a tile: whether it is all, or its last iterations. The tile is one of those that are shared.
struct TilePart {
  Value cluster, tile, isWhole, ends;
};
} // namespace

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

namespace {
struct ShareIterations : impl::ShareIterationsBase<ShareIterations> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels;
    getOperation().walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels)
      if (tile::OrderAttr order = kernel.getOrderAttr(); order && order.getStreamK() && failed(share(kernel, order)))
        return signalPassFailure();
  }

  LogicalResult share(tile::KernelOp kernel, tile::OrderAttr order);
  /// Gives back whether this warpgroup has the sum of the whole tile, and that sum.
  std::pair<Value, Value> emitSumOfParts(OpBuilder &builder, const TileShares &shares, const TilePart &part,
                                         Value fragment);
  Value getRank(tile::KernelOp kernel, unsigned dimension) {
    for (auto rank : kernel.getBody().front().getOps<gpu::ClusterBlockIdOp>())
      if (unsigned(rank.getDimension()) == dimension)
        return rank;
    llvm_unreachable("raster-tiles makes the ranks of blocks in their cluster");
  }

  tile::KernelOp kernel;
  int64_t ofCluster = 0;
  Value savedParts, arrivals; // in global memory
};
} // namespace

LogicalResult ShareIterations::share(tile::KernelOp of, tile::OrderAttr order) {
  kernel = of;
  SmallVector<scf::ForOp> pipelines = getPipelines(kernel);
  auto refuse = [&] { return orderError(kernel); };
  std::optional<int64_t> tiles = getConstantIntValue(kernel.getX());
  if (order.getRaster() != tile::Raster::Linear || !tiles)
    return refuse()
           << "expected a linear order of a constant number of tiles for stream_k, which raster-tiles leaves, got "
           << order;
  scf::ForOp pipeline = pipelines.size() == 1 ? pipelines[0] : scf::ForOp();
  if (!pipeline || pipeline->getParentOp() != kernel || pipeline.getNumResults() != 1 ||
      pipeline.getResult(0).use_empty())
    return refuse() << "expected one loop with one matmul for stream_k, whose iterations blocks share";
  Location loc = pipeline.getLoc();
  TileShares shares(*tiles, *getConstantIntValue(pipeline.getUpperBound()),
                    order.getBlocks() / getClusterBlocks(kernel));
  if (!shares.shared) {
    kernel.setOrderAttr(tile::OrderAttr::get(kernel.getContext(), order.getBlocks(), order.getRaster(),
                                             order.getGroup(), false, 0, order.getSerpentineK()));
    return success();
  }
  OpBuilder builder(kernel);
  ofCluster = getClusterBlocks(kernel) * kernel.getWarpgroups();
  auto sum = cast<tile::FragmentType>(pipeline.getResult(0).getType());
  auto make = [&](ArrayRef<int64_t> shape, Type element, StringRef what) -> Value {
    auto alloc = memref::AllocOp::create(builder, loc, MemRefType::get(shape, element));
    auto stage = getAxisName(pipeline).stage;
    alloc->setAttr(te::kStageAttr, builder.getStringAttr(stage + what));
    return alloc;
  };
  // Of each cluster what it has of a tile that it does not end, and of one that it does.
  savedParts =
      make({2 * shares.clusters * ofCluster, sum.getRows() * sum.getColumns()}, sum.getElementType(), ".parts");
  arrivals = make({shares.shared * ofCluster}, builder.getI64Type(), ".arrivals");

  Block *body = &kernel.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : *body)
    if (!isa<gpu::ClusterBlockIdOp>(op))
      ops.push_back(&op);
  builder.setInsertionPointToEnd(body);
  Numbers numbers{builder, loc};
  Value cluster = getClusterNumber(builder, kernel);
  Value zero = numbers.constant(0), begin = getBegin(numbers, shares, cluster);
  Value end = getBegin(numbers, shares, numbers.add(cluster, 1));
  Value lastTile = numbers.divide(numbers.subtract(end, 1), shares.steps);
  Value count = numbers.add(numbers.subtract(lastTile, numbers.divide(begin, shares.steps)), 1 + shares.whole);
  auto loop = scf::ForOp::create(builder, loc, zero, count, numbers.constant(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value turn = loop.getInductionVar();
  TilePart part;
  part.cluster = cluster;
  part.tile = numbers.subtract(numbers.add(lastTile, shares.whole), turn);
  Value ofTile = numbers.multiply(part.tile, shares.steps);
  Value firstStep = numbers.subtract(numbers.most(begin, ofTile), ofTile);
  Value endStep = numbers.subtract(numbers.least(end, numbers.add(ofTile, shares.steps)), ofTile);
  Value tile = numbers.add(part.tile, shares.whole * shares.clusters);
  if (shares.whole) {
    Value isWhole = numbers.isLess(turn, shares.whole);
    firstStep = numbers.choose(isWhole, zero, firstStep);
    endStep = numbers.choose(isWhole, numbers.constant(shares.steps), endStep);
    tile = numbers.choose(isWhole, numbers.add(cluster, numbers.multiply(turn, shares.clusters)), tile);
  }
  part.ends = numbers.isEqual(endStep, shares.steps);
  part.isWhole = numbers.both(part.ends, numbers.isEqual(firstStep, 0));
  for (Operation *op : ops)
    op->moveBefore(loop.getBody()->getTerminator());
  kernel.getPlace(0).replaceUsesWithIf(tile, [&](OpOperand &use) { return loop->isProperAncestor(use.getOwner()); });
  pipeline.setLowerBound(firstStep);
  pipeline.setUpperBound(endStep);
  pipeline->setAttr(tile::kLeastIterationsAttr, builder.getI64IntegerAttr(shares.grain + 1));

  // What stands behind the loop is for whoever has the sum; a condition that is there already is one with that.
  SmallVector<OpOperand *> uses(llvm::make_pointer_range(pipeline.getResult(0).getUses()));
  Operation *user = nullptr;
  for (OpOperand *use : uses)
    if (Operation *one = loop.getBody()->findAncestorOpInBlock(*use->getOwner()); !user || one->isBeforeInBlock(user))
      user = one;
  auto guard = dyn_cast<scf::IfOp>(user);
  builder.setInsertionPoint(guard ? guard.getOperation() : user);
  auto [isSum, fragment] = emitSumOfParts(builder, shares, part, pipeline.getResult(0));
  for (OpOperand *use : uses)
    use->set(fragment);
  if (guard) {
    guard.getConditionMutable().assign(numbers.both(guard.getCondition(), isSum));
  } else {
    SmallVector<Operation *> rest;
    for (Operation *op = user; op != loop.getBody()->getTerminator(); op = op->getNextNode())
      rest.push_back(op);
    Block *then = scf::IfOp::create(builder, loc, isSum, /*withElseRegion=*/false).thenBlock();
    for (Operation *op : rest)
      op->moveBefore(then->getTerminator());
  }
  builder.setInsertionPoint(kernel);
  sayBlocksStay(kernel);
  setGrid(kernel, numbers.constant(shares.clusters * kernel.getCluster()[0]), numbers.constant(kernel.getCluster()[1]),
          nullptr);
  return success();
}

std::pair<Value, Value> ShareIterations::emitSumOfParts(OpBuilder &builder, const TileShares &shares,
                                                        const TilePart &part, Value fragment) {
  Location loc = fragment.getLoc();
  Numbers numbers{builder, loc};
  Type boolean = builder.getI1Type(), type = fragment.getType();
  auto yield = [&](ValueRange values) { scf::YieldOp::create(builder, loc, values); };
  auto constantTrue = [&] { return arith::ConstantIntOp::create(builder, loc, 1, 1).getResult(); };
  /// What one branch or the other gives.
  auto choose = [&](TypeRange types, Value condition, llvm::function_ref<void()> holds,
                    llvm::function_ref<void()> otherwise) {
    auto choice = scf::IfOp::create(builder, loc, types, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    holds();
    builder.setInsertionPointToStart(choice.elseBlock());
    otherwise();
    return choice;
  };

  // A warpgroup's own of what each cluster, or tile, has.
  Value mine = kernel.getWarpgroup();
  int64_t before = kernel.getWarpgroups();
  for (unsigned tag = 0; tag < 2; ++tag)
    if (int64_t blocks = kernel.getCluster()[tag]; blocks > 1) {
      mine = numbers.add(mine, numbers.multiply(getRank(kernel, tag), before));
      before *= blocks;
    }
  auto getRow = [&](Value cluster, auto ends) { // a number, or a value
    return numbers.add(numbers.multiply(numbers.add(numbers.multiply(cluster, 2), ends), ofCluster), mine);
  };

  auto whole = choose(
      {boolean, type}, part.isWhole, [&] { yield({constantTrue(), fragment}); },
      [&] {
        Value counter = numbers.add(numbers.multiply(part.tile, ofCluster), mine);
        Value ofTile = numbers.multiply(part.tile, shares.steps);
        Value first = getCluster(numbers, shares, numbers.add(ofTile, shares.grain));
        Value last = getCluster(numbers, shares, numbers.add(ofTile, shares.steps - 1 - shares.grain));
        Value count = numbers.add(numbers.subtract(last, first), 1);
        // The sum of all but one is in registers where this part is the last to be done, as it mostly is.
        auto arrived = choose(
            boolean, part.ends,
            [&] { yield(tile::ArriveOp::create(builder, loc, arrivals, counter, count, /*ifLast=*/true).getLast()); },
            [&] { yield(arith::ConstantIntOp::create(builder, loc, 0, 1).getResult()); });
        auto isLast = choose(
            boolean, arrived.getResult(0), [&] { yield(constantTrue()); },
            [&] {
              Value ends = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), part.ends);
              tile::SaveFragmentOp::create(builder, loc, fragment, savedParts, getRow(part.cluster, ends));
              yield(tile::ArriveOp::create(builder, loc, arrivals, counter, count, /*ifLast=*/false).getLast());
            });
        auto sum = choose(
            type, isLast.getResult(0),
            [&] {
              auto start = choose(
                  type, part.ends, [&] { yield(fragment); },
                  [&] {
                    yield(
                        tile::RestoreFragmentOp::create(builder, loc, type, savedParts, getRow(last, 1)).getFragment());
                  });
              auto loop = scf::ForOp::create(builder, loc, first, last, numbers.constant(1), start.getResults());
              OpBuilder::InsertionGuard guard(builder);
              builder.setInsertionPointToStart(loop.getBody());
              Value other =
                  tile::RestoreFragmentOp::create(builder, loc, type, savedParts, getRow(loop.getInductionVar(), 0));
              yield(makeSum(builder, loc, loop.getRegionIterArg(0), other));
              builder.setInsertionPointAfter(loop);
              yield(loop.getResults());
            },
            [&] { yield(fragment); });
        yield({isLast.getResult(0), sum.getResult(0)});
      });
  return {whole.getResult(0), whole.getResult(1)};
}
} // namespace tilewright
