//===- TileEmitter.cpp - the launch, and what each role does --------------===//
#include "passes/loops-to-tile/TileEmitter.h"
#include "passes/LaunchAttributes.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/Numbers.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

TileEmitter::TileEmitter(TileProgram &program) : program(program), builder(program.nest), loc(program.steps.getLoc()) {}

Type TileEmitter::getElement(const TileCopy &copy) const {
  if (copy.buffer == program.a.buffer)
    return program.aType;
  return copy.buffer == program.b.buffer ? program.bType : cast<MemRefType>(copy.buffer.getType()).getElementType();
}

tile::BufferType TileEmitter::getBufferType(const TileCopy &copy, Type element, int64_t columns) {
  return tile::BufferType::get(builder.getContext(), {copy.rows, columns}, element, copy.swizzle, copy.rows);
}

/// The most rows of a box that divide those of a buffer.
static int64_t getBoxRows(int64_t rows) {
  int64_t box = std::min(rows, tile::kMaxBoxExtent);
  while (rows % box || box % 8)
    --box;
  return box;
}

Value TileEmitter::emitMap(const TileCopy &copy, tile::BufferType buffer) {
  SmallVector<int64_t> box = *copy.getPartBox(buffer.getRows());
  // Rows along one dimension may take several boxes.
  if (box.back() == buffer.getRows())
    box.back() = getBoxRows(buffer.getRows());
  box.push_back(buffer.getPanelColumns());
  auto type = tile::TensorMapType::get(builder.getContext(), box, buffer.getElementType(), buffer.getSwizzle());
  if (copy.hasTensorDimensions())
    return tile::EncodeOp::create(builder, copy.getLoc(), type, copy.tensor);
  SmallVector<int64_t> extents, strides, steps;
  for (const TileDimension &dimension : copy.dimensions) {
    extents.push_back(dimension.extent);
    strides.push_back(dimension.stride);
    steps.push_back(dimension.step);
  }
  auto array = [&](ArrayRef<int64_t> values) { return builder.getDenseI64ArrayAttr(values); };
  return tile::EncodeOp::create(builder, copy.getLoc(), type, copy.tensor, array(extents), array(strides), array(steps));
}

SmallVector<Value> TileEmitter::getCoordinates(const TileCopy &copy) {
  SmallVector<Value> coordinates;
  for (const TileDimension &dimension : copy.dimensions)
    coordinates.push_back(getInUnits(dimension.first).materialize(builder, copy.getLoc(), places));
  return coordinates;
}

void TileEmitter::moveToPart(const TileCopy &copy, int64_t rows, Value number, MutableArrayRef<Value> coordinates) {
  SmallVector<int64_t> box = *copy.getPartBox(rows);
  AffineExpr first = builder.getAffineDimExpr(0), rest = builder.getAffineDimExpr(1);
  int64_t left = copy.rows / rows;
  for (size_t i = box.size(); i-- > 0 && left > 1;) {
    const TileDimension &dimension = copy.dimensions[i];
    int64_t parts = dimension.box / box[i];
    if (parts == 1)
      continue;
    AffineExpr digit = left == parts ? rest : rest % parts;
    coordinates[i] = binary(first + digit * (box[i] * dimension.step), {coordinates[i], number});
    rest = rest.floorDiv(parts);
    left /= parts;
  }
}

void TileEmitter::emitMaps() {
  SmallVector<tile::BufferType> buffers;
  for (const TileCopy &copy : program.loads) {
    tile::BufferType whole = getBufferType(copy, getElement(copy), copy.columns), part = whole;
    for (unsigned tag = 0; tag < 2; ++tag)
      if (program.isMulticast(copy, tag)) {
        bool byColumns = program.isMulticastByColumns(copy, tag);
        int64_t rows = byColumns ? part.getRows() : part.getRows() / program.cluster[tag];
        int64_t columns = byColumns ? part.getColumns() / program.cluster[tag] : part.getColumns();
        part = getPartType(part, rows, columns);
      }
    buffers.push_back(whole);
    parts.push_back(part);
    maps.push_back(emitMap(copy, part));
  }
  ringType = tile::RingType::get(builder.getContext(), program.depth, buffers);
  if (auto &copy = program.result) {
    resultMap = emitMap(*copy, getResultPartType());
    if (program.narrower)
      emitNarrowMaps();
  }
}

