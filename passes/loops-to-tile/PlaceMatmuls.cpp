//===- PlaceMatmuls.cpp - matmuls as wgmma, and what waits for them -------===//
#include "dialects/Tile/Instructions.h"
#include "passes/loops-to-tile/FragmentAccumulation.h"
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileBarriers.h"

using namespace mlir;

namespace tilewright {

scf::IndexSwitchOp emitForWidth(OpBuilder &builder, Location loc, Value width, ArrayRef<int64_t> widths,
                                TypeRange types, function_ref<SmallVector<Value>(int64_t)> emit) {
  SmallVector<int64_t> cases = llvm::to_vector(llvm::seq<int64_t>(1, widths.size()));
  auto choice = scf::IndexSwitchOp::create(builder, loc, types, width, cases, cases.size());
  OpBuilder::InsertionGuard guard(builder);
  for (auto [number, columns] : llvm::enumerate(widths)) {
    Region &region = number == 0 ? choice.getDefaultRegion() : choice.getCaseRegions()[number - 1];
    builder.setInsertionPointToStart(builder.createBlock(&region));
    scf::YieldOp::create(builder, loc, emit(columns));
  }
  return choice;
}

static tile::AccumulatorType getAccumulatorType(Value fragment) {
  auto type = cast<tile::FragmentType>(fragment.getType());
  return tile::AccumulatorType::get(type.getContext(), type.getShape(), type.getElementType());
}

/// Whether an op only passes a turn on, which others wait for.
static bool passesTurn(Operation *op) {
  if (auto choice = dyn_cast<scf::IfOp>(op); choice && choice.getNumResults() == 0 && choice.getElseRegion().empty()) {
    Block *then = choice.thenBlock();
    return llvm::hasNItems(*then, 2) && isa<tile::PassTurnOp>(then->front());
  }
  return isa<tile::PassTurnOp>(op);
}

/// Past the turns that are passed on behind `op`, and what they are computed from.
static Operation *skipTurns(Operation *op) {
  Operation *last = op;
  for (Operation *next = op->getNextNode();
       next && (passesTurn(next) || (isMemoryEffectFree(next) && next->getNumRegions() == 0 &&
                                     !isa<tile::MatmulOp, tile::FillOp, scf::YieldOp>(next)));
       next = next->getNextNode())
    if (passesTurn(next))
      last = next;
  return last;
}

Value BarrierPlacer::waitFor(Value accumulator, Operation *behind) {
  builder.setInsertionPointAfter(skipTurns(behind));
  auto type = cast<tile::AccumulatorType>(accumulator.getType());
  auto fragment = tile::FragmentType::get(type.getContext(), type.getShape(), type.getElementType());
  return tile::WgmmaWaitOp::create(builder, accumulator.getLoc(), fragment, 0, accumulator).getFragment();
}

Value BarrierPlacer::emitGroup(ArrayRef<tile::MatmulOp> group, Value accumulator) {
  tile::MatmulOp last = group.back(), first = group.front();
  auto type = getAccumulatorType(last.getResult());
  auto multiply = [&](IntegerAttr columns) {
    Value sum = accumulator;
    for (tile::MatmulOp one : group) {
      // Matmuls that are under way may still read the registers.
      const auto *instruction = tile::findWgmma(tile::getOperandElement(one.getA().getType()),
                                                one.getB().getType().getElementType(), type.getElementType());
      if (instruction->loadsA(one.getMnMajorA())) {
        if (one != first)
          tile::WgmmaCommitOp::create(builder, one.getLoc());
        tile::WgmmaWaitOp::create(builder, one.getLoc(), Type(), 0, Value());
      }
      sum = tile::WgmmaOp::create(builder, one.getLoc(), type, one.getA(), one.getB(), sum, one.getMnMajorA(),
                                  one.getMnMajorB(), columns);
    }
    tile::WgmmaCommitOp::create(builder, first.getLoc());
    return sum;
  };
  if (!first.getWidth())
    return multiply(IntegerAttr());
  // A group begins and ends in each case: what is under way where they meet is one accumulator, of one group.
  int64_t widest = type.getColumns();
  return emitForWidth(builder, first.getLoc(), first.getWidth(), *first.getWidths(), type,
                      [&](int64_t columns) -> SmallVector<Value> {
                        return {multiply(columns == widest ? IntegerAttr() : builder.getI64IntegerAttr(columns))};
                      })
      .getResult(0);
}

SmallVector<tile::MatmulOp> getMatmulGroup(tile::MatmulOp first) {
  SmallVector<tile::MatmulOp> group = {first};
  for (auto next = dyn_cast_or_null<tile::MatmulOp>(first->getNextNode());
       next && next.getAccumulator() == group.back().getResult();
       next = dyn_cast_or_null<tile::MatmulOp>(next->getNextNode()))
    group.push_back(next);
  return group;
}

bool BarrierPlacer::isUsedLater(tile::MatmulOp last) {
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode()) {
    bool uses = op->walk([&](Operation *inner) {
                    return WalkResult(failure(llvm::is_contained(inner->getOperands(), last.getResult())));
                  }).wasInterrupted();
    if (uses)
      return false;
    if (isa<tile::MatmulOp>(op))
      return true;
  }
  return false;
}

