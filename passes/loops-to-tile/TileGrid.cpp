//===- TileGrid.cpp - grids of tiles, and the order of tiles --------------===//
#include "passes/loops-to-tile/TileGrid.h"
#include "dialects/Program/Program.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

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

/// Of the place of a number in groups of `size` rows, where these lie: groups are gone through by squares on the curve,
/// from the left or, in every second group, from the right; what is left beside the squares, or of the last group, as
/// it was.
TilePlace getOnCurves(const Numbers &numbers, TilePlace place, Value group, Value inGroup, int64_t columns,
                      int64_t rows, int64_t size) {
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

TilePlace getTilePlace(const Numbers &numbers, tile::OrderAttr order, ArrayRef<int64_t> cluster, Value number,
                       Value columns, Value rows) {
  int64_t group = order.getGroup();
  // A group has no more rows than there are, where that is known.
  int64_t numColumns = getConstantIntValue(columns).value_or(INT64_MAX),
          numRows = getConstantIntValue(rows).value_or(INT64_MAX);
  switch (order.getRaster()) {
  case tile::Raster::Linear:
  case tile::Raster::Row:
    return {numbers.remainder(number, columns), numbers.divide(number, columns)};
  case tile::Raster::Grouped:
    group = std::clamp<int64_t>(group / cluster[1], 1, numRows);
    return getInGroups(numbers, number, columns, rows, group, /*onCurve=*/false);
  case tile::Raster::Hilbert:
    group = std::clamp<int64_t>(group / std::max(cluster[0], cluster[1]), 1, std::min(numColumns, numRows));
    return getInGroups(numbers, number, columns, rows, llvm::bit_floor<uint64_t>(group), /*onCurve=*/true);
  }
  llvm_unreachable("no order of tiles");
}

InFlightDiagnostic orderError(tile::KernelOp kernel) { return emitError(kernel.getLoc()) << "persistent: "; }

SmallVector<scf::ForOp> getPipelines(Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (loop->hasAttr(schedule::kPipelineAttr))
      loops.push_back(loop);
  });
  return loops;
}

LogicalResult checkOrder(tile::KernelOp kernel) {
  tile::OrderAttr order = kernel.getOrderAttr();
  auto refuse = [&] { return orderError(kernel); };
  if (int64_t each = getClusterBlocks(kernel); order.getBlocks() < each)
    return refuse() << "expected at least the " << each << " blocks of a cluster, got " << order.getBlocks();
  bool isCurve = order.getRaster() == tile::Raster::Hilbert;
  if (isCurve)
    for (unsigned dimension = 0; dimension < 2; ++dimension)
      if (!hasAxis(kernel, dimension))
        return refuse()
               << "expected tiles along blockIdx.x and blockIdx.y for Hilbert's curve, got none along blockIdx."
               << "xy"[dimension];
  SmallVector<scf::ForOp> pipelines = getPipelines(kernel);
  if (order.getStreamK() && !kernel.getRegisters() && !pipelines.empty())
    return refuse() << "expected roles for stream_k, warps that copy beside those that multiply: use s["
                    << getAxisName(pipelines[0]).stage << "].specialize(" << getAxisName(pipelines[0]).axis << ")";
  if (order.getStreamK() && kernel.getPingpong() > 1)
    return refuse() << "expected one set of consumer warpgroups for stream_k, got " << kernel.getPingpong()
                    << ", which take tiles in turn";
  std::string symbolic;
  Value sizes[] = {kernel.getX(), kernel.getY(), kernel.getZ()};
  for (unsigned dimension = 3; dimension-- > 0;)
    if (!getConstantIntValue(sizes[dimension]))
      symbolic = kernel.quoteAxis(dimension);
  if (!symbolic.empty() && isCurve)
    return refuse() << "expected constant extents for Hilbert's curve, whose squares are laid when the program is "
                       "compiled, got a "
                       "symbolic one of "
                    << symbolic << ": use raster=\"grouped\"";
  for (scf::ForOp loop : pipelines)
    if (symbolic.empty() && !getConstantIntValue(loop.getUpperBound()))
      symbolic = getAxisName(loop).quoted();
  if (!symbolic.empty() && order.getStreamK())
    return refuse() << "expected constant extents for stream_k, which deals out the steps of tiles when the program is "
                       "compiled, "
                       "got a symbolic one of "
                    << symbolic;
  return success();
}

void setGrid(tile::KernelOp kernel, Value x, Value y, tile::OrderAttr order) {
  OpBuilder builder(kernel);
  kernel.getXMutable().assign(x);
  kernel.getYMutable().assign(y);
  kernel.getZMutable().assign(arith::ConstantIndexOp::create(builder, kernel.getLoc(), 1));
  if (order)
    kernel.setOrderAttr(order);
  else
    kernel.removeOrderAttr();
}

void sayBlocksStay(tile::KernelOp kernel) {
  auto origin = kernel->getAttrOfType<DictionaryAttr>(kLaunchOriginAttr);
  Attribute said = origin ? origin.get(kPersistentOrigin) : nullptr;
  if (said)
    kernel->setAttr(kLaunchOriginAttr, DictionaryAttr::get(kernel.getContext(), NamedAttribute("grid.x", said)));
}

Value getClusterNumber(OpBuilder &builder, tile::KernelOp kernel) {
  if (getClusterBlocks(kernel) == 1)
    return gpu::BlockIdOp::create(builder, kernel.getLoc(), gpu::Dimension::x);
  return gpu::ClusterIdOp::create(builder, kernel.getLoc(), gpu::Dimension::x);
}
} // namespace tilewright
