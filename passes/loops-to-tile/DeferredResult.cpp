//===- DeferredResult.cpp - results stored while the next tile is multiplied ---===//
//
// A block that goes through several tiles holds what a tile's result is in registers, rounded, begins the products of the
// next, and then stores it: the tensor cores do not wait for that. What is left after the last tile is stored at the end.
//
//===----------------------------------------------------------------------===//
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileEmitter.h"

using namespace mlir;

namespace tilewright {

/// A fragment of zeros in the place of one that is not there.
static Value emitZeros(OpBuilder &builder, Location loc, tile::FragmentType type) {
  auto map = tile::MapOp::create(builder, loc, type, ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  Type index = builder.getIndexType();
  builder.createBlock(&map.getBody(), {}, {index, index}, {loc, loc});
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  tile::YieldOp::create(builder, loc, zero);
  return map.getResult();
}

void TileEmitter::holdNothing() {
  const TileCopy &copy = *program.result;
  auto type = tile::FragmentType::get(builder.getContext(), {tile::kWgmmaRows, program.getResultColumns()}, getElement(copy));
  held = HeldResult{emitZeros(builder, copy.getLoc(), type), arith::ConstantIntOp::create(builder, loc, 0, 1),
                    SmallVector<Value>(copy.dimensions.size(), constant(0)), Value()};
  if (program.narrower)
    held->width = constant(0);
}

void TileEmitter::holdResult(Value sums, Value isThere) {
  Value buffer = program.result->buffer;
  held->coordinates = getResultCoordinates();
  held->width = width;
  if (!isThere) {
    emitFunctions(sums);
    held->fragment = fragments[buffer];
    held->isThere = arith::ConstantIntOp::create(builder, loc, 1, 1);
    return;
  }
  Type type = held->fragment.getType();
  auto choice = scf::IfOp::create(builder, loc, type, isThere, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    emitFunctions(sums);
    scf::YieldOp::create(builder, loc, fragments[buffer]);
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, loc, emitZeros(builder, loc, cast<tile::FragmentType>(type)));
  }
  held->fragment = choice.getResult(0);
  held->isThere = isThere;
}

void TileEmitter::emitHeldResult(int64_t firstPart, int64_t parts) {
  OpBuilder::InsertionGuard guard(builder);
  auto choice = scf::IfOp::create(builder, loc, held->isThere, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(choice.thenBlock());
  emitResult(held->fragment, held->coordinates, firstPart, parts, held->width);
}

/// A part takes less time than the products of a step, so one is stored after each step, if every tile has as many.
int64_t TileEmitter::countStoringSteps() {
  std::optional<int64_t> steps = getConstantIntValue(program.steps.getUpperBound());
  int64_t least = !steps ? 1 : share ? getShares().grain + 1 : *steps;
  return std::min(least, countResultParts());
}

int64_t TileEmitter::countPartsBehind(int64_t step) {
  return step + 1 == countStoringSteps() ? countResultParts() - step : 1;
}

/// Inside of the loop over steps: written out before it, these steps would double the time that a kernel takes to compile.
void TileEmitter::emitHeldBehind(Value step, int64_t firstPart) {
  int64_t storing = countStoringSteps();
  if (storing == firstPart)
    return;
  Numbers numbers{builder, loc};
  OpBuilder::InsertionGuard guard(builder);
  auto startIf = [&](Value condition) {
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false).thenBlock());
  };
  Value number = firstStep ? numbers.subtract(step, firstStep) : step;
  startIf(numbers.both(held->isThere, numbers.isLess(number, storing)));
  for (int64_t part = firstPart; part < storing; ++part) {
    OpBuilder::InsertionGuard inner(builder);
    startIf(numbers.isEqual(number, part));
    emitResult(held->fragment, held->coordinates, part, countPartsBehind(part), held->width);
  }
}

SmallVector<Value> TileEmitter::beginTiles(RingState state, bool multiplies) {
  if (multiplies && defersResult()) {
    holdNothing();
    // The first warpgroup's first turn, which none had before it.
    emitStepsTurn<tile::PassTurnOp>(program.numWarpgroups - 1);
  }
  return carry(state);
}

void TileEmitter::endTiles(ValueRange values, bool multiplies) {
  RingState state = takeCarried(values);
  if (held) {
    emitHeldResult(0, countResultParts());
    emitStepsTurn<tile::TakeTurnOp>(0);
  }
  emitDrain(state, multiplies);
}

SmallVector<Value> TileEmitter::carry(RingState state) {
  SmallVector<Value> values = {state.slot, state.phase};
  if (held) {
    values.append({held->fragment, held->isThere});
    values.append(held->coordinates);
    if (held->width)
      values.push_back(held->width);
  }
  return values;
}

TileEmitter::RingState TileEmitter::takeCarried(ValueRange values) {
  if (held) {
    held = HeldResult{values[2], values[3], SmallVector<Value>(values.slice(4, program.result->dimensions.size())), Value()};
    if (program.narrower)
      held->width = values.back();
  }
  return {values[0], values[1]};
}
} // namespace tilewright
