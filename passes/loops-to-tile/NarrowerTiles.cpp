//===- NarrowerTiles.cpp - tiles of several widths that fill the last turn ---===//
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

#include <numeric>

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
  const TileDimension &along = result->dimensions[isTransposed ? 0 : 1];
  int64_t width = getResultColumns(), total = along.extent;
  StringRef what = isTransposed ? "rows" : "columns";
  LinearIndex first;
  first.terms[tile] = width;
  if (!(along.first == first) || ShapedType::isDynamic(total))
    return refuse() << "expected tiles of so many " << what << " each along blockIdx.x for narrower ones";
  int64_t less = by.getInt(), step = instruction->columnStep;
  if (less % step || less >= width)
    return refuse() << "expected tiles narrower by a multiple of " << step << " below their " << width << " " << what << ", got " << less;
  int64_t most = nest->getAttrOfType<IntegerAttr>(schedule::kPersistentAttr).getInt(), tiles = *rows * *columns;
  int64_t longer = std::min<int64_t>(*rows, llvm::alignTo(tiles, most) - tiles), missing = (*columns + 1) * width - total;
  if (longer == 0)
    return refuse() << "expected blocks without a tile in the last turn, for which there are narrower ones, got " << tiles
                    << " tiles for " << most << " blocks";
  if (missing % less || missing / less > *columns)
    return refuse() << "expected " << *columns + 1 << " tiles of " << width << " and " << width - less << " " << what << ", at least one of "
                    << width << ", to have the " << total << " " << what << " of a " << (isTransposed ? "column" : "row") << ", got "
                    << less << " less";
  for (TileFunction &of : functions)
    if (!asksForColumns(of, tile, width))
      return error("persistent", of.store->getLoc())
             << "expected stage '" << getBufferName(of.store.getMemRef()) << "' to depend on " << what
             << " and not on places in the tile, for narrower tiles";
  auto dependsOnPart = [&](const TileCopy &copy) {
    return llvm::any_of(copy.dimensions, [&](const TileDimension &dimension) {
      return dimension.first.dependsOn(tile) && dimension.first.terms.lookup(tile) % width;
    });
  };
  for (const TileCopy &copy : loads)
    if (dependsOnPart(copy))
      return refuse() << "expected tiles of so many " << what << " each along blockIdx.x for narrower ones";
  // In place of each narrower tile there may be two that are narrower by half as much.
  auto arrange = [&](int64_t halves) {
    int64_t narrow = missing / less - halves / 2, shorter = *rows - longer;
    NarrowerTiles tiles{width, {}, {}};
    tiles.addZone({shorter, *columns, 0, 0, width});
    tiles.addZone({longer, *columns + 1 - narrow - halves, shorter, narrow * (width - less), width});
    tiles.addZone({longer, halves, shorter, total - halves * (width - less / 2), width - less / 2});
    tiles.addZone({longer, narrow, shorter, 0, width - less});
    return tiles;
  };
  narrower = arrange(0);
  int64_t shortest = narrower->countColumnsOfLongest(most);
  int64_t mostPairs = canHalve(less) ? std::min(missing / less, *columns + 1 - missing / less) : 0;
  for (int64_t pairs = 1; pairs <= mostPairs; ++pairs) {
    NarrowerTiles other = arrange(2 * pairs);
    if (int64_t longest = other.countColumnsOfLongest(most); longest < shortest) {
      shortest = longest;
      narrower = other;
    }
  }
  return success();
}

