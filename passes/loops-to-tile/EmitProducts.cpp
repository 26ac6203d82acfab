//===- EmitProducts.cpp - the steps of a tile, and who fills their slots ---===//
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileEmitter.h"

using namespace mlir;

namespace tilewright {

template <typename Op> void TileEmitter::emitTurn(Value isLeftOut) {
  if (program.numConsumers == 1)
    return;
  Value isThere = arith::XOrIOp::create(builder, loc, isLeftOut, arith::ConstantIntOp::create(builder, loc, 1, 1));
  auto choice = scf::IfOp::create(builder, loc, isThere, /*withElseRegion=*/false);
  OpBuilder inner = choice.getThenBodyBuilder();
  Op::create(inner, loc, set, program.numConsumers, program.numWarpgroups);
}

template <typename Op> void TileEmitter::emitStepsTurn(std::optional<int64_t> onlyBy) {
  if (!program.takesStepsInTurn())
    return;
  OpBuilder::InsertionGuard guard(builder);
  if (onlyBy) {
    Value isIt = Numbers{builder, loc}.isEqual(warpgroup, *onlyBy);
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isIt, /*withElseRegion=*/false).thenBlock());
  }
  Op::create(builder, loc, warpgroup, program.numWarpgroups, 1);
}
// Turns begin and end with the tiles.
template void TileEmitter::emitStepsTurn<tile::TakeTurnOp>(std::optional<int64_t>);
template void TileEmitter::emitStepsTurn<tile::PassTurnOp>(std::optional<int64_t>);

tile::AccumulatorType TileEmitter::getAccumulatorType() {
  auto sum = cast<MemRefType>(program.sum.getType());
  return tile::AccumulatorType::get(builder.getContext(), {tile::kWgmmaRows, sum.getShape().back()}, sum.getElementType());
}

/// Begins the products of a slot, as a group, which are added to the accumulator if there is one.
Value TileEmitter::emitProduct(ValueRange buffers, Value accumulator) {
  auto operand = [&](const TileOperand &of) -> Value {
    size_t number = llvm::find_if(program.loads, [&](const TileCopy &copy) { return copy.buffer == of.buffer; }) - program.loads.begin();
    Value buffer = buffers[number];
    auto whole = cast<tile::BufferType>(buffer.getType());
    if (of.rows == whole.getRows() && of.columns == whole.getColumns())
      return buffer;
    tile::BufferType part = getPartType(whole, of.rows, of.columns);
    bool isCounted = whole.getRows() % of.rows == 0 && of.firstRow.isMultipleOf(of.rows);
    Value row = of.firstRow.dividedBy(isCounted ? of.rows : 8).materialize(builder, loc, places);
    Value column = of.firstColumn.dividedBy(of.columns).materialize(builder, loc, places);
    return tile::PartOp::create(builder, loc, part, buffer, row, column, isCounted ? IntegerAttr() : builder.getI64IntegerAttr(8));
  };
  Location at = program.product.getLoc();
  int64_t count = 1;
  for (scf::ForOp around : program.productLoops)
    count *= *getLoopExtent(around.getInductionVar());
  SmallVector<std::pair<Value, Value>> operands;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number;
    for (scf::ForOp around : llvm::reverse(program.productLoops)) {
      int64_t extent = *getLoopExtent(around.getInductionVar());
      places.map(around.getInductionVar(), constant(rest % extent));
      rest /= extent;
    }
    operands.push_back({operand(program.a), operand(program.b)});
  }
  auto multiply = [&](IntegerAttr columns) {
    Value sum = accumulator;
    for (auto [a, b] : operands)
      sum = tile::WgmmaOp::create(builder, at, getAccumulatorType(), a, b, sum, program.a.isMNMajor, program.b.isMNMajor, columns);
    tile::WgmmaCommitOp::create(builder, at);
    return sum;
  };
  emitStepsTurn<tile::TakeTurnOp>();
  if (width) {
    // A group begins and ends in each case: what is under way where they meet is one accumulator, of one group.
    auto choice = emitForWidth(width, getAccumulatorType(), [&](int64_t columns) -> SmallVector<Value> {
      return {multiply(columns == program.narrower->width ? IntegerAttr() : builder.getI64IntegerAttr(columns))};
    });
    accumulator = choice.getResult(0);
  } else {
    accumulator = multiply(IntegerAttr());
  }
  emitStepsTurn<tile::PassTurnOp>();
  return accumulator;
}