gpu::LaunchOp TileEmitter::emitLaunch() {
  SmallVector<NamedAttribute> origin;
  auto say = [&](StringRef what, const Twine &why) { origin.push_back(builder.getNamedAttr(what, builder.getStringAttr(why))); };
  Numbers numbers{builder, loc};
  Value grid[3], cluster[3];
  for (unsigned tag = 0; tag < 3; ++tag) {
    cluster[tag] = constant(program.cluster[tag]);
    Value running = !isPersistent() ? clusters[tag] : tag == 0 ? stayingClusters : constant(1);
    grid[tag] = numbers.multiply(running, program.cluster[tag]);
    static constexpr StringLiteral kNames[] = {"grid.x", "grid.y", "grid.z"};
    scf::ForOp loop = program.blocks[tag];
    if (isPersistent() && tag == 0)
      say(kNames[tag], "persistent blocks of stage " + getAxisName(loop ? loop : program.steps, program.function).stage);
    else if (loop && !isPersistent())
      say(kNames[tag], describeOrigin(getAxisName(loop, program.function), loop.getLoc()));
  }
  int64_t multiplying = program.numWarpgroups * program.numConsumers;
  Value one = constant(1), threads = constant(tile::kWarpgroupSize * (program.isSpecialized + multiplying));
  say("block.x", Twine(program.isSpecialized ? "a warpgroup that copies and " : "warpgroups that multiply: ") +
                     Twine(multiplying) + (program.isSpecialized ? " that multiply, " : ", ") +
                     getFileAndLine(program.steps.getLoc()));
  bool isCluster = program.cluster[0] * program.cluster[1] > 1;
  auto launch = gpu::LaunchOp::create(builder, program.nest->getLoc(), grid[0], grid[1], grid[2], threads, one, one, Value(),
                                      Type(), ValueRange(), TypeRange(), TypeRange(), isCluster ? cluster[0] : Value(),
                                      isCluster ? cluster[1] : Value(), isCluster ? cluster[2] : Value());
  // The builder leaves out the arguments for the cluster's ids and sizes.
  Block &body = launch.getBody().front();
  if (isCluster)
    body.addArguments(SmallVector<Type>(6, builder.getIndexType()), SmallVector<Location>(6, loc));
  launch->setAttr(kLaunchOriginAttr, builder.getDictionaryAttr(origin));
  if (isNonEmpty && !getConstantIntValue(tiles))
    launch->setAttr(kNonEmptyAttr, builder.getUnitAttr());
  return launch;
}

void TileEmitter::emit() {
  emitMaps();
  emitCounts();
  emitWorkspace();
  gpu::LaunchOp launch = emitLaunch();
  builder.setInsertionPointToStart(&launch.getBody().front());
  ring = tile::RingOp::create(builder, loc, ringType, program.numWarpgroups, IntegerAttr(), IntegerAttr());
  if (auto &copy = program.result) {
    result = tile::AllocOp::create(builder, copy->getLoc(), getResultType(), IntegerAttr());
  }
  for (unsigned tag = 0; tag < 2; ++tag)
    if (program.cluster[tag] > 1)
      ranks[tag] = gpu::ClusterBlockIdOp::create(builder, loc, static_cast<gpu::Dimension>(tag));
  gpu::KernelDim3 ids = launch.getBlockIds();
  Value blockIds[] = {ids.x, ids.y, ids.z};
  for (unsigned tag = 0; tag < 3; ++tag)
    if (program.blocks[tag] && !isPersistent())
      places.map(scf::ForOp(program.blocks[tag]).getInductionVar(), blockIds[tag]);
  if (program.isSpecialized) {
    auto roles = tile::RolesOp::create(builder, loc);
    Block *all = builder.createBlock(&roles.getBody());
    builder.setInsertionPointToStart(all);
    emitRole("producer", tile::kWarpgroupWarps, program.producerRegisters, false);
    emitRole("consumer", tile::kWarpgroupWarps * program.numWarpgroups * program.numConsumers, program.consumerRegisters, true);
  } else {
    Value size = constant(tile::kWarpgroupSize);
    emitConsumer(arith::DivUIOp::create(builder, loc, launch.getThreadIds().x, size));
  }
  builder.setInsertionPointToEnd(&launch.getBody().front());
  gpu::TerminatorOp::create(builder, loc);
  program.nest->erase();
}

void TileEmitter::emitRole(StringRef name, int64_t warps, int64_t registers, bool multiplies) {
  OpBuilder::InsertionGuard guard(builder);
  bool takesTurns = multiplies && program.numConsumers > 1;
  auto role = tile::RoleOp::create(builder, loc, name, warps, builder.getI64IntegerAttr(registers),
                                   takesTurns ? builder.getI64IntegerAttr(program.numConsumers) : IntegerAttr());
  Block *body = builder.createBlock(&role.getBody());
  if (multiplies)
    return emitConsumer(body->addArgument(builder.getIndexType(), loc));
  auto elect = tile::ElectOp::create(builder, loc, tile::ElectScope::Role);
  builder.createBlock(&elect.getBody());
  emitTiles(false);
}

void TileEmitter::emitConsumer(Value number) {
  warpgroup = number;
  if (program.numConsumers > 1) {
    Value each = constant(program.numWarpgroups);
    set = program.numWarpgroups == 1 ? number : arith::DivUIOp::create(builder, loc, number, each).getResult();
    warpgroup = program.numWarpgroups == 1 ? constant(0) : arith::RemUIOp::create(builder, loc, number, each).getResult();
  }
  if (program.warpgroups)
    places.map(program.warpgroups.getInductionVar(), warpgroup);
  if (auto &copy = program.result) {
    auto whole = cast<tile::BufferType>(result.getType());
    auto [rows, columns] = program.getResultShape(copy->atOnce, tile::kWgmmaRows);
    tile::BufferType part = getPartType(whole, rows, columns);
    auto [row, column] = program.isTransposed ? std::pair(set ? set : constant(0), warpgroup) : std::pair(number, constant(0));
    myResult = part == whole ? result : tile::PartOp::create(builder, copy->getLoc(), part, result, row, column).getResult();
  }
  emitTiles(true);
  if (result)
    tile::WaitStoresOp::create(builder, loc, 0, /*read=*/true);
}