/// Such tiles lie at the end of a row, where a function of the sums is asked for columns that are not there. Rows of the
/// result begin at what the engine's maps step over, those of B in whole sectors of the cache.
bool TileProgram::canHalve(int64_t less) const {
  auto getBytes = [](Value buffer) { return tile::getElementBytes(cast<MemRefType>(buffer.getType()).getElementType()); };
  bool readsMore = llvm::any_of(functions, [](const TileFunction &function) {
    WalkResult walked = function.nest->walk([](memref::LoadOp load) {
      return isInGlobalMemory(load.getMemRef()) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return walked.wasInterrupted();
  });
  int64_t half = less / 2, sector = 32;
  bool isInSectors = !b.isMNMajor || half * getBytes(b.buffer) % sector == 0;
  bool isSteppedOver = isTransposed || half * getBytes(result->buffer) % tile::kTensorStrideBytes == 0;
  return less % (2 * instruction->columnStep) == 0 && !readsMore && isSteppedOver && isInSectors;
}

void NarrowerTiles::addZone(Zone zone) {
  if (!zone.count())
    return;
  zone.first = zones.empty() ? 0 : countAll();
  if (zones.empty() || zone.width != widths.back())
    widths.push_back(zone.width);
  zones.push_back(zone);
}

int64_t NarrowerTiles::countColumnsOfLongest(int64_t blocks) const {
  SmallVector<int64_t> columns(blocks);
  for (const Zone &zone : zones)
    for (int64_t tile = zone.first; tile < zone.first + zone.count(); ++tile)
      columns[tile % blocks] += zone.width;
  return *llvm::max_element(columns);
}

int64_t NarrowerTiles::getUnit() const {
  int64_t unit = 0;
  for (const Zone &zone : zones)
    unit = std::gcd(std::gcd(unit, zone.width), zone.firstColumn);
  return unit;
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

TilePlace TileEmitter::getPlaceOfSeveralWidths(Value tile) {
  const NarrowerTiles &tiles = *program.narrower;
  int64_t unit = tiles.getUnit();
  Numbers numbers{builder, loc};
  std::optional<TilePlace> place;
  for (const NarrowerTiles::Zone &zone : tiles.zones) {
    TilePlace here = getPlace(numbers.subtract(tile, zone.first), constant(zone.columns), constant(zone.rows));
    here.column = numbers.add(numbers.multiply(here.column, zone.width / unit), zone.firstColumn / unit);
    here.row = numbers.add(here.row, zone.firstRow);
    if (place) {
      Value isBefore = numbers.isLess(tile, zone.first);
      here = {numbers.choose(isBefore, place->column, here.column), numbers.choose(isBefore, place->row, here.row)};
    }
    place = here;
  }
  return *place;
}

Value TileEmitter::getWidth(Value tile) {
  Numbers numbers{builder, loc};
  Value width = constant(0);
  int64_t number = 0;
  for (const NarrowerTiles::Zone &zone : program.narrower->zones)
    if (zone.width != program.narrower->widths[number])
      width = numbers.choose(numbers.isLess(tile, zone.first), width, constant(++number));
  return width;
}

scf::IndexSwitchOp TileEmitter::emitForWidth(Value width, TypeRange types, llvm::function_ref<SmallVector<Value>(int64_t)> emit) {
  const auto &widths = program.narrower->widths;
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

/// What is stored of a narrow tile is what is inside of the tensor, as this map has it: columns of each narrow tile are a
/// dimension of their own, and so is where the first begins. Where the sums' columns are rows of the result, the map's
/// boxes have as many as are left for the last part.
void TileEmitter::emitNarrowMaps() {
  const TileCopy &copy = *program.result;
  tile::BufferType buffer = getResultPartType();
  if (program.isTransposed) {
    for (int64_t width : program.narrower->widths)
      if (int64_t left = width % buffer.getRows(); left && width != program.narrower->width) {
        auto type = tile::TensorMapType::get(builder.getContext(), {left, buffer.getPanelColumns()}, buffer.getElementType(),
                                             buffer.getSwizzle());
        narrowResultMaps[width] = tile::EncodeOp::create(builder, copy.getLoc(), type, copy.tensor);
      }
    return;
  }
  int64_t rows = copy.dimensions[0].extent, stride = copy.dimensions[0].stride;
  auto array = [&](ArrayRef<int64_t> values) { return builder.getDenseI64ArrayAttr(values); };
  for (const NarrowerTiles::Zone &zone : program.narrower->zones) {
    if (zone.width == program.narrower->width)
      continue;
    SmallVector<int64_t> box = {tile::kWgmmaRows, 1, buffer.getPanelColumns()}, extents = {rows, zone.columns, zone.width};
    SmallVector<int64_t> strides = {stride, zone.width, 1};
    if (zone.firstColumn) {
      box.insert(box.begin(), 1);
      extents.insert(extents.begin(), 2);
      strides.insert(strides.begin(), zone.firstColumn);
    }
    auto type = tile::TensorMapType::get(builder.getContext(), box, buffer.getElementType(), buffer.getSwizzle());
    narrowResultMaps[zone.width] = tile::EncodeOp::create(builder, copy.getLoc(), type, copy.tensor, array(extents), array(strides),
                                                          array(SmallVector<int64_t>(box.size(), 1)));
  }
}

void TileEmitter::emitStore(Value buffer, ValueRange coordinates, int64_t firstColumn, Value width) {
  Location at = program.result->getLoc();
  int64_t end = firstColumn + getPartColumns();
  auto store = [&](Value map, ValueRange where) { tile::TMAStoreOp::create(builder, at, buffer, map, where); };
  if (!program.narrower || end <= program.narrower->widths.back())
    return store(resultMap, coordinates);
  Numbers numbers{builder, loc};
  emitForWidth(width, TypeRange(), [&](int64_t columns) -> SmallVector<Value> {
    if (end <= columns) {
      store(resultMap, coordinates);
      return {};
    }
    if (program.isTransposed) {
      if (columns <= firstColumn)
        return {};
      auto part = cast<tile::BufferType>(buffer.getType());
      Value inside = tile::PartOp::create(builder, at, getPartType(part, columns - firstColumn, part.getColumns()), buffer,
                                          constant(0), constant(0), builder.getI64IntegerAttr(8));
      tile::TMAStoreOp::create(builder, at, inside, narrowResultMaps.lookup(columns), coordinates);
      return {};
    }
    const auto *zone = llvm::find_if(program.narrower->zones, [&](const auto &one) { return one.width == columns; });
    Value tile = numbers.divide(numbers.subtract(coordinates[1], firstColumn + zone->firstColumn), columns);
    SmallVector<Value> where = {coordinates[0], tile, constant(firstColumn)};
    if (zone->firstColumn)
      where.insert(where.begin(), constant(1));
    store(narrowResultMaps.lookup(columns), where);
    return {};
  });
}
} // namespace tilewright
