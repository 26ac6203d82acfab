//===- TileOrder.cpp - which tiles a block takes, in which order ----------===//
#include "passes/linalg-to-loops/KnownValues.h"
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

void TileEmitter::emitCounts() {
  Numbers numbers{builder, loc};
  KnownValues known(program.function);
  tiles = constant(1);
  for (unsigned tag = 0; tag < 3; ++tag) {
    Value blocks = program.blocks[tag] ? scf::ForOp(program.blocks[tag]).getUpperBound() : constant(1);
    isNonEmpty &= known.isPositive(blocks);
    clusters[tag] = numbers.divideUp(blocks, program.cluster[tag]);
    tiles = numbers.multiply(tiles, clusters[tag]);
  }
  if (Value steps = program.steps.getUpperBound(); !known.isPositive(steps)) {
    // Where there is none the one behind the last is done, whose tiles are outside of the tensors: zeros.
    Value isNone = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), numbers.isEqual(steps, 0));
    firstStep = isNone;
    endStep = numbers.add(steps, numbers.multiply(isNone, 2));
  }
  if (program.narrower)
    tiles = constant(program.narrower->countAll());
  if (!isPersistent())
    return;
  int64_t blocks = program.nest->getAttrOfType<IntegerAttr>(schedule::kPersistentAttr).getInt();
  int64_t most = std::max<int64_t>(1, blocks / (program.cluster[0] * program.cluster[1]));
  stayingClusters = program.sharesSteps() ? constant(getShares().clusters) : numbers.least(tiles, constant(most));
}

void TileEmitter::emitTiles(bool multiplies) {
  RingState state{constant32(0), constant32(0)};
  if (!isPersistent()) {
    emitDrain(emitTile(multiplies, state), multiplies);
    return;
  }
  Value first = gpu::ClusterIdOp::create(builder, loc, gpu::Dimension::x);
  if (program.cluster[0] * program.cluster[1] == 1)
    first = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  if (savedParts)
    return emitShares(multiplies, first);
  Value begin = first;
  bool takesTurns = multiplies && program.numConsumers > 1;
  Numbers numbers{builder, loc};
  Value stride = stayingClusters;
  int64_t steps = takesTurns ? *getConstantIntValue(program.steps.getUpperBound()) : 0;
  if (takesTurns) {
    // A set begins as many tiles, and their slots, later as there are sets before it.
    begin = numbers.add(first, numbers.multiply(set, stride));
    RingState zero = state;
    for (int64_t before = 1; before < program.numConsumers; ++before) {
      RingState later = advance(zero, before * steps);
      Value isThis = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, set, constant(before));
      state.slot = arith::SelectOp::create(builder, loc, isThis, later.slot, state.slot);
      state.phase = arith::SelectOp::create(builder, loc, isThis, later.phase, state.phase);
    }
    stride = numbers.multiply(stride, program.numConsumers);
  }
  SmallVector<Value> carried = beginTiles(state, multiplies);
  auto loop = scf::ForOp::create(builder, loc, begin, tiles, stride, carried);
  builder.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar();
  if (takesTurns) {
    isFirstTurn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, tile, first);
    Value next = numbers.add(tile, stayingClusters);
    isLastTurn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, next, tiles);
  }
  // What was read last for the tile before is still in the second cache.
  if (program.nest->hasAttr(schedule::kSerpentineKAttr))
    isBackwards = numbers.isEqual(numbers.remainder(numbers.divide(tile, stayingClusters), 2), 1);
  if (program.narrower && multiplies)
    width = getWidth(tile);
  emitPlace(tile);
  RingState after = emitTile(multiplies, takeCarried(loop.getRegionIterArgs()));
  if (takesTurns)
    after = advance(after, (program.numConsumers - 1) * steps);
  scf::YieldOp::create(builder, loc, carry(after));
  builder.setInsertionPointAfter(loop);
  width = isBackwards = nullptr;
  endTiles(loop.getResults(), multiplies);
}

