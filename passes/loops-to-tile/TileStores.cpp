//===- TileStores.cpp - fragments on their way to global memory -----------===//
#include "dialects/Tile/Instructions.h"
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileBarriers.h"
#include "passes/loops-to-tile/TileBox.h"

using namespace mlir;

namespace tilewright {

/// The most rows of a box that divide those of a buffer.
static int64_t getBoxRows(int64_t rows) {
  int64_t box = std::min(rows, tile::kMaxBoxExtent);
  while (box > 1 && (rows % box || box % 8))
    --box;
  return box;
}

template <typename Op> FailureOr<tile::TensorMapType> getMapType(Op op, tile::BufferType part) {
  auto emitError = [&] { return op.emitOpError("cannot be copied by TMA: "); };
  std::optional<SmallVector<int64_t>> box = TileBox::of(op).getPart(part.getRows());
  if (!box) {
    emitError() << "expected a box whose rows can be parted into boxes of " << part.getRows() << " rows, got ["
                << op.getBox() << "]";
    return failure();
  }
  // Rows along one dimension may take several boxes.
  int64_t &rows = (*box)[box->size() - 2];
  if (rows == part.getRows())
    rows = getBoxRows(rows);
  box->back() = part.getPanelColumns();
  if (failed(tile::TensorMapType::verify(emitError, *box, part.getElementType(), part.getSwizzle())))
    return failure();
  return tile::TensorMapType::get(op.getContext(), *box, part.getElementType(), part.getSwizzle());
}
template FailureOr<tile::TensorMapType> getMapType<tile::LoadOp>(tile::LoadOp, tile::BufferType);

template <typename Op> Value encodeTile(Op op, tile::KernelOp kernel, tile::BufferType part) {
  OpBuilder builder(kernel);
  return tile::EncodeOp::create(builder, op.getLoc(), *getMapType(op, part), op.getTensor(), op.getExtentsAttr(),
                                op.getStridesAttr(), op.getStepsAttr());
}
template Value encodeTile<tile::LoadOp>(tile::LoadOp, tile::KernelOp, tile::BufferType);
template Value encodeTile<tile::StoreOp>(tile::StoreOp, tile::KernelOp, tile::BufferType);

static tile::BufferType getPart(tile::BufferType whole, int64_t rows, int64_t columns) {
  return tile::BufferType::get(whole.getContext(), {rows, columns}, whole.getElementType(), whole.getSwizzle(),
                               columns > whole.getPanelColumns() ? whole.getPanelRows() : rows);
}

/// The buffer that a tile goes by way of. Each set of warpgroups has its own rows: one writes to them while TMA reads
/// another's.
static tile::BufferType getWholeType(tile::KernelOp kernel, tile::StoreOp store) {
  auto [rows, columns] = store.getBufferShape(tile::kWgmmaRows * kernel.getWarpgroups(), store.getColumns());
  rows *= kernel.getPingpong();
  Type element = cast<MemRefType>(store.getTensor().getType()).getElementType();
  return tile::BufferType::get(store.getContext(), {rows, columns}, element, store.getSwizzle(), rows);
}

/// What a warpgroup has of that for one part of the fragment.
static tile::BufferType getPartType(tile::KernelOp kernel, tile::StoreOp store) {
  auto [rows, columns] = store.getBufferShape(tile::kWgmmaRows, store.getPartColumns());
  return getPart(getWholeType(kernel, store), rows, columns);
}

/// Whether there are buffers of a tile that is stored, and who writes to them.
static LogicalResult verifyStore(tile::KernelOp kernel, Block &role, tile::StoreOp store) {
  if (isa<tile::RoleOp>(role.getParentOp()) && !role.getNumArguments())
    return store.emitOpError("expected to stand in a role that has the number of its warpgroup as an argument");
  auto emitError = [&] { return store.emitOpError("cannot go by way of shared memory: "); };
  Type element = cast<MemRefType>(store.getTensor().getType()).getElementType();
  auto verify = [&](int64_t ofRows, int64_t ofColumns) {
    auto [rows, columns] = store.getBufferShape(ofRows, ofColumns);
    return tile::BufferType::verify(emitError, {rows, columns}, element, store.getSwizzle(), rows);
  };
  if (failed(verify(tile::kWgmmaRows, store.getColumns())) || failed(verify(tile::kWgmmaRows, store.getPartColumns())))
    return failure();
  // Where columns are rows of the tensor, a narrower tile may end inside of a part.
  ArrayRef<int64_t> narrow = store.getNarrow().value_or(ArrayRef<int64_t>());
  for (size_t at = 0; store.getTransposed() && at < narrow.size(); at += 3)
    if (int64_t left = narrow[at] % store.getPartColumns(); left && failed(verify(tile::kWgmmaRows, left)))
      return failure();
  return store.getByThreads() ? success() : LogicalResult(getMapType(store, getPartType(kernel, store)));
}

Value StorePlacer::getBuffer(tile::StoreOp store) {
  tile::BufferType whole = getWholeType(kernel, store);
  Value &mine = buffers[{store.getTensor(), whole}];
  if (mine)
    return mine;
  OpBuilder::InsertionGuard guard(builder);
  Block &body = kernel.getBody().front();
  Operation *behind = &body.front();
  for (auto ring : body.getOps<tile::RingOp>())
    behind = ring;
  builder.setInsertionPointAfter(behind);
  Value buffer = tile::AllocOp::create(builder, store.getLoc(), whole, IntegerAttr());
  bool isRole = isa<tile::RoleOp>(role.getParentOp());
  Location loc = store.getLoc();
  if (isRole)
    builder.setInsertionPointToStart(&role);
  else
    builder.setInsertionPointAfter(buffer.getDefiningOp());
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  Value number = isRole ? role.getArgument(0) : kernel.getWarpgroup(), row = number, column;
  if (store.getTransposed()) {
    int64_t warpgroups = kernel.getWarpgroups();
    bool alternates = kernel.getPingpong() > 1;
    Value set = warpgroups == 1 ? number : Numbers{builder, loc}.divide(number, warpgroups);
    row = alternates ? set : constant(0);
    column = !alternates ? number : warpgroups == 1 ? constant(0) : Numbers{builder, loc}.remainder(number, warpgroups);
  } else {
    column = constant(0);
  }
  auto [rows, columns] = store.getBufferShape(tile::kWgmmaRows, store.getColumns());
  tile::BufferType part = getPart(whole, rows, columns);
  mine = part == whole ? buffer : tile::PartOp::create(builder, loc, part, buffer, row, column).getResult();
  return mine;
}

Value StorePlacer::getMap(tile::StoreOp store, tile::BufferType part) {
  Value &map = maps[{store.getTensor(), part}];
  if (!map)
    map = encodeTile(store, kernel, part);
  return map;
}

/// What is stored of a narrow tile is what is inside of the tensor, as this map has it: columns of each narrow tile are
/// a dimension of their own, and so is where the first begins. Where the fragment's columns are rows of the tensor, the
/// map's boxes have as many as are left for the last part.
Value StorePlacer::getNarrowMap(tile::StoreOp store, tile::BufferType part, int64_t width) {
  Value &map = narrowMaps[{store.getTensor(), width}];
  if (map)
    return map;
  OpBuilder host(kernel);
  if (store.getTransposed()) {
    auto type = tile::TensorMapType::get(store.getContext(), {width % part.getRows(), part.getPanelColumns()},
                                         part.getElementType(), part.getSwizzle());
    return map = tile::EncodeOp::create(host, store.getLoc(), type, store.getTensor());
  }
  ArrayRef<int64_t> narrow = *store.getNarrow();
  size_t at = 0;
  while (narrow[at] != width)
    at += 3;
  auto tensor = cast<MemRefType>(store.getTensor().getType());
  int64_t count = narrow[at + 1], first = narrow[at + 2];
  SmallVector<int64_t> box = {tile::kWgmmaRows, 1, part.getPanelColumns()},
                       extents = {tensor.getDimSize(0), count, width};
  SmallVector<int64_t> strides = {tensor.getStridesAndOffset().first[0], width, 1};
  if (first) {
    box.insert(box.begin(), 1);
    extents.insert(extents.begin(), 2);
    strides.insert(strides.begin(), first);
  }
  auto type = tile::TensorMapType::get(store.getContext(), box, part.getElementType(), part.getSwizzle());
  auto array = [&](ArrayRef<int64_t> values) { return host.getDenseI64ArrayAttr(values); };
  return map = tile::EncodeOp::create(host, store.getLoc(), type, store.getTensor(), array(extents), array(strides),
                                      array(SmallVector<int64_t>(box.size(), 1)));
}

void StorePlacer::emitCopy(tile::StoreOp store, Value buffer, ValueRange coordinates, int64_t firstColumn) {
  Location at = store.getLoc();
  auto part = cast<tile::BufferType>(buffer.getType());
  int64_t end = firstColumn + store.getPartColumns();
  auto copy = [&](Value map, ValueRange where) {
    tile::TMAStoreOp::create(builder, at, buffer, map, where, store.getReduceAdd());
  };
  SmallVector<int64_t> widths, firsts;
  ArrayRef<int64_t> narrow = store.getNarrow().value_or(ArrayRef<int64_t>());
  for (size_t i = 0; i < narrow.size(); i += 3) {
    widths.push_back(narrow[i]);
    firsts.push_back(narrow[i + 2]);
  }
  if (!store.getWidth() || end <= widths.back())
    return copy(getMap(store, part), coordinates);
  Numbers numbers{builder, at};
  auto constant = [&](int64_t value) -> Value { return numbers.constant(value); };
  emitForWidth(builder, at, store.getWidth(), widths, TypeRange(), [&](int64_t columns) -> SmallVector<Value> {
    if (end <= columns) {
      copy(getMap(store, part), coordinates);
      return {};
    }
    if (store.getTransposed()) {
      if (columns <= firstColumn)
        return {};
      Value inside = tile::PartOp::create(builder, at, getPart(part, columns - firstColumn, part.getColumns()), buffer,
                                          constant(0), constant(0), builder.getI64IntegerAttr(8));
      tile::TMAStoreOp::create(builder, at, inside, getNarrowMap(store, part, columns), coordinates,
                               store.getReduceAdd());
      return {};
    }
    int64_t first = firsts[llvm::find(widths, columns) - widths.begin()];
    Value tile = numbers.divide(numbers.subtract(coordinates[1], firstColumn + first), columns);
    SmallVector<Value> where = {coordinates[0], tile, constant(firstColumn)};
    if (first)
      where.insert(where.begin(), constant(1));
    copy(getNarrowMap(store, part, columns), where);
    return {};
  });
}

void StorePlacer::emitRows(tile::StoreOp store, Value buffer, ValueRange coordinates) {
  auto part = cast<tile::BufferType>(buffer.getType());
  SmallVector<int64_t> box(store.getBox());
  if (store.getTransposed())
    box = *TileBox::of(store).getPart(part.getRows());
  else
    box.back() = part.getColumns();
  tile::StoreRowsOp::create(builder, store.getLoc(), buffer, store.getTensor(), coordinates,
                            builder.getDenseI64ArrayAttr(box), store.getExtentsAttr(), store.getStridesAttr());
}

/// What stores a fragment to shared memory rounds it; one that is held takes half as many registers rounded.
static Value withoutRounding(Value fragment) {
  auto map = fragment.getDefiningOp<tile::MapOp>();
  if (!map || !fragment.hasOneUse())
    return fragment;
  auto yield = cast<tile::YieldOp>(map.getBody().front().getTerminator());
  auto rounded = yield.getElement().getDefiningOp<arith::TruncFOp>();
  if (!rounded || !rounded.getIn().getType().isF32())
    return fragment;
  auto type =
      tile::FragmentType::get(map.getContext(), map.getResult().getType().getShape(), rounded.getIn().getType());
  Value element = rounded.getIn();
  if (auto argument = dyn_cast<BlockArgument>(element);
      argument && argument.getOwner() == &map.getBody().front() && argument.getArgNumber() < map.getFragments().size())
    return map.getFragments()[argument.getArgNumber()];
  yield.getElementMutable().assign(element);
  map.getResult().setType(type);
  if (rounded->use_empty())
    rounded.erase();
  return fragment;
}

/// By way of the warpgroup's part of the buffer, which must have been read before it is written to again.
LogicalResult StorePlacer::place(tile::StoreOp store) {
  if (failed(verifyStore(kernel, role, store)))
    return failure();
  Location at = store.getLoc();
  builder.setInsertionPoint(store);
  Value mine = getBuffer(store),
        fragment = store.getDeferred() ? store.getFragment() : withoutRounding(store.getFragment());
  int64_t columns = store.getPartColumns(), places = store.getColumns() / columns;
  tile::BufferType partType = getPartType(kernel, store);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, at, value); };
  SmallVector<Value> parts(places, mine);
  if (places > 1)
    for (int64_t number = 0; number < places; ++number) {
      auto [row, column] = store.getBufferShape(0, number);
      parts[number] = tile::PartOp::create(builder, at, partType, mine, constant(row), constant(column));
    }
  int64_t firstPart = store.getParts() ? (*store.getParts())[0] : 0;
  int64_t count = store.getParts() ? (*store.getParts())[1] : store.countParts();
  TileBox box = TileBox::of(store);
  SmallVector<Value> begins(store.getCoordinates());
  // Nothing was written yet to the places that the first store of a block takes.
  bool isFirst = store->getBlock() == &role && !written.contains(mine);
  written.insert(mine);
  for (int64_t part = firstPart; part < firstPart + count; ++part) {
    Value buffer = parts[part % places];
    if (!isFirst || part - firstPart >= places) {
      if (!store.getByThreads())
        tile::WaitStoresOp::create(builder, at, places - 1, /*read=*/true);
      tile::SyncWarpgroupOp::create(builder, at);
    }
    tile::StoreFragmentOp::create(builder, at, fragment, part * columns, store.getTransposed(), buffer);
    if (!store.getByThreads())
      tile::FenceAsyncOp::create(builder, at);
    tile::SyncWarpgroupOp::create(builder, at);
    SmallVector<Value> coordinates(begins);
    if (part && store.getTransposed())
      box.moveToPart(builder, at, columns, constant(part), coordinates);
    else if (part)
      coordinates.back() = affine::makeComposedAffineApply(builder, at, builder.getAffineDimExpr(0) + part * columns,
                                                           {OpFoldResult(begins.back())});
    if (store.getByThreads()) {
      emitRows(store, buffer, coordinates);
      continue;
    }
    hasTMA = true;
    auto elect = tile::ElectOp::create(builder, at, tile::ElectScope::Warpgroup);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&elect.getBody());
    emitCopy(store, buffer, coordinates, part * columns);
    tile::CommitStoresOp::create(builder, at);
  }
  Operation *map = store.getFragment().getDefiningOp();
  store.erase();
  // One that only rounded.
  if (isa_and_nonnull<tile::MapOp>(map) && map->use_empty() && map != fragment.getDefiningOp())
    map->erase();
  return success();
}

