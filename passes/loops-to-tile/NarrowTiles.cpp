//===- NarrowTiles.cpp - tiles of several widths that fill the last wave --===//
//
// Where blocks go through tiles in waves and the last wave has tiles for some of them only, rows of tiles get one tile
// more, and others of such a row become narrower. All tiles are copied as wide ones: what a narrow one has past its
// columns is neither multiplied nor stored.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "passes/index/DigitExpr.h"
#include "passes/index/LinearIndex.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_NARROWTILES
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
/// Tiles of several widths: in some rows of tiles there is one more than in the others, and many of them are narrower.
struct NarrowerTiles {
  /// Tiles of one width that are numbered one behind the other, in so many rows and columns of them; `firstRow` is a
  /// row of tiles, `firstColumn` one of the tensor.
  struct Zone {
    int64_t rows, columns, firstRow, firstColumn, width;
    int64_t first = 0; // the number of its first tile
    int64_t count() const { return rows * columns; }
  };
  /// Puts a zone behind the others, if it has tiles.
  void addZone(Zone zone);
  int64_t countAll() const { return zones.back().first + zones.back().count(); }
  /// The most columns that one of so many blocks has, which go through the tiles in turns.
  int64_t countColumnsOfLongest(int64_t blocks) const;
  /// Where tiles begin is counted in so many columns.
  int64_t getUnit() const;
  int64_t width;                     // of a tile that is not narrower
  llvm::SmallVector<Zone, 4> zones;  // from the widest on
  llvm::SmallVector<int64_t> widths; // each once, from the widest on
};

/// Gives one kernel tiles of several widths.
class TileNarrower {
public:
  explicit TileNarrower(tile::KernelOp kernel) : kernel(kernel), column(kernel.getPlace(0)) {}
  LogicalResult match();
  void narrow();

private:
  InFlightDiagnostic refuse() { return orderError(kernel); }
  /// Whether what is computed of a fragment asks for columns as such, and not for places in the tile.
  bool asksForColumns(tile::MapOp map, int64_t width);
  /// Whether some tiles can be narrower by half of `less`.
  bool canHalve(int64_t less);
  /// The index, where what the tile's column adds is so many units.
  index::LinearIndex getInUnits(const index::LinearIndex &index);
  Value emitWidth(const Numbers &numbers, Value tile);
  TilePlace emitPlace(const Numbers &numbers, Value tile);

  tile::KernelOp kernel;
  Value column; // of the tile
  tile::StoreOp store;
  SmallVector<tile::MatmulOp> matmuls;
  SmallVector<tile::MapOp> maps;
  std::optional<NarrowerTiles> tiles;
};

struct NarrowTiles : impl::NarrowTilesBase<NarrowTiles> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels;
    getOperation().walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels) {
      if (!kernel.getOrder() || !kernel.getOrderAttr().getNarrower())
        continue;
      TileNarrower narrower(kernel);
      if (failed(checkOrder(kernel)) || failed(narrower.match()))
        return signalPassFailure();
      narrower.narrow();
    }
  }
};

} // namespace