Value TileEmitter::emitPart(RingState state, int64_t count) {
  auto first = tile::WaitOp::create(builder, loc, ring, state.slot, state.phase);
  Value made = emitProduct(first.getBuffers(), Value()), before = state.slot;
  if (count > 1) {
    RingState next = advance(state);
    auto loop = scf::ForOp::create(builder, loc, constant(1), constant(count), constant(1),
                                   ValueRange{made, next.slot, next.phase, before});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    RingState here{loop.getRegionIterArg(1), loop.getRegionIterArg(2)};
    auto filled = tile::WaitOp::create(builder, loc, ring, here.slot, here.phase);
    Value added = emitProduct(filled.getBuffers(), loop.getRegionIterArg(0));
    tile::WgmmaWaitOp::create(builder, loc, Type(), 1, Value());
    tile::ReleaseOp::create(builder, loc, ring, loop.getRegionIterArg(3));
    RingState after = advance(here);
    scf::YieldOp::create(builder, loc, ValueRange{added, after.slot, after.phase, here.slot});
    made = loop.getResult(0);
    before = loop.getResult(3);
  }
  auto accumulator = cast<tile::AccumulatorType>(made.getType());
  auto type = tile::FragmentType::get(builder.getContext(), accumulator.getShape(), accumulator.getElementType());
  Value part = tile::WgmmaWaitOp::create(builder, loc, type, 0, made).getFragment();
  tile::ReleaseOp::create(builder, loc, ring, before);
  return part;
}

Value TileEmitter::emitSum(Value sum, Value part) {
  auto map = tile::MapOp::create(builder, loc, sum.getType(), ValueRange{sum, part});
  OpBuilder::InsertionGuard guard(builder);
  Type element = cast<tile::FragmentType>(sum.getType()).getElementType(), index = builder.getIndexType();
  Block *body = builder.createBlock(&map.getBody(), {}, {element, element, index, index}, {loc, loc, loc, loc});
  Value x = body->getArgument(0), y = body->getArgument(1);
  Value added = isa<FloatType>(element) ? arith::AddFOp::create(builder, loc, x, y).getResult()
                                        : arith::AddIOp::create(builder, loc, x, y).getResult();
  tile::YieldOp::create(builder, loc, added);
  return map.getResult();
}

/// The tensor cores, which keep few bits of some sums, sum over few steps alone.
TileEmitter::RingState TileEmitter::emitPromotedProducts(RingState state, Value &fragment) {
  emitTurn<tile::TakeTurnOp>(isFirstTurn);
  // Of a part of a tile, or where an extent is symbolic, nobody knows how many steps there are.
  bool isKnown = !share && !program.hasAnyNumberOfSteps();
  int64_t steps = isKnown ? *getConstantIntValue(program.steps.getUpperBound()) : 1;
  int64_t each = std::min(program.promotedSteps, steps);
  Value first = emitPart(state, each);
  state = advance(state, each);
  auto loop = scf::ForOp::create(builder, loc, getSecondStep(), isKnown ? constant(steps / each) : getEndStep(), constant(1),
                                 ValueRange{first, state.slot, state.phase});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    RingState here{loop.getRegionIterArg(1), loop.getRegionIterArg(2)};
    Value sum = emitSum(loop.getRegionIterArg(0), emitPart(here, each));
    here = advance(here, each);
    scf::YieldOp::create(builder, loc, ValueRange{sum, here.slot, here.phase});
  }
  fragment = loop.getResult(0);
  state = {loop.getResult(1), loop.getResult(2)};
  if (int64_t left = steps % each) {
    fragment = emitSum(fragment, emitPart(state, left));
    state = advance(state, left);
  }
  emitTurn<tile::PassTurnOp>(isLastTurn);
  return state;
}