void BarrierPlacer::waitBefore(Operation *op, bool forAll) {
  size_t count = forAll ? groups.size() : 0;
  for (auto [number, group] : llvm::enumerate(groups)) {
    bool uses = op->walk([&, result = group.result](Operation *inner) {
                    return WalkResult(failure(llvm::is_contained(inner->getOperands(), result)));
                  }).wasInterrupted();
    count = uses ? std::max(count, number + 1) : count;
  }
  if (count == 0)
    return;
  builder.setInsertionPoint(op);
  size_t left = groups.size() - count;
  for (Group &group : MutableArrayRef(groups).take_front(count)) {
    auto type = cast<tile::FragmentType>(group.result.getType());
    Value fragment = tile::WgmmaWaitOp::create(builder, group.sum.getLoc(), type, left, group.sum).getFragment();
    release(group.read);
    group.result.replaceAllUsesWith(fragment);
    group.result.getDefiningOp()->erase();
  }
  groups.erase(groups.begin(), groups.begin() + count);
}

/// Whether an operand is in a buffer of the block, which is no slot of a ring.
static bool isSharedByWarpgroups(Value operand) {
  while (auto part = operand.getDefiningOp<tile::PartOp>())
    operand = part.getSource();
  return operand.getDefiningOp<tile::AllocOp>() != nullptr;
}

LogicalResult BarrierPlacer::placeMatmuls(tile::MatmulOp first) {
  SmallVector<tile::MatmulOp> group = getMatmulGroup(first);
  tile::MatmulOp last = group.back();
  Value before = first.getAccumulator(), accumulator;
  builder.setInsertionPoint(first);
  if (!isZeroFill(before)) {
    accumulator = accumulators.lookup(before);
    if (!accumulator)
      accumulator = tile::ToAccumulatorOp::create(builder, first.getLoc(), getAccumulatorType(before), before);
  }
  Value sum = emitGroup(group, accumulator);
  // What the group reads is read until it is done.
  auto isOfGroup = [&](Operation *op) { return llvm::any_of(group, [&](tile::MatmulOp one) { return one == op; }); };
  SmallVector<ReadSlot> read, others;
  for (const ReadSlot &one : reading)
    (isOfGroup(one.last) ? read : others).push_back(one);
  reading = others;
  bool isCarried = accumulation && last->getParentOp() == accumulation;
  Operation *user = last.getResult().hasOneUse() ? *last.getResult().user_begin() : nullptr;
  auto next = dyn_cast_or_null<scf::ForOp>(user);
  if (isCarried) {
    builder.setInsertionPointAfter(skipTurns(last));
    bool isLast = !llvm::any_of(llvm::make_range(std::next(last->getIterator()), last->getBlock()->end()),
                                llvm::IsaPred<tile::MatmulOp>);
    // The groups of one iteration are under way while those of the next are begun.
    if (isLast)
      tile::WgmmaWaitOp::create(builder, accumulation.getLoc(), Type(), numAccumulators, Value());
    advanceTaken();
    if (!isLast) {
      // Nothing is known to be done yet.
    } else if (!isBegun) {
      Location loc = accumulation.getLoc();
      Value hasBefore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, accumulation.getInductionVar(),
                                              accumulation.getLowerBound());
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(
          scf::IfOp::create(builder, loc, hasBefore, /*withElseRegion=*/false).thenBlock());
      release(readBefore);
    } else {
      release(readBefore);
    }
    underWay.append(read);
    accumulators[last.getResult()] = sum;
  } else if (next && isAccumulation(next) && next->getBlock() == last->getBlock()) {
    builder.setInsertionPointAfter(skipTurns(last));
    advanceTaken();
    underWay.append(read);
    accumulators[last.getResult()] = sum;
  } else if (!groups.empty() || isUsedLater(last)) {
    bool readsShared = llvm::any_of(
        group, [](tile::MatmulOp one) { return isSharedByWarpgroups(one.getA()) || isSharedByWarpgroups(one.getB()); });
    groups.push_back({sum, last.getResult(), read, readsShared});
    // The last stands for the group until it is waited for.
    last.getAccumulatorMutable().assign(before);
    for (tile::MatmulOp one : llvm::reverse(ArrayRef(group).drop_back()))
      one.erase();
    return success();
  } else {
    Value fragment = waitFor(sum, last);
    release(read);
    last.getResult().replaceAllUsesWith(fragment);
  }
  // Others may still name the results of those whose accumulators are under way: they go with the loop.
  for (tile::MatmulOp one : llvm::reverse(group))
    if (one.getResult().use_empty())
      one.erase();
  return success();
}