bool TileNarrower::asksForColumns(tile::MapOp map, int64_t width) {
  Block &body = map.getBody().front();
  Value place = body.getArgument(body.getNumArguments() - 1);
  // Where several loops went through the columns, the place is in digits.
  SmallVector<Value> digits;
  for (Operation *user : place.getUsers())
    if (isa<affine::AffineApplyOp>(user) && index::getDigit(user->getResult(0)))
      digits.push_back(user->getResult(0));
  auto isColumn = [&](const index::LinearIndex &index) {
    int64_t times = index.terms.lookup(column) / width;
    if (index.terms.lookup(column) % width)
      return false;
    for (auto [value, factor] : index.terms) {
      if (value == column)
        continue;
      index::LinearIndex one;
      one.terms[value] = 1;
      if (one.dependsOn(column))
        return false;
      if (!one.dependsOn(place))
        continue;
      auto digit = index::getDigit(value);
      if (!digit || factor != times * digit->second.stride)
        return false;
    }
    // A column of the tensor is the tile's and the whole place in it.
    if (times == 0 || index.terms.contains(place))
      return true;
    return !digits.empty() && llvm::all_of(digits, [&](Value digit) { return index.terms.contains(digit); });
  };
  WalkResult walked = map.walk([&](Operation *op) {
    if (op == map || (isa<affine::AffineApplyOp>(op) && index::LinearIndex::get(op->getResult(0))))
      return WalkResult::advance();
    for (Value operand : op->getOperands())
      if (operand.getType().isIndex())
        if (auto index = index::LinearIndex::get(operand); index && !isColumn(*index))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return !walked.wasInterrupted();
}

LogicalResult TileNarrower::match() {
  auto columns = getConstantIntValue(kernel.getX()), rows = getConstantIntValue(kernel.getY());
  if (!hasAxis(kernel, 0) || !hasAxis(kernel, 1) || hasAxis(kernel, 2))
    return refuse() << "expected tiles along blockIdx.x and blockIdx.y alone for narrower ones";
  if (!columns || !rows)
    return refuse()
           << "expected constant extents for narrower tiles, which are dealt out when the program is compiled, got a "
              "symbolic one of "
           << kernel.quoteAxis(columns ? 1 : 0);
  if (int64_t blocks = getClusterBlocks(kernel); blocks > 1)
    return refuse() << "expected blocks without clusters for narrower tiles, got clusters of " << blocks;
  if (kernel.getPingpong() > 1)
    return refuse() << "expected one set of consumer warpgroups for narrower tiles, got " << kernel.getPingpong()
                    << ", which take tiles in turn";
  SmallVector<tile::StoreOp> stores;
  bool storesOthers = false, isPromoted = false;
  kernel.walk([&](Operation *op) {
    if (auto one = dyn_cast<tile::StoreOp>(op))
      stores.push_back(one);
    else if (auto map = dyn_cast<tile::MapOp>(op))
      maps.push_back(map);
    else if (auto matmul = dyn_cast<tile::MatmulOp>(op))
      matmuls.push_back(matmul);
    storesOthers |= isa<memref::StoreOp>(op);
  });
  for (tile::MatmulOp matmul : matmuls)
    isPromoted |= matmul.getPromoted().has_value();
  if (isPromoted)
    return refuse() << "expected an accumulator that the tensor cores keep for narrower tiles, got a promoted one";
  if (stores.size() != 1 || storesOthers || matmuls.empty() || stores[0].getExtents() || stores[0].getBox().size() != 2)
    return refuse() << "expected a matrix that TMA stores for narrower tiles: use copy_by(\"tma\")";
  store = stores[0];
  bool isTransposed = store.getTransposed();
  unsigned dimension = isTransposed ? 0 : 1;
  int64_t width = store.getFragment().getType().getColumns();
  int64_t total = cast<MemRefType>(store.getTensor().getType()).getDimSize(dimension);
  StringRef what = isTransposed ? "rows" : "columns";
  index::LinearIndex first;
  first.terms[column] = width;
  auto begin = index::LinearIndex::get(store.getCoordinates()[dimension]);
  if (!begin || !(*begin == first) || ShapedType::isDynamic(total))
    return refuse() << "expected tiles of so many " << what << " each along blockIdx.x for narrower ones";
  tile::OrderAttr order = kernel.getOrderAttr();
  tile::MatmulOp matmul = matmuls[0];
  int64_t less = order.getNarrower();
  int64_t step =
      tile::findWgmma(tile::getOperandElement(matmul.getA().getType()), matmul.getB().getType().getElementType(),
                      matmul.getResult().getType().getElementType())
          ->columnStep;
  if (less % step || less >= width)
    return refuse() << "expected tiles narrower by a multiple of " << step << " below their " << width << " " << what
                    << ", got " << less;
  int64_t most = order.getBlocks(), count = *rows * *columns;
  int64_t longer = std::min<int64_t>(*rows, llvm::alignTo(count, most) - count),
          missing = (*columns + 1) * width - total;
  if (longer == 0)
    return refuse() << "expected blocks without a tile in the last wave, for which there are narrower ones, got "
                    << count << " tiles for " << most << " blocks";
  if (missing % less || missing / less > *columns)
    return refuse() << "expected " << *columns + 1 << " tiles of " << width << " and " << width - less << " " << what
                    << ", at least one of " << width << ", to have the " << total << " " << what << " of a "
                    << (isTransposed ? "column" : "row") << ", got " << less << " less";
  for (tile::MapOp map : maps)
    if (!asksForColumns(map, width)) {
      auto stage = map->getAttrOfType<StringAttr>(te::kStageAttr);
      return emitError(map.getLoc()) << "persistent: expected stage '" << (stage ? stage.getValue() : "")
                                     << "' to depend on " << what
                                     << " and not on places in the tile, for narrower tiles";
    }
  WalkResult walked = kernel.walk([&](tile::LoadOp load) {
    for (Value coordinate : load.getCoordinates())
      if (auto index = index::LinearIndex::get(coordinate);
          index && index->dependsOn(column) && index->terms.lookup(column) % width)
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
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
  tiles = arrange(0);
  int64_t shortest = tiles->countColumnsOfLongest(most);
  int64_t mostPairs = canHalve(less) ? std::min(missing / less, *columns + 1 - missing / less) : 0;
  for (int64_t pairs = 1; pairs <= mostPairs; ++pairs) {
    NarrowerTiles other = arrange(2 * pairs);
    if (int64_t longest = other.countColumnsOfLongest(most); longest < shortest) {
      shortest = longest;
      tiles = other;
    }
  }
  return success();
}

/// Such tiles lie at the end of a row, where what is computed of a fragment is asked for columns that are not there.
/// Rows of the tensor begin at what TMA steps over, those of B in whole sectors of the cache.
bool TileNarrower::canHalve(int64_t less) {
  bool readsMore = llvm::any_of(maps, [](tile::MapOp map) {
    return map.walk([](memref::LoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
  });
  tile::MatmulOp matmul = matmuls[0];
  Type a = tile::getOperandElement(matmul.getA().getType());
  tile::BufferType b = matmul.getB().getType();
  int64_t half = less / 2, sector = 32;
  int64_t stored = tile::getElementBytes(cast<MemRefType>(store.getTensor().getType()).getElementType());
  bool isInSectors = !matmul.getMnMajorB() || half * tile::getElementBytes(b.getElementType()) % sector == 0;
  bool isSteppedOver = store.getTransposed() || half * stored % tile::kTensorStrideBytes == 0;
  int64_t step = tile::findWgmma(a, b.getElementType(), matmul.getResult().getType().getElementType())->columnStep;
  return less % (2 * step) == 0 && !readsMore && isSteppedOver && isInSectors;
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

index::LinearIndex TileNarrower::getInUnits(const index::LinearIndex &index) {
  index::LinearIndex inUnits = index;
  if (auto *found = inUnits.terms.find(column); found != inUnits.terms.end())
    found->second = found->second / tiles->width * tiles->getUnit();
  return inUnits;
}

Value TileNarrower::emitWidth(const Numbers &numbers, Value tile) {
  Value width = numbers.constant(0);
  int64_t number = 0;
  for (const NarrowerTiles::Zone &zone : tiles->zones)
    if (zone.width != tiles->widths[number])
      width = numbers.choose(numbers.isLess(tile, zone.first), width, numbers.constant(++number));
  return width;
}

TilePlace TileNarrower::emitPlace(const Numbers &numbers, Value tile) {
  int64_t unit = tiles->getUnit(), cluster[] = {1, 1, 1};
  std::optional<TilePlace> place;
  for (const NarrowerTiles::Zone &zone : tiles->zones) {
    TilePlace here = getTilePlace(numbers, kernel.getOrderAttr(), cluster, numbers.subtract(tile, zone.first),
                                  numbers.constant(zone.columns), numbers.constant(zone.rows));
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

void TileNarrower::narrow() {
  // Each index that has the tile's column in it is written anew.
  OpBuilder builder(kernel);
  SmallVector<Operation *> users;
  kernel.walk([&](Operation *op) {
    if (op != kernel && !isa<affine::AffineApplyOp>(op))
      users.push_back(op);
  });
  for (Operation *op : users)
    for (OpOperand &operand : op->getOpOperands()) {
      if (!operand.get().getType().isIndex())
        continue;
      auto index = index::LinearIndex::get(operand.get());
      if (!index || !index->dependsOn(column))
        continue;
      builder.setInsertionPoint(op);
      operand.set(getInUnits(*index).materialize(builder, operand.get().getLoc(), IRMapping()));
    }
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Location loc = kernel.getLoc();
  Numbers numbers{builder, loc};
  Value tile = kernel.getPlace(0);
  SmallVector<OpOperand *> columns(llvm::make_pointer_range(tile.getUses())),
      rows(llvm::make_pointer_range(kernel.getPlace(1).getUses()));
  Value width = emitWidth(numbers, tile);
  TilePlace place = emitPlace(numbers, tile);
  for (OpOperand *use : columns)
    use->set(place.column);
  for (OpOperand *use : rows)
    use->set(place.row);
  for (tile::MatmulOp matmul : matmuls) {
    matmul.getWidthMutable().assign(width);
    matmul.setWidths(tiles->widths);
  }
  SmallVector<int64_t> narrow;
  for (int64_t one : tiles->widths) {
    const auto *zone = llvm::find_if(tiles->zones, [&](const NarrowerTiles::Zone &of) { return of.width == one; });
    narrow.append({one, zone->columns, zone->firstColumn});
  }
  store.getWidthMutable().assign(width);
  store.setNarrow(narrow);
  tile::OrderAttr order = kernel.getOrderAttr();
  OpBuilder host(kernel);
  setGrid(kernel, arith::ConstantIndexOp::create(host, loc, tiles->countAll()),
          arith::ConstantIndexOp::create(host, loc, 1),
          tile::OrderAttr::get(kernel.getContext(), order.getBlocks(), tile::Raster::Linear, 1, false, 0,
                               order.getSerpentineK()));
}
} // namespace tilewright
