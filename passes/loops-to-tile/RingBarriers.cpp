//===- RingBarriers.cpp - slots of rings that a role gets and puts --------===//
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileBarriers.h"
#include "passes/loops-to-tile/TileBox.h"

using namespace mlir;

namespace tilewright {

RingState BarrierPlacer::advance(Value ring, RingState state, int64_t by) {
  auto next = tile::AdvanceOp::create(builder, ring.getLoc(), ring, state.slot, state.phase, by);
  return {next.getNextSlot(), next.getNextPhase()};
}

RingState &BarrierPlacer::getState(Value ring) {
  RingState &state = states[ring];
  if (!state.slot) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(top);
    auto zero = [&]() -> Value {
      return arith::ConstantOp::create(builder, ring.getLoc(), builder.getI32IntegerAttr(0));
    };
    state.slot = zero();
    state.phase = zero();
  }
  return state;
}

void BarrierPlacer::advanceTaken() {
  for (Value ring : std::exchange(taken, {}))
    states[ring] = advance(ring, states[ring]);
}

void BarrierPlacer::release(ArrayRef<ReadSlot> slots) {
  for (const ReadSlot &one : slots)
    tile::ReleaseOp::create(builder, one.ring.getLoc(), one.ring, one.slot);
}

void BarrierPlacer::releaseReadUpTo(function_ref<bool(Operation *)> isLast) {
  SmallVector<ReadSlot> still;
  for (const ReadSlot &one : reading)
    if (isLast(one.last))
      release(one);
    else
      still.push_back(one);
  reading = still;
}

void BarrierPlacer::placeGet(tile::GetOp get) {
  Value ring = get.getRing();
  builder.setInsertionPoint(get);
  if (llvm::is_contained(taken, ring))
    advanceTaken();
  RingState state = getState(ring);
  auto filled = tile::WaitOp::create(builder, get.getLoc(), get.getRing(), state.slot, state.phase);
  Operation *last = nullptr;
  SmallVector<Value> tiles(get.getTiles());
  while (!tiles.empty())
    for (Operation *user : tiles.pop_back_val().getUsers()) {
      Operation *here = get->getBlock()->findAncestorOpInBlock(*user);
      if (auto part = dyn_cast<tile::PartOp>(user); part && here == user)
        tiles.push_back(part);
      else if (!last || last->isBeforeInBlock(here))
        last = here;
    }
  get.replaceAllUsesWith(filled.getBuffers());
  taken.push_back(ring);
  reading.push_back({ring, state.slot, last});
  get.erase();
}

/// What is copied at one coordinate of a gathered dimension.
static tile::BufferType getGatheredPart(tile::LoadOp load) {
  tile::BufferType whole = load.getTile().getType();
  int64_t rows = whole.getRows() / load.countGathered();
  return tile::BufferType::get(whole.getContext(), {rows, whole.getColumns()}, whole.getElementType(),
                               whole.getSwizzle(),
                               whole.getColumns() > whole.getPanelColumns() ? whole.getPanelRows() : rows);
}

/// Copies one part after the other of a tile with a gathered dimension.
static void placeGathered(OpBuilder &builder, tile::KernelOp kernel, tile::LoadOp load, Value buffer,
                          TypedValue<tile::RingType> ring, Value slot) {
  Location loc = load.getLoc();
  tile::BufferType part = getGatheredPart(load);
  int64_t count = load.countGathered(), dimension = *load.getGathered();
  Value map = encodeTile(load, kernel, part);
  for (int64_t number = 0; number < count; ++number) {
    SmallVector<Value> coordinates(load.getCoordinates().take_front(dimension));
    coordinates.push_back(load.getCoordinates()[dimension + number]);
    llvm::append_range(coordinates, load.getCoordinates().drop_front(dimension + count));
    Value target = buffer;
    if (count > 1)
      target = tile::PartOp::create(builder, loc, part, buffer, arith::ConstantIndexOp::create(builder, loc, number),
                                    arith::ConstantIndexOp::create(builder, loc, 0));
    tile::TMALoadOp::create(builder, loc, map, coordinates, target, ring, slot, /*multicast=*/nullptr,
                            load.getGatheredAttr());
  }
}

/// What a block copies of a tile.
static std::optional<tile::BufferType> getCopiedPart(tile::LoadOp load, tile::KernelOp kernel) {
  tile::BufferType whole = load.getTile().getType();
  auto axis = load.getMulticast();
  return axis ? getCopiedPart(whole, kernel.getCluster()[unsigned(*axis)]) : whole;
}

LogicalResult verifyLoad(tile::LoadOp load, tile::KernelOp kernel) {
  if (load.getGathered())
    return getMapType(load, getGatheredPart(load));
  std::optional<tile::BufferType> part = getCopiedPart(load, kernel);
  if (!part)
    return load.emitOpError("expected a tile of which each of ")
           << kernel.getCluster()[unsigned(*load.getMulticast())]
           << " blocks copies whole panels or a multiple of 8 rows, got " << load.getTile().getType();
  return getMapType(load, *part);
}