LogicalResult BarrierPlacer::placeAccumulation(scf::ForOp loop) {
  Location loc = loop.getLoc();
  builder.setInsertionPoint(loop);
  advanceTaken();
  SmallVector<Value> inits(loop.getInitArgs()), rings, carried;
  isBegun = accumulators.contains(inits[0]);
  for (Value init : inits) {
    if (accumulators.contains(init) != isBegun)
      return emitError(loc) << "wgmma: expected the accumulators of a loop to begin all before it or all in it";
    if (isBegun)
      carried.push_back(accumulators.lookup(init));
    else if (isZeroFill(init))
      carried.push_back(tile::ZeroOp::create(builder, loc, getAccumulatorType(init)));
    else
      carried.push_back(tile::ToAccumulatorOp::create(builder, loc, getAccumulatorType(init), init));
  }
  numAccumulators = inits.size();
  for (auto get : loop.getBody()->getOps<tile::GetOp>())
    rings.push_back(get.getRing());
  for (Value ring : rings) {
    RingState state = getState(ring);
    auto *before = llvm::find_if(underWay, [&](const ReadSlot &one) { return one.ring == ring; });
    carried.append({state.slot, state.phase, isBegun && before != underWay.end() ? before->slot : state.slot});
  }
  for (auto &[ring, state] : ahead)
    carried.append({state.slot, state.phase});
  auto made = scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), carried);
  Block *body = made.getBody();
  loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());
  for (auto [old, now] : llvm::zip(loop.getRegionIterArgs(), made.getRegionIterArgs()))
    accumulators[old] = now;
  SmallVector<Value> yielded(loop.getBody()->getTerminator()->getOperands());
  body->getOperations().splice(body->end(), loop.getBody()->getOperations(), loop.getBody()->begin(),
                               loop.getBody()->getTerminator()->getIterator());
  auto takeStates = [&](ValueRange values) {
    SmallVector<ReadSlot> before;
    unsigned number = inits.size();
    for (Value ring : rings) {
      states[ring] = {values[number], values[number + 1]};
      before.push_back({ring, values[number + 2], nullptr});
      number += 3;
    }
    for (auto &[ring, state] : ahead) {
      state = {values[number], values[number + 1]};
      number += 2;
    }
    return before;
  };
  readBefore = takeStates(made.getRegionIterArgs());
  accumulation = made;
  underWay.clear();
  // The yield stands where matmuls look whether they are the last.
  LogicalResult placed = place(*body);
  accumulation = nullptr;
  if (failed(placed))
    return failure();
  builder.setInsertionPointToEnd(body);
  advanceTaken();
  carried = llvm::map_to_vector(yielded, [&](Value value) { return accumulators.lookup(value); });
  for (Value ring : rings) {
    auto *now = llvm::find_if(underWay, [&](const ReadSlot &one) { return one.ring == ring; });
    carried.append({states[ring].slot, states[ring].phase, now->slot});
  }
  for (auto &[ring, state] : ahead)
    carried.append({state.slot, state.phase});
  scf::YieldOp::create(builder, loc, carried);
  Operation *old = loop;
  readBefore = takeStates(made.getResults());
  ahead.clear();
  underWay.clear();
  // All matmuls are begun: those of the next tile follow them while this one's accumulator becomes a result.
  SmallVector<Value> fragments;
  for (Value result : made.getResults().take_front(inits.size())) {
    fragments.push_back(waitFor(result, old));
    old = fragments.back().getDefiningOp();
  }
  release(readBefore);
  releaseReadUpTo([&](Operation *last) { return last == loop; });
  loop.replaceAllUsesWith(fragments);
  loop.getBody()->clear();
  SmallVector<Operation *> dead;
  for (auto matmul : body->getOps<tile::MatmulOp>())
    dead.push_back(matmul);
  // The old terminator's operand was the last of them.
  loop->dropAllReferences();
  for (Operation *op : llvm::reverse(dead)) {
    op->dropAllUses();
    op->erase();
  }
  loop.erase();
  accumulators.clear();
  for (Value init : inits)
    for (auto matmul = init.getDefiningOp<tile::MatmulOp>(); matmul && matmul->use_empty();) {
      auto before = matmul.getAccumulator().getDefiningOp<tile::MatmulOp>();
      matmul.erase();
      matmul = before;
    }
  return success();
}
} // namespace tilewright
