//===- NarrowerTiles.cpp - tiles of two widths that fill the last turn ----===//
//
// Where blocks go through tiles in turns and the last turn has tiles for some of them only, rows of tiles get one tile
// more, and others of such a row become narrower. All tiles are copied as wide ones: what a narrow one has past its
// columns is neither multiplied nor stored.
//
//===----------------------------------------------------------------------===//
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

/// Whether a function of the sums asks for columns as such, from `width` times the tile on, and not for places in the tile.
static bool asksForColumns(const TileFunction &function, Value tile, int64_t width) {
  auto isColumn = [&](const LinearIndex &index) {
    int64_t times = index.terms.lookup(tile) / width;
    LinearIndex rest = index;
    rest.terms.erase(tile);
    for (const Digit &digit : function.columns) {
      Value loop = scf::ForOp(digit.loop).getInductionVar();
      if (index.terms.lookup(loop) != times * digit.stride)
        return false;
      rest.terms.erase(loop);
    }
    bool isPart = rest.dependsOn(tile) || llvm::any_of(function.columns, [&](const Digit &digit) {
                    return rest.dependsOn(scf::ForOp(digit.loop).getInductionVar());
                  });
    return index.terms.lookup(tile) % width == 0 && !isPart;
  };
  WalkResult walked = function.nest->walk([&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    auto store = dyn_cast<memref::StoreOp>(op);
    if ((load && !isInGlobalMemory(load.getMemRef())) || (store && !isInGlobalMemory(store.getMemRef())))
      return WalkResult::advance();
    if (isa<affine::AffineApplyOp>(op) && LinearIndex::get(op->getResult(0)))
      return WalkResult::advance();
    for (Value operand : op->getOperands())
      if (operand.getType().isIndex())
        if (auto index = LinearIndex::get(operand); index && !isColumn(*index))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return !walked.wasInterrupted();
}

LogicalResult TileProgram::matchNarrower() {
  auto by = nest->getAttrOfType<IntegerAttr>(schedule::kNarrowerAttr);
  if (!by)
    return success();
  auto refuse = [&] { return error("persistent", nest->getLoc()); };
  if (!blocks[0] || !blocks[1] || blocks[2])
    return refuse() << "expected tiles along blockIdx.x and blockIdx.y alone for narrower ones";
  auto columns = getConstantIntValue(blocks[0].getUpperBound()), rows = getConstantIntValue(blocks[1].getUpperBound());
  if (!columns || !rows)
    return refuse() << "expected constant extents for narrower tiles, which are dealt out when the program is compiled, got a "
                       "symbolic one of "
                    << getAxisName(columns ? blocks[1] : blocks[0], function).quoted();
  if (cluster[0] * cluster[1] > 1)
    return refuse() << "expected blocks without clusters for narrower tiles, got clusters of " << cluster[0] * cluster[1];
  if (numConsumers > 1)
    return refuse() << "expected one set of consumers for narrower tiles, got " << numConsumers << ", which take tiles in turn";
  if (promotedSteps)
    return refuse() << "expected sums that the tensor cores keep for narrower tiles, got promoted ones";
  Value tile = blocks[0].getInductionVar();
  bool storesOthers = llvm::any_of(functions, [](TileFunction &of) { return isInGlobalMemory(of.store.getMemRef()); });
  if (!result || storesOthers || !result->hasTensorDimensions() || result->dimensions.size() != 2)
    return refuse() << "expected a matrix that the copy engine stores for narrower tiles: use copy_by(\"tma\")";
  int64_t width = result->columns, total = result->dimensions[1].extent;
  LinearIndex first;
  first.terms[tile] = width;
  if (!(result->dimensions[1].first == first) || ShapedType::isDynamic(total))
    return refuse() << "expected tiles of so many columns each along blockIdx.x for narrower ones";
  int64_t less = by.getInt();
  if (less % tile::kWgmmaColumnStep || less >= width)
    return refuse() << "expected tiles narrower by a multiple of " << tile::kWgmmaColumnStep << " below their " << width
                    << " columns, got " << less;
  int64_t most = nest->getAttrOfType<IntegerAttr>(schedule::kPersistentAttr).getInt(), tiles = *rows * *columns;
  int64_t longer = std::min<int64_t>(*rows, llvm::alignTo(tiles, most) - tiles), missing = (*columns + 1) * width - total;
  if (longer == 0)
    return refuse() << "expected blocks without a tile in the last turn, for which there are narrower ones, got " << tiles
                    << " tiles for " << most << " blocks";
  if (missing % less || missing / less > *columns)
    return refuse() << "expected " << *columns + 1 << " tiles of " << width << " and " << width - less << " columns, at least one of "
                    << width << ", to have the " << total << " columns of a row, got " << less << " less";
  for (TileFunction &of : functions)
    if (!asksForColumns(of, tile, width))
      return error("persistent", of.store->getLoc())
             << "expected stage '" << getBufferName(of.store.getMemRef()) << "' to depend on columns and not on places in the tile, for "
             << "narrower tiles";
  auto dependsOnPart = [&](const TileCopy &copy) {
    return llvm::any_of(copy.dimensions, [&](const TileDimension &dimension) {
      return dimension.first.dependsOn(tile) && dimension.first.terms.lookup(tile) % width;
    });
  };
  for (const TileCopy &copy : loads)
    if (dependsOnPart(copy))
      return refuse() << "expected tiles of so many columns each along blockIdx.x for narrower ones";
  narrower = NarrowerTiles{*rows, *columns, longer, missing / less, width, width - less};
  return success();
}

LinearIndex TileEmitter::getInUnits(const LinearIndex &index) const {
  if (!program.narrower)
    return index;
  LinearIndex inUnits = index;
  Value tile = program.blocks[0].getInductionVar();
  if (auto *found = inUnits.terms.find(tile); found != inUnits.terms.end())
    found->second = found->second / program.narrower->width * program.narrower->getUnit();
  return inUnits;
}

TilePlace TileEmitter::getPlaceOfTwoWidths(Value tile) {
  const NarrowerTiles &tiles = *program.narrower;
  int64_t unit = tiles.getUnit(), shorter = tiles.rows - tiles.longer, startOfWide = tiles.narrow * tiles.narrowWidth / unit;
  /// Tiles of one width that are gone through one behind the other, from number `first` on.
  struct Zone {
    int64_t first, rows, columns, firstRow, firstColumn, width;
    bool isNarrow;
  };
  const Zone zones[] = {
      {0, shorter, tiles.columns, 0, 0, tiles.width, false},
      {shorter * tiles.columns, tiles.longer, tiles.columns + 1 - tiles.narrow, shorter, startOfWide, tiles.width, false},
      {tiles.countWide(), tiles.longer, tiles.narrow, shorter, 0, tiles.narrowWidth, true}};
  Numbers numbers{builder, loc};
  std::optional<TilePlace> place;
  for (const Zone &zone : zones) {
    if (zone.rows == 0 || (isNarrow && *isNarrow != zone.isNarrow))
      continue;
    TilePlace here = getPlace(numbers.subtract(tile, zone.first), constant(zone.columns), constant(zone.rows));
    here.column = numbers.add(numbers.multiply(here.column, zone.width / unit), zone.firstColumn);
    here.row = numbers.add(here.row, zone.firstRow);
    if (place) {
      Value isBefore = numbers.isLess(tile, zone.first);
      here = {numbers.choose(isBefore, place->column, here.column), numbers.choose(isBefore, place->row, here.row)};
    }
    place = here;
  }
  return *place;
}

/// What is stored of a narrow tile is what is inside of the tensor, as this map has it: columns of each narrow tile are a
/// dimension of their own.
void TileEmitter::emitNarrowMap(tile::BufferType buffer) {
  const TileCopy &copy = *program.result;
  const NarrowerTiles &tiles = *program.narrower;
  SmallVector<int64_t> box = {tile::kWgmmaRows, 1, buffer.getPanelColumns()};
  auto type = tile::TensorMapType::get(builder.getContext(), box, buffer.getElementType(), buffer.getSwizzle());
  int64_t stride = copy.dimensions[0].stride;
  auto array = [&](ArrayRef<int64_t> values) { return builder.getDenseI64ArrayAttr(values); };
  narrowResultMap = tile::EncodeOp::create(builder, copy.getLoc(), type, copy.tensor,
                                           array({copy.dimensions[0].extent, tiles.narrow, tiles.narrowWidth}),
                                           array({stride, tiles.narrowWidth, 1}), array({1, 1, 1}));
}

void TileEmitter::emitStore(Value buffer, ValueRange coordinates, int64_t firstColumn, Value isNarrow) {
  Location at = program.result->getLoc();
  int64_t end = firstColumn + cast<tile::BufferType>(buffer.getType()).getColumns();
  auto store = [&](Value map, ValueRange where) { tile::TMAStoreOp::create(builder, at, buffer, map, where); };
  std::optional<int64_t> isKnown = isNarrow ? getConstantIntValue(isNarrow) : 0;
  if (!program.narrower || end <= program.narrower->narrowWidth || isKnown == 0)
    return store(resultMap, coordinates);
  Numbers numbers{builder, loc};
  auto storeNarrow = [&] {
    Value tile = numbers.divide(numbers.subtract(coordinates[1], firstColumn), program.narrower->narrowWidth);
    store(narrowResultMap, {coordinates[0], tile, constant(firstColumn)});
  };
  if (isKnown)
    return storeNarrow();
  auto choice = scf::IfOp::create(builder, at, isNarrow, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  storeNarrow();
  builder.setInsertionPointToStart(choice.elseBlock());
  store(resultMap, coordinates);
}
} // namespace tilewright