void StorePlacer::place(tile::ShareOp share) {
  Location at = share.getLoc();
  tile::BufferType whole = share.getTile().getType();
  Value &buffer = shared[{share->getAttr(te::kStageAttr), whole}];
  if (!buffer) {
    Block &body = kernel.getBody().front();
    Operation *behind = &body.front();
    for (auto ring : body.getOps<tile::RingOp>())
      behind = ring;
    builder.setInsertionPointAfter(behind);
    buffer = tile::AllocOp::create(builder, at, whole, IntegerAttr());
  }
  builder.setInsertionPoint(share);
  Value number = isa<tile::RoleOp>(role.getParentOp()) ? role.getArgument(0) : kernel.getWarpgroup();
  tile::BufferType part = getPart(whole, tile::kWgmmaRows, whole.getColumns());
  Value mine = part == whole ? buffer
                             : tile::PartOp::create(builder, at, part, buffer, number,
                                                    arith::ConstantIndexOp::create(builder, at, 0).getResult())
                                   .getResult();
  auto sync = [&] {
    int64_t warpgroups = kernel.getWarpgroups();
    tile::SyncWarpgroupOp::create(builder, at, warpgroups > 1 ? builder.getI64IntegerAttr(warpgroups) : IntegerAttr());
  };
  sync();
  tile::StoreFragmentOp::create(builder, at, share.getFragment(), 0, /*transposed=*/false, mine);
  tile::FenceAsyncOp::create(builder, at);
  sync();
  share.getTile().replaceAllUsesWith(buffer);
  share.erase();
}

void StorePlacer::finish() {
  if (!hasTMA)
    return;
  builder.setInsertionPointToEnd(&role);
  tile::WaitStoresOp::create(builder, kernel.getLoc(), 0, /*read=*/true);
}
} // namespace tilewright