/// Waits until all that was copied has been used, by the cluster's other blocks too: then nothing of theirs is on its way
/// to this block's memory, and it may end.
void TileEmitter::emitDrain(RingState state, bool multiplies) {
  bool isShared = llvm::any_of(program.loads, [&](const TileCopy &copy) {
    return program.isMulticast(copy, 0) || program.isMulticast(copy, 1);
  });
  if (multiplies || !isShared)
    return;
  for (int64_t slot = 0; slot < program.depth; ++slot, state = advance(state))
    tile::AcquireOp::create(builder, loc, ring, state.slot, state.phase);
}

TileEmitter::RingState TileEmitter::emitTile(bool multiplies, RingState state) {
  if (!multiplies)
    return emitLoads(state);
  Value fragment;
  RingState after = program.promotedSteps ? emitPromotedProducts(state, fragment) : emitProducts(state, fragment);
  Value isThere = emitIsThere();
  if (share) {
    auto [isSum, sum] = emitSumOfParts(fragment);
    fragment = sum;
    isThere = isThere ? Numbers{builder, loc}.both(isThere, isSum) : isSum;
  }
  if (held) {
    holdResult(fragment, isThere);
    return after;
  }
  OpBuilder::InsertionGuard guard(builder);
  if (isThere)
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isThere, /*withElseRegion=*/false).thenBlock());
  emitFunctions(fragment);
  return after;
}

/// A tile that is not there is multiplied all the same, for the cluster's other blocks.
Value TileEmitter::emitIsThere() {
  Numbers numbers{builder, loc};
  Value isThere;
  for (unsigned tag = 0; tag < 3; ++tag)
    if (scf::ForOp loop = program.blocks[tag]; loop && program.cluster[tag] > 1) {
      std::optional<int64_t> extent = getConstantIntValue(loop.getUpperBound());
      if (extent && *extent % program.cluster[tag] == 0)
        continue;
      Value holds = numbers.isLess(places.lookup(loop.getInductionVar()), loop.getUpperBound());
      isThere = isThere ? numbers.both(isThere, holds) : holds;
    }
  return isThere;
}

void TileEmitter::emitFill(Value step, RingState state) {
  if (isBackwards) {
    Numbers numbers{builder, loc};
    Value last = numbers.subtract(numbers.add(getFirstStep(), getEndStep()), 1);
    step = numbers.choose(isBackwards, numbers.subtract(last, step), step);
  }
  places.map(program.steps.getInductionVar(), step);
  auto acquired = tile::AcquireOp::create(builder, loc, ring, state.slot, state.phase);
  for (auto [number, copy] : llvm::enumerate(program.loads)) {
    Value buffer = acquired.getBuffers()[number];
    SmallVector<Value> coordinates = getCoordinates(copy);
    tile::ClusterAxisAttr multicast;
    // Of the blocks that need the same each copies a part to all.
    for (unsigned tag = 0; tag < 2; ++tag) {
      if (!program.isMulticast(copy, tag))
        continue;
      auto whole = cast<tile::BufferType>(buffer.getType());
      bool byColumns = parts[number].getColumns() != whole.getColumns();
      buffer = tile::PartOp::create(builder, copy.getLoc(), parts[number], buffer, byColumns ? constant(0) : ranks[tag],
                                    byColumns ? ranks[tag] : constant(0));
      if (byColumns)
        coordinates.back() = binary(builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1) * parts[number].getColumns(),
                                    {coordinates.back(), ranks[tag]});
      else
        moveToPart(copy, parts[number].getRows(), ranks[tag], coordinates);
      multicast = tile::ClusterAxisAttr::get(builder.getContext(), tag == 0 ? tile::ClusterAxis::X : tile::ClusterAxis::Y);
    }
    tile::TMALoadOp::create(builder, copy.getLoc(), maps[number], coordinates, buffer, ring, state.slot, multicast);
  }
  tile::CommitOp::create(builder, loc, ring, state.slot);
}

TileEmitter::RingState TileEmitter::advance(RingState state, int64_t by) {
  auto next = tile::AdvanceOp::create(builder, loc, ring, state.slot, state.phase, by);
  return {next.getNextSlot(), next.getNextPhase()};
}

/// Fills a slot of the ring for each step.
TileEmitter::RingState TileEmitter::emitLoads(RingState state) {
  auto loop = scf::ForOp::create(builder, loc, getFirstStep(), getEndStep(), constant(1), ValueRange{state.slot, state.phase});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  RingState here{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  emitFill(loop.getInductionVar(), here);
  RingState next = advance(here);
  scf::YieldOp::create(builder, loc, ValueRange{next.slot, next.phase});
  return {loop.getResult(0), loop.getResult(1)};
}
} // namespace tilewright
