//===- SplitAccumulations.cpp - where the accumulator of a loop begins and ends ---===//
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/loops-to-tile/FragmentAccumulation.h"
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_SPLITACCUMULATIONS
#include "passes/loops-to-tile/Passes.h.inc"

bool isZeroFill(Value fragment) {
  auto fill = fragment.getDefiningOp<tile::FillOp>();
  return fill && (matchPattern(fill.getValue(), m_AnyZeroFloat()) || matchPattern(fill.getValue(), m_Zero()));
}

/// Whether a value that a loop carries, the one of this number, is only added to by matmuls of each iteration.
static bool isAccumulator(scf::ForOp loop, unsigned number) {
  Value carried = loop.getRegionIterArg(number);
  if (!isa<tile::FragmentType>(carried.getType()))
    return false;
  while (carried.hasOneUse()) {
    OpOperand &use = *carried.getUses().begin();
    if (auto yield = dyn_cast<scf::YieldOp>(use.getOwner()); yield && yield->getParentOp() == loop)
      return !isa<BlockArgument>(carried) && use.getOperandNumber() == number;
    auto matmul = dyn_cast<tile::MatmulOp>(use.getOwner());
    if (!matmul || matmul.getAccumulator() != carried || matmul->getParentOp() != loop)
      return false;
    carried = matmul;
  }
  return false;
}

bool isAccumulation(scf::ForOp loop) {
  // Others' results are used in the same iteration.
  bool hasOthers = llvm::any_of(loop.getBody()->getOps<tile::MatmulOp>(), [](tile::MatmulOp matmul) {
    Value accumulator = matmul.getAccumulator();
    return !isa<BlockArgument>(accumulator) && !accumulator.getDefiningOp<tile::MatmulOp>();
  });
  return loop.getNumRegionIterArgs() > 0 && !hasOthers &&
         llvm::all_of(llvm::seq(loop.getNumRegionIterArgs()),
                      [&](unsigned number) { return isAccumulator(loop, number); });
}

namespace {
/// Whether a condition asks if the iteration is not the loop's first.
bool isNotFirst(Value condition, scf::ForOp loop) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == arith::CmpIPredicate::ne && compare.getLhs() == loop.getInductionVar() &&
         compare.getRhs() == loop.getLowerBound();
}

struct SplitAccumulations : impl::SplitAccumulationsBase<SplitAccumulations> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](tile::KernelOp kernel) {
      kernel.walk([&](scf::ForOp loop) {
        if (isAccumulation(loop) && llvm::all_of(loop.getInitArgs(), isZeroFill))
          loops.push_back(loop);
      });
    });
    for (scf::ForOp loop : loops) {
      auto matmul = *loop.getBody()->getOps<tile::MatmulOp>().begin();
      if (matmul.getPromoted() && failed(promote(loop, *matmul.getPromoted())))
        return signalPassFailure();
      // ptxas may find no registers for groups of several widths that begin in two places, and serialises all (C7511).
      if (!matmul.getPromoted() && !matmul.getWidth())
        peel(loop);
    }
  }

  /// An iteration at the builder's insertion point; gives back the accumulators after it.
  static SmallVector<Value> cloneIteration(OpBuilder &builder, scf::ForOp loop, Value iteration,
                                           ValueRange accumulators, bool isFirst) {
    IRMapping mapping;
    if (iteration)
      mapping.map(loop.getInductionVar(), iteration);
    mapping.map(loop.getRegionIterArgs(), accumulators);
    for (Operation &op : loop.getBody()->without_terminator()) {
      auto guard = dyn_cast<scf::IfOp>(op);
      if (isFirst && guard && isNotFirst(guard.getCondition(), loop))
        continue;
      if (isFirst && op.getNumResults() && isNotFirst(op.getResult(0), loop))
        continue;
      Operation *made = builder.clone(op, mapping);
      if (auto matmul = dyn_cast<tile::MatmulOp>(made))
        matmul.removePromotedAttr();
    }
    return llvm::map_to_vector(loop.getBody()->getTerminator()->getOperands(),
                               [&](Value value) { return mapping.lookup(value); });
  }

  /// The first iteration stands before the loop, as nothing is added to in it.
  static void peel(scf::ForOp loop) {
    OpBuilder builder(loop);
    Numbers numbers{builder, loop.getLoc()};
    SmallVector<Value> begun =
        cloneIteration(builder, loop, loop.getLowerBound(), loop.getInitArgs(), /*isFirst=*/true);
    for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
      auto guard = dyn_cast<scf::IfOp>(op);
      if (!guard || !isNotFirst(guard.getCondition(), loop))
        continue;
      Block *then = guard.thenBlock();
      loop.getBody()->getOperations().splice(guard->getIterator(), then->getOperations(), then->begin(),
                                             then->getTerminator()->getIterator());
      guard.erase();
    }
    loop.getInitArgsMutable().assign(begun);
    loop.setLowerBound(numbers.add(loop.getLowerBound(), 1));
  }

  /// The tensor cores, which keep few bits of some sums, sum over few iterations alone.
  static LogicalResult promote(scf::ForOp loop, int64_t promoted) {
    if (loop.getNumResults() > 1)
      return loop.emitError() << "wgmma: expected one promoted accumulator in a loop, got " << loop.getNumResults();
    if (!loop.getInductionVar().use_empty())
      return loop.emitError() << "wgmma: expected roles for a promoted accumulator, whose iterations load nothing";
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    Numbers numbers{builder, loc};
    std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                           end = getConstantIntValue(loop.getUpperBound());
    // Of a part of a tile, or where an extent is symbolic, nobody knows how many iterations there are.
    bool isKnown = first && end;
    int64_t iterations = isKnown ? *end - *first : 1, each = std::min(promoted, iterations);
    Value zero = loop.getInitArgs()[0];
    auto emitPart = [&](int64_t count) -> Value {
      Value part = cloneIteration(builder, loop, Value(), zero, /*isFirst=*/false)[0];
      if (count == 1)
        return part;
      auto inner =
          scf::ForOp::create(builder, loc, numbers.constant(1), numbers.constant(count), numbers.constant(1), part);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(inner.getBody());
      Value added = cloneIteration(builder, loop, Value(), inner.getRegionIterArg(0), /*isFirst=*/false)[0];
      scf::YieldOp::create(builder, loc, added);
      return inner.getResult(0);
    };
    Value sum = emitPart(each);
    Value second = numbers.add(loop.getLowerBound(), 1);
    auto groups =
        scf::ForOp::create(builder, loc, second, isKnown ? numbers.constant(iterations / each) : loop.getUpperBound(),
                           numbers.constant(1), sum);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(groups.getBody());
      Value part = emitPart(each);
      scf::YieldOp::create(builder, loc, makeSum(builder, loc, groups.getRegionIterArg(0), part));
    }
    sum = groups.getResult(0);
    if (int64_t left = iterations % each) {
      Value part = emitPart(left);
      sum = makeSum(builder, loc, sum, part);
    }
    loop.getResult(0).replaceAllUsesWith(sum);
    loop.erase();
    return success();
  }
};
} // namespace
} // namespace tilewright
