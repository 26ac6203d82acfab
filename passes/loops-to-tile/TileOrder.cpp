//===- TileOrder.cpp - which tiles a block takes, in which order ----------===//
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

int64_t TileEmitter::getNumTiles() const {
  int64_t tiles = 1;
  for (unsigned tag = 0; tag < 3; ++tag)
    tiles *= program.getClusters(tag);
  return tiles;
}

int64_t TileEmitter::getNumClusters() const {
  if (sharesSteps())
    return getShares().clusters;
  int64_t blocks = program.nest->getAttrOfType<IntegerAttr>(schedule::kPersistentAttr).getInt();
  return std::max<int64_t>(1, std::min(getNumTiles(), blocks / (program.cluster[0] * program.cluster[1])));
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
  int64_t stride = getNumClusters();
  int64_t steps = takesTurns ? *getConstantIntValue(program.steps.getUpperBound()) : 0;
  if (takesTurns) {
    // A set begins as many tiles, and their slots, later as there are sets before it.
    begin = binary(builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1) * stride, {first, set});
    RingState zero = state;
    for (int64_t before = 1; before < program.numConsumers; ++before) {
      RingState later = advance(zero, before * steps);
      Value isThis = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, set, constant(before));
      state.slot = arith::SelectOp::create(builder, loc, isThis, later.slot, state.slot);
      state.phase = arith::SelectOp::create(builder, loc, isThis, later.phase, state.phase);
    }
    stride *= program.numConsumers;
  }
  Value tiles = constant(getNumTiles());
  auto loop = scf::ForOp::create(builder, loc, begin, tiles, constant(stride), ValueRange{state.slot, state.phase});
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody());
  std::swap(builder, inner);
  Value tile = loop.getInductionVar();
  if (takesTurns) {
    isFirstTurn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, tile, first);
    Value next = binary(builder.getAffineDimExpr(0) + getNumClusters(), {tile});
    isLastTurn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, next, tiles);
  }
  emitPlace(tile);
  state = emitTile(multiplies, {loop.getRegionIterArg(0), loop.getRegionIterArg(1)});
  if (takesTurns)
    state = advance(state, (program.numConsumers - 1) * steps);
  scf::YieldOp::create(builder, loc, ValueRange{state.slot, state.phase});
  std::swap(builder, inner);
  emitDrain({loop.getResult(0), loop.getResult(1)}, multiplies);
}

namespace {
/// A place among the tiles: columns along blockIdx.x, rows along blockIdx.y.
struct TilePlace {
  Value column, row;
};

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

/// Down the rows of a group, then to the next column; of the groups one below the other. On a curve each group's squares
/// are gone through by it, from the left or, in every second group, from the right, and what is left beside them, or of
/// the last group, as in groups.
TilePlace getInGroups(const Numbers &numbers, Value number, int64_t columns, int64_t rows, int64_t size, bool onCurve) {
  Value group = numbers.divide(number, size * columns), inGroup = numbers.remainder(number, size * columns);
  Value first = numbers.multiply(group, size), height = numbers.constant(size);
  if (rows % size)
    height = numbers.least(numbers.subtract(numbers.constant(rows), first), height);
  TilePlace place{numbers.divide(inGroup, height), numbers.remainder(inGroup, height)};
  if (onCurve) {
    int64_t inSquares = columns / size * size;
    TilePlace onIt = getOnCurve(numbers, numbers.remainder(inGroup, size * size), size);
    onIt.column = numbers.add(onIt.column, numbers.multiply(numbers.divide(inGroup, size * size), size));
    Value isOnIt = numbers.isLess(inGroup, inSquares * size);
    if (rows % size)
      isOnIt = numbers.both(isOnIt, numbers.isLess(group, rows / size));
    place = {numbers.choose(isOnIt, onIt.column, place.column), numbers.choose(isOnIt, onIt.row, place.row)};
    Value mirrored = numbers.subtract(numbers.constant(columns - 1), place.column);
    place.column = numbers.choose(numbers.isEqual(numbers.remainder(group, 2), 0), place.column, mirrored);
  }
  place.row = numbers.add(place.row, first);
  return place;
}
} // namespace

void TileEmitter::emitPlace(Value tile) {
  Numbers numbers{builder, loc};
  int64_t extents[3];
  for (unsigned tag = 0; tag < 3; ++tag)
    extents[tag] = program.getClusters(tag);
  bool hasPlanes = extents[2] > 1;
  Value inPlane = hasPlanes ? numbers.remainder(tile, extents[0] * extents[1]) : tile;
  Value plane = hasPlanes ? numbers.divide(tile, extents[0] * extents[1]) : constant(0);
  auto raster = program.nest->getAttrOfType<schedule::RasterAttr>(schedule::kRasterAttr).getValue();
  int64_t group = program.nest->getAttrOfType<IntegerAttr>(schedule::kGroupAttr).getInt();
  TilePlace place;
  switch (raster) {
  case schedule::Raster::Row:
    place = {numbers.remainder(inPlane, extents[0]), numbers.divide(inPlane, extents[0])};
    break;
  case schedule::Raster::Grouped:
    group = std::clamp<int64_t>(group / program.cluster[1], 1, extents[1]);
    place = getInGroups(numbers, inPlane, extents[0], extents[1], group, /*onCurve=*/false);
    break;
  case schedule::Raster::Hilbert:
    group = std::clamp<int64_t>(group / std::max(program.cluster[0], program.cluster[1]), 1, std::min(extents[0], extents[1]));
    place = getInGroups(numbers, inPlane, extents[0], extents[1], llvm::bit_floor<uint64_t>(group), /*onCurve=*/true);
    break;
  }
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