Operation *BarrierPlacer::placePut(tile::PutOp put, Operation *before, RingState state) {
  TypedValue<tile::RingType> ring = put.getRing();
  if (before)
    builder.setInsertionPointAfter(before);
  else
    builder.setInsertionPointToStart(put->getBlock());
  // Which iteration it is for is known before, and where its tiles lie.
  bool isRead = llvm::any_of(*put->getBlock(), llvm::IsaPred<memref::LoadOp>);
  auto isBefore = [&](Operation &op) {
    return isa<arith::ArithDialect>(op.getDialect()) || (isRead && isa<affine::AffineApplyOp, memref::LoadOp>(op));
  };
  while (isBefore(*builder.getInsertionPoint()))
    builder.setInsertionPointAfter(&*builder.getInsertionPoint());
  auto acquired = tile::AcquireOp::create(builder, put.getLoc(), ring, state.slot, state.phase);
  SmallVector<tile::LoadOp> loads;
  for (auto [tile, buffer] : llvm::zip(put.getTiles(), acquired.getBuffers())) {
    auto load = tile.getDefiningOp<tile::LoadOp>();
    loads.push_back(load);
    builder.setInsertionPoint(load);
    Location loc = load.getLoc();
    if (load.getGathered()) {
      placeGathered(builder, kernel, load, buffer, ring, state.slot);
      continue;
    }
    tile::BufferType whole = load.getTile().getType(), part = whole;
    SmallVector<Value> coordinates(load.getCoordinates());
    Value target = buffer;
    // Of the blocks that need the same each copies a part to all: columns of it, whole panels, or else rows.
    if (auto axis = load.getMulticast()) {
      part = *getCopiedPart(load, kernel);
      bool byColumns = part.getColumns() < whole.getColumns();
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0), rank;
      {
        // Before the roles, as all that a block is.
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointAfter(ring.getDefiningOp());
        while (isa<tile::SharedMemoryOpInterface>(*builder.getInsertionPoint()))
          builder.setInsertionPointAfter(&*builder.getInsertionPoint());
        rank = gpu::ClusterBlockIdOp::create(builder, kernel.getLoc(), static_cast<gpu::Dimension>(*axis));
      }
      target = tile::PartOp::create(builder, loc, part, buffer, byColumns ? zero : rank, byColumns ? rank : zero);
      if (byColumns)
        coordinates.back() = affine::makeComposedAffineApply(
            builder, loc, builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1) * part.getColumns(),
            {coordinates.back(), rank});
      else
        TileBox::of(load).moveToPart(builder, loc, part.getRows(), rank, coordinates);
    }
    tile::TMALoadOp::create(builder, loc, encodeTile(load, kernel, part), coordinates, target, ring, state.slot,
                            load.getMulticastAttr(), /*gathered=*/nullptr);
  }
  builder.setInsertionPoint(put);
  Operation *commit = tile::CommitOp::create(builder, put.getLoc(), ring, state.slot);
  put.erase();
  for (tile::LoadOp load : loads)
    load.erase();
  return commit;
}

void BarrierPlacer::placeSkip(tile::SkipOp skip) {
  builder.setInsertionPoint(skip);
  advanceTaken();
  Value ring = skip.getRing();
  Location loc = skip.getLoc();
  RingState state = getState(ring);
  int64_t by = skip.getBy();
  if (!skip.getTimes()) {
    states[ring] = advance(ring, state, by);
  } else {
    RingState first = state;
    for (int64_t times = 1; times <= int64_t(*skip.getMost()); ++times) {
      RingState later = advance(ring, first, times * by);
      Value isThis = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, skip.getTimes(),
                                           arith::ConstantIndexOp::create(builder, loc, times));
      state.slot = arith::SelectOp::create(builder, loc, isThis, later.slot, state.slot);
      state.phase = arith::SelectOp::create(builder, loc, isThis, later.phase, state.phase);
    }
    states[ring] = state;
  }
  skip.erase();
}

void BarrierPlacer::drain(Block &block) {
  builder.setInsertionPointToEnd(&block);
  for (auto &[ring, state] : states) {
    bool isShared = false;
    for (Operation *user : ring.getUsers())
      if (auto load = dyn_cast<tile::TMALoadOp>(user))
        isShared |= load.getMulticast().has_value();
    if (!isShared)
      continue;
    auto typed = cast<TypedValue<tile::RingType>>(ring);
    for (int64_t slot = 0; slot < typed.getType().getDepth(); ++slot, state = advance(ring, state))
      tile::AcquireOp::create(builder, ring.getLoc(), typed, state.slot, state.phase);
  }
}

} // namespace tilewright