namespace {
/// The place of a number on Hilbert's curve through a square, from its corner at zero to the one at the end of the row.
TilePlace getOnCurve(const Numbers &numbers, Value number, int64_t side) {
  Value x = numbers.constant(0), y = x;
  for (int64_t size = 1; size < side; size *= 2) {
    // Two bits say in which quarter of a square of twice the size; the curve lies mirrored in two of them.
    Value quarter = numbers.remainder(numbers.divide(number, size * size), 4);
    Value right = numbers.divide(quarter, 2), down = numbers.remainder(numbers.exclusiveOr(quarter, right), 2);
    Value flip = numbers.multiply(right, size - 1);
    Value isUpper = numbers.isEqual(down, 0);
    Value flippedX = numbers.exclusiveOr(x, flip), flippedY = numbers.exclusiveOr(y, flip);
    Value nextX = numbers.choose(isUpper, flippedY, x), nextY = numbers.choose(isUpper, flippedX, y);
    x = numbers.add(nextX, numbers.multiply(right, size));
    y = numbers.add(nextY, numbers.multiply(down, size));
  }
  return {x, y};
}

/// Of the place of a number in groups of `size` rows, where these lie: groups are gone through by squares on the curve, from
/// the left or, in every second group, from the right; what is left beside the squares, or of the last group, as it was.
TilePlace getOnCurves(const Numbers &numbers, TilePlace place, Value group, Value inGroup, int64_t columns, int64_t rows,
                      int64_t size) {
  int64_t inSquares = columns / size * size;
  TilePlace onIt = getOnCurve(numbers, numbers.remainder(inGroup, size * size), size);
  onIt.column = numbers.add(onIt.column, numbers.multiply(numbers.divide(inGroup, size * size), size));
  Value isOnIt = numbers.isLess(inGroup, inSquares * size);
  if (rows % size)
    isOnIt = numbers.both(isOnIt, numbers.isLess(group, rows / size));
  place = {numbers.choose(isOnIt, onIt.column, place.column), numbers.choose(isOnIt, onIt.row, place.row)};
  Value mirrored = numbers.subtract(numbers.constant(columns - 1), place.column);
  place.column = numbers.choose(numbers.isEqual(numbers.remainder(group, 2), 0), place.column, mirrored);
  return place;
}

/// Down the rows of a group, then to the next column; of the groups one below the other.
TilePlace getInGroups(const Numbers &numbers, Value number, Value columns, Value rows, int64_t size, bool onCurve) {
  Value all = numbers.multiply(columns, size);
  Value group = numbers.divide(number, all), inGroup = numbers.remainder(number, all);
  Value first = numbers.multiply(group, size), height = numbers.constant(size);
  std::optional<int64_t> numRows = getConstantIntValue(rows);
  if (!numRows || *numRows % size)
    height = numbers.least(numbers.subtract(rows, first), height);
  TilePlace place{numbers.divide(inGroup, height), numbers.remainder(inGroup, height)};
  if (onCurve)
    place = getOnCurves(numbers, place, group, inGroup, *getConstantIntValue(columns), *numRows, size);
  place.row = numbers.add(place.row, first);
  return place;
}
} // namespace

TilePlace TileEmitter::getPlace(Value number, Value columns, Value rows) {
  Numbers numbers{builder, loc};
  auto raster = program.nest->getAttrOfType<schedule::RasterAttr>(schedule::kRasterAttr).getValue();
  int64_t group = program.nest->getAttrOfType<IntegerAttr>(schedule::kGroupAttr).getInt();
  // A group has no more rows than there are, where that is known.
  int64_t numColumns = getConstantIntValue(columns).value_or(INT64_MAX), numRows = getConstantIntValue(rows).value_or(INT64_MAX);
  switch (raster) {
  case schedule::Raster::Row:
    return {numbers.remainder(number, columns), numbers.divide(number, columns)};
  case schedule::Raster::Grouped:
    group = std::clamp<int64_t>(group / program.cluster[1], 1, numRows);
    return getInGroups(numbers, number, columns, rows, group, /*onCurve=*/false);
  case schedule::Raster::Hilbert:
    group = std::clamp<int64_t>(group / std::max(program.cluster[0], program.cluster[1]), 1, std::min(numColumns, numRows));
    return getInGroups(numbers, number, columns, rows, llvm::bit_floor<uint64_t>(group), /*onCurve=*/true);
  }
  llvm_unreachable("no order of tiles");
}

void TileEmitter::emitPlace(Value tile) {
  Numbers numbers{builder, loc};
  bool hasPlanes = getConstantIntValue(clusters[2]) != 1;
  Value inPlane = tile, plane = constant(0);
  if (hasPlanes) {
    Value ofPlane = numbers.multiply(clusters[0], clusters[1]);
    inPlane = numbers.remainder(tile, ofPlane);
    plane = numbers.divide(tile, ofPlane);
  }
  TilePlace place = program.narrower ? getPlaceOfSeveralWidths(tile) : getPlace(inPlane, clusters[0], clusters[1]);
  Value indices[3] = {place.column, place.row, plane};
  for (unsigned tag = 0; tag < 3; ++tag) {
    if (!program.blocks[tag])
      continue;
    if (tag < 2 && ranks[tag])
      indices[tag] = numbers.add(numbers.multiply(indices[tag], program.cluster[tag]), ranks[tag]);
    places.map(scf::ForOp(program.blocks[tag]).getInductionVar(), indices[tag]);
  }
}
} // namespace tilewright