/// Adds up the products of all steps. One group of products is under way while the next is begun. Without roles one of
/// the threads that multiply fills the slot whose products are done.
///
/// The first step stands before the loop, as nothing is added to and no slot released in it. Not where products are of
/// several widths: for groups of so many columns each that begin in two places ptxas may find no registers, and then
/// serialises all of them (C7511). There the loop begins with zeros.
TileEmitter::RingState TileEmitter::emitProducts(RingState state, Value &fragment) {
  RingState ahead = state;
  if (!program.isSpecialized)
    ahead = emitFirstLoads(state);
  emitTurn<tile::TakeTurnOp>(isFirstTurn);
  bool isInLoop = hasFirstStepInLoop();
  SmallVector<Value> carried;
  if (isInLoop) {
    Value nothing = tile::ZeroOp::create(builder, loc, getAccumulatorType());
    carried = {nothing, state.slot, state.phase, state.slot};
  } else {
    auto first = tile::WaitOp::create(builder, loc, ring, state.slot, state.phase);
    Value begun = emitProduct(first.getBuffers(), Value());
    RingState next = advance(state);
    carried = {begun, next.slot, next.phase, state.slot};
    if (held)
      emitHeldResult(0, countPartsBehind(0));
  }
  if (!program.isSpecialized)
    carried.append({ahead.slot, ahead.phase});
  auto loop = scf::ForOp::create(builder, loc, isInLoop ? getFirstStep() : getSecondStep(), getEndStep(), constant(1), carried);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar(), slot = loop.getRegionIterArg(1), phase = loop.getRegionIterArg(2);
    auto filled = tile::WaitOp::create(builder, loc, ring, slot, phase);
    Value added = emitProduct(filled.getBuffers(), loop.getRegionIterArg(0));
    tile::WgmmaWaitOp::create(builder, loc, Type(), 1, Value());
    RingState after = advance({slot, phase});
    carried = {added, after.slot, after.phase, slot};
    {
      // The products of the step before are done.
      OpBuilder::InsertionGuard inner(builder);
      if (isInLoop) {
        Value isLater = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, step, getFirstStep());
        builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isLater, /*withElseRegion=*/false).thenBlock());
      }
      tile::ReleaseOp::create(builder, loc, ring, loop.getRegionIterArg(3));
      if (!program.isSpecialized)
        emitLoadAhead(step, {loop.getRegionIterArg(4), loop.getRegionIterArg(5)});
    }
    if (!program.isSpecialized) {
      ahead = advance({loop.getRegionIterArg(4), loop.getRegionIterArg(5)});
      carried.append({ahead.slot, ahead.phase});
    }
    if (held)
      emitHeldBehind(step, isInLoop ? 0 : 1);
    scf::YieldOp::create(builder, loc, carried);
  }
  // All products are begun: those of the next tile follow them while this one's become results.
  emitTurn<tile::PassTurnOp>(isLastTurn);
  auto accumulator = cast<tile::AccumulatorType>(loop.getResult(0).getType());
  auto type = tile::FragmentType::get(builder.getContext(), accumulator.getShape(), accumulator.getElementType());
  fragment = tile::WgmmaWaitOp::create(builder, loc, type, 0, loop.getResult(0)).getFragment();
  tile::ReleaseOp::create(builder, loc, ring, loop.getResult(3));
  return {loop.getResult(1), loop.getResult(2)};
}

/// Fills the slots of as many steps as there are slots; gives the state of the slot that the loop over steps fills first, or
/// would in a first step that is in it.
TileEmitter::RingState TileEmitter::emitFirstLoads(RingState state) {
  std::optional<int64_t> steps = getConstantIntValue(program.steps.getUpperBound());
  int64_t count = std::min(program.depth, steps.value_or(program.depth));
  SmallVector<RingState> states;
  for (int64_t step = 0; step < count; ++step, state = advance(state))
    states.push_back(state);
  auto elect = tile::ElectOp::create(builder, loc, tile::ElectScope::Role);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&elect.getBody());
  Numbers numbers{builder, loc};
  for (auto [number, of] : llvm::enumerate(states)) {
    OpBuilder::InsertionGuard inner(builder);
    Value step = numbers.add(getFirstStep(), number);
    if (!steps && number > 0)
      builder.setInsertionPointToStart(
          scf::IfOp::create(builder, loc, numbers.isLess(step, getEndStep()), /*withElseRegion=*/false).thenBlock());
    emitFill(step, of);
  }
  return hasFirstStepInLoop() ? states.back() : state;
}

/// The products of the step before are done: its slot is for the step that comes as many later as there are slots.
void TileEmitter::emitLoadAhead(Value step, RingState state) {
  OpBuilder::InsertionGuard guard(builder);
  auto elect = tile::ElectOp::create(builder, loc, tile::ElectScope::Role);
  builder.createBlock(&elect.getBody());
  Value later = arith::AddIOp::create(builder, loc, step, constant(program.depth - 1));
  Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, later, getEndStep());
  auto choice = scf::IfOp::create(builder, loc, isThere, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(choice.thenBlock());
  emitFill(later, state);
}
} // namespace tilewright
