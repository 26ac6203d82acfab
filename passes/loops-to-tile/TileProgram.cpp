//===- TileProgram.cpp - the loops of a kernel of tiles -------------------===//
#include "passes/loops-to-tile/TileProgram.h"
#include "passes/HoistValue.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

/// Whether the op is the outermost loop of a product by warpgroups.
static bool isProduct(Operation *op) {
  auto instruction = op->getAttrOfType<StringAttr>(schedule::kInstructionAttr);
  return instruction && (instruction.getValue() == kWgmma || instruction.getValue().starts_with(kWgmmaPromoted));
}

/// The primitives that need a kernel of tiles, by what they leave on ops.
static constexpr std::pair<StringLiteral, StringLiteral> kMarks[] = {{schedule::kCopierAttr, "copy_by"},
                                                                    {schedule::kSpecializeAttr, "specialize"},
                                                                    {schedule::kClusterAttr, "cluster"},
                                                                    {schedule::kPersistentAttr, "persistent"}};

bool TileProgram::isWanted(Operation *nest) {
  WalkResult walked = nest->walk([](Operation *op) {
    bool isMarked = llvm::any_of(kMarks, [&](auto mark) { return op->hasAttr(mark.first); });
    return WalkResult(failure(isMarked || isProduct(op)));
  });
  return walked.wasInterrupted();
}

SmallVector<scf::ForOp> getLoopsAround(Operation *op, Operation *nest) {
  SmallVector<scf::ForOp> loops;
  for (Operation *around = op; around; around = around->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(around); loop && around != op)
      loops.insert(loops.begin(), loop);
    if (around == nest)
      break;
  }
  return loops;
}

SmallVector<memref::StoreOp> getStores(Operation *nest) {
  SmallVector<memref::StoreOp> stores;
  nest->walk([&](memref::StoreOp store) { stores.push_back(store); });
  return stores;
}

bool areOfLoops(ArrayRef<LinearIndex> indices, Operation *nest) {
  return llvm::all_of(indices, [&](const LinearIndex &index) {
    return llvm::all_of(index.terms, [&](auto term) {
      Value root = term.first;
      while (auto part = root.getDefiningOp<affine::AffineApplyOp>())
        root = part.getMapOperands()[0];
      return isa<BlockArgument>(root) || !nest->isAncestor(root.getDefiningOp());
    });
  });
}

bool isOnlyComputed(Operation *op) {
  return (op->getNumRegions() == 0 && isMemoryEffectFree(op)) || isa<scf::YieldOp>(op);
}

/// An op that does something else than to load, compute and store, or null.
static Operation *findOther(Operation *statement) {
  Operation *other = nullptr;
  statement->walk([&](Operation *op) {
    bool isKnown = isa<scf::ForOp, scf::IfOp, memref::LoadOp, memref::StoreOp, memref::PrefetchOp>(op) || isOnlyComputed(op);
    other = isKnown ? other : op;
  });
  return other;
}

static std::optional<schedule::ThreadTag> getTag(scf::ForOp loop) {
  auto bind = loop->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr);
  return bind ? std::optional(bind.getValue()) : std::nullopt;
}

bool TileProgram::hasAnyNumberOfSteps() const { return !getConstantIntValue(scf::ForOp(steps).getUpperBound()); }

std::string TileProgram::getStage() const { return getAxisName(product, function).stage; }

InFlightDiagnostic TileProgram::wgmmaError() const {
  return emitError(scf::ForOp(product).getLoc()) << "wgmma of stage '" << getStage() << "': ";
}

LogicalResult TileProgram::match() {
  nest->walk([&](scf::ForOp loop) {
    if (isProduct(loop) && !product)
      product = loop;
  });
  if (!product) {
    WalkResult walked = nest->walk([&](Operation *op) -> WalkResult {
      for (auto [mark, primitive] : kMarks)
        if (op->hasAttr(mark))
          return error(primitive, op->getLoc()) << "expected a kernel that multiplies by wgmma, got one that does not";
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }
  WalkResult walked = nest->walk([&](scf::ForOp loop) -> WalkResult {
    if (getConstantIntValue(loop.getLowerBound()) == 0 && getConstantIntValue(loop.getStep()) == 1)
      return WalkResult::advance();
    return error("wgmma", loop.getLoc()) << "expected loops from 0 by 1, got " << getAxisName(loop, function).quoted();
  });
  if (walked.wasInterrupted())
    return failure();
  StringRef instruction = product->getAttrOfType<StringAttr>(schedule::kInstructionAttr).getValue();
  if (instruction.consume_front(kWgmmaPromoted) && (instruction.getAsInteger(10, promotedSteps) || promotedSteps < 1))
    return wgmmaError() << "expected a number of steps of at least 1 to promote after, got '" << instruction << "'";
  if (failed(matchLoops()) || failed(matchSteps()) || failed(checkLanes()) || failed(matchProduct()) || failed(matchRest()))
    return failure();
  return success(succeeded(checkOrder()) && succeeded(matchNarrower()) && succeeded(checkDeferred()) && succeeded(checkResources()));
}

LogicalResult TileProgram::matchLoops() {
  // From the outside in: blocks and lanes, with nothing but them; then maybe warpgroups, beside what all of them do.
  Operation *at = nest;
  while (true) {
    auto loop = dyn_cast<scf::ForOp>(at);
    std::optional<schedule::ThreadTag> tag = loop ? getTag(loop) : std::nullopt;
    if (!tag || *tag > schedule::ThreadTag::ThreadIdxX)
      break;
    if (failed(hoistExtent("wgmma", loop)))
      return failure();
    if (*tag == schedule::ThreadTag::ThreadIdxX) {
      lanes = loop;
    } else {
      blocks[unsigned(*tag)] = loop;
      if (auto size = loop->getAttrOfType<IntegerAttr>(schedule::kClusterAttr))
        cluster[unsigned(*tag)] = size.getInt();
    }
    blockBody = loop.getBody();
    SmallVector<Operation *> rest;
    for (Operation &op : *blockBody)
      if (!isOnlyComputed(&op))
        rest.push_back(&op);
    if (rest.size() != 1)
      break;
    at = rest.front();
  }
  if (!blockBody)
    return wgmmaError() << "expected loops bound to blocks around it";
  warpgroupBody = blockBody;
  for (Operation &op : *blockBody)
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop->isAncestor(product))
      if (std::optional<schedule::ThreadTag> tag = getTag(loop)) {
        if (*tag != schedule::ThreadTag::ThreadIdxY && *tag != schedule::ThreadTag::ThreadIdxZ)
          return wgmmaError() << "expected warpgroups along threadIdx.y, got " << getAxisName(loop, function).quoted() << " on "
                              << schedule::stringifyThreadTag(*tag);
        warpgroups = loop;
        numWarpgroups = getConstantIntValue(loop.getUpperBound()).value_or(0);
        warpgroupBody = loop.getBody();
      }
  for (Operation *around = product; around != warpgroupBody->getParentOp(); around = around->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(around); loop && loop->hasAttr(schedule::kPipelineAttr))
      steps = loop;
  if (!steps)
    return wgmmaError() << "expected a loop around it that is a software_pipeline, which fetches the tiles";
  if (steps->getBlock() != warpgroupBody) {
    auto around = dyn_cast<scf::ForOp>(steps->getParentOp());
    return error("software_pipeline", steps.getLoc())
           << "expected the pipelined loop right inside the loops on blocks and warpgroups, got it inside "
           << (around ? getAxisName(around, function).quoted() : "a condition");
  }
  return success();
}

LogicalResult TileProgram::hoistExtent(StringRef primitive, scf::ForOp loop) {
  OpBuilder builder(nest);
  FailureOr<Value> extent = hoistValue(builder, nest, loop.getUpperBound());
  if (failed(extent))
    return error(primitive, loop.getLoc()) << "expected the extent of " << getAxisName(loop, function).quoted()
                                           << " to be known when the kernel is launched";
  loop.setUpperBound(*extent);
  return success();
}

scf::ForOp TileProgram::findSymbolicLoop() const {
  for (scf::ForOp loop : {blocks[0], blocks[1], blocks[2], steps})
    if (loop && !getConstantIntValue(loop.getUpperBound()))
      return loop;
  return nullptr;
}

LogicalResult TileProgram::checkOrder() {
  auto refuse = [&] { return error("persistent", nest->getLoc()); };
  auto most = nest->getAttrOfType<IntegerAttr>(schedule::kPersistentAttr);
  if (int64_t each = cluster[0] * cluster[1]; most && most.getInt() < each)
    return refuse() << "expected at least the " << each << " blocks of a cluster, got " << most.getInt();
  auto raster = nest->getAttrOfType<schedule::RasterAttr>(schedule::kRasterAttr);
  bool isCurve = raster && raster.getValue() == schedule::Raster::Hilbert;
  if (isCurve)
    for (unsigned tag = 0; tag < 2; ++tag)
      if (!blocks[tag])
        return refuse() << "expected tiles along blockIdx.x and blockIdx.y for Hilbert's curve, got none along blockIdx." << "xy"[tag];
  if (sharesSteps() && !isSpecialized)
    return refuse() << "expected roles for stream_k, warps that copy beside those that multiply: use s["
                    << getAxisName(steps, function).stage << "].specialize(" << getAxisName(steps, function).axis << ")";
  if (sharesSteps() && numConsumers > 1)
    return refuse() << "expected one set of consumers for stream_k, got " << numConsumers << ", which take tiles in turn";
  scf::ForOp symbolic = findSymbolicLoop();
  if (symbolic && sharesSteps())
    return refuse() << "expected constant extents for stream_k, which deals out the steps of tiles when the program is compiled, "
                       "got a symbolic one of "
                    << getAxisName(symbolic, function).quoted();
  if (symbolic && isCurve && symbolic != steps)
    return refuse() << "expected constant extents for Hilbert's curve, whose squares are laid when the program is compiled, got a "
                       "symbolic one of "
                    << getAxisName(symbolic, function).quoted() << ": use raster=\"grouped\"";
  return success();
}

LogicalResult TileProgram::checkLanes() {
  if (!lanes || getConstantIntValue(lanes.getUpperBound()) != tile::kWarpgroupSize)
    return wgmmaError() << "expected " << tile::kWarpgroupSize
                        << " threads along threadIdx.x, a warpgroup, which multiply together: use s[...].env_threads of the "
                           "kernel's stage with te.thread_axis((0, 128), \"threadIdx.x\")";
  if (!lanes.getInductionVar().use_empty())
    return wgmmaError() << "expected no loop bound to threadIdx.x, whose threads are the lanes of the instruction";
  return success();
}

LogicalResult TileProgram::matchSteps() {
  depth = steps->getAttrOfType<IntegerAttr>(schedule::kPipelineAttr).getInt();
  auto registers = steps->getAttrOfType<DenseI64ArrayAttr>(schedule::kSpecializeAttr);
  isSpecialized = bool(registers);
  if (isSpecialized) {
    producerRegisters = registers[0];
    consumerRegisters = registers[1];
    if (registers.size() > 2)
      numConsumers = registers[2];
    if (numConsumers > 1 && !nest->hasAttr(schedule::kPersistentAttr))
      return error("specialize", steps.getLoc())
             << "expected a kernel whose blocks go through several tiles, which " << numConsumers
             << " consumers take in turn: use s[...].persistent of the kernel's stage";
  } else if (promotedSteps) {
    return error("software_pipeline", steps.getLoc())
           << "expected roles for promoted products, warps that copy beside those that multiply: use s["
           << getAxisName(steps, function).stage << "].specialize(" << getAxisName(steps, function).axis << ")";
  }
  if (failed(hoistExtent("software_pipeline", steps)) || failed(checkSteps()))
    return failure();
  SmallVector<Value> buffers;
  bool hasMultiplied = false;
  for (Operation &op : *steps.getBody()) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      buffers.push_back(alloc);
      continue;
    }
    if (isOnlyComputed(&op))
      continue;
    if (op.isAncestor(product)) {
      if (failed(matchProductLoops()))
        return failure();
      hasMultiplied = true;
      continue;
    }
    if (Operation *other = findOther(&op))
      return error("software_pipeline", other->getLoc())
             << "expected a loop with wgmma to fill shared buffers and to multiply, got '" << other->getName() << "' in it";
    SmallVector<memref::StoreOp> stores = getStores(&op);
    // Each buffer is filled once, before it is read.
    bool isFirst = stores.size() == 1 && !hasMultiplied &&
                   llvm::none_of(loads, [&](const TileCopy &copy) { return copy.buffer == stores[0].getMemRef(); });
    if (!isFirst || !llvm::is_contained(buffers, stores[0].getMemRef()))
      return error("software_pipeline", op.getLoc())
             << "expected a loop with wgmma to fill shared buffers and to multiply, got another stage in it";
    if (!stores[0]->hasAttr(schedule::kCopierAttr) && !stores[0].getValue().getDefiningOp<memref::LoadOp>())
      return error("software_pipeline", steps.getLoc())
             << "expected shared buffers that the copy engine fills for wgmma, got stage '" << getBufferName(stores[0].getMemRef())
             << "', which computes its elements: compute it in global memory, and copy that with cache_read and copy_by(\"tma\")";
    if (!stores[0]->hasAttr(schedule::kCopierAttr))
      return error("software_pipeline", steps.getLoc())
             << "expected shared buffers that the copy engine fills for wgmma, got stage '" << getBufferName(stores[0].getMemRef())
             << "': use s[" << getBufferName(stores[0].getMemRef()) << "].copy_by(\"tma\")";
    FailureOr<TileCopy> copy = matchCopy(&op, stores[0]);
    if (failed(copy))
      return failure();
    loads.push_back(*copy);
  }
  return success();
}

LogicalResult TileProgram::checkSteps() {
  if (std::optional<int64_t> extent = getConstantIntValue(steps.getUpperBound())) {
    if (*extent < 1)
      return error("software_pipeline", steps.getLoc()) << "expected at least 1 iteration with wgmma, got " << *extent;
    return success();
  }
  auto got = [&] { return "got a symbolic extent of " + getAxisName(steps, function).quoted(); };
  if (numConsumers > 1)
    return error("specialize", steps.getLoc())
           << "expected a constant number of iterations for " << numConsumers
           << " consumers, each of which passes over the slots of the others' tiles, " << got();
  if (promotedSteps > 1)
    return error("wgmma of stage '" + getStage() + "'", steps.getLoc())
           << "expected a constant number of iterations, of each " << promotedSteps
           << " of which the sums are promoted together, " << got() << ": promote after each";
  return success();
}

/// The loops that a step's products are in.
LogicalResult TileProgram::matchProductLoops() {
  for (Operation *around = product->getParentOp(); around != steps; around = around->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(around);
    if (!loop || !getConstantIntValue(loop.getUpperBound()))
      return wgmmaError() << "expected nothing but loops of constant extents between it and the pipelined loop, got "
                          << (loop ? "a symbolic extent" : "a condition");
    for (Operation &op : *loop.getBody())
      if (!isOnlyComputed(&op) && !op.isAncestor(product))
        return error("software_pipeline", op.getLoc())
               << "expected a loop with wgmma to fill shared buffers and to multiply, got another stage in it";
    productLoops.insert(productLoops.begin(), loop);
  }
  return success();
}

LogicalResult TileProgram::matchRest() {
  bool isBefore = true;
  SmallVector<Operation *> statements;
  for (Operation &op : *warpgroupBody)
    statements.push_back(&op);
  if (warpgroups)
    for (Operation &op : *blockBody)
      statements.push_back(&op);
  for (Operation *op : statements) {
    if (op == steps || op == warpgroups) {
      isBefore &= op != steps;
      continue;
    }
    if (isOnlyComputed(op) || isa<memref::AllocOp, memref::AllocaOp>(op))
      continue;
    if (Operation *other = findOther(op))
      return error("wgmma", other->getLoc()) << "expected loops that load, compute and store beside those of the product, got '"
                                             << other->getName() << "'";
    SmallVector<memref::StoreOp> stores = getStores(op);
    if (stores.size() != 1)
      return error("wgmma", op->getLoc()) << "expected loops that store to one buffer beside those of the product, got "
                                          << stores.size() << " stores";
    memref::StoreOp store = stores[0];
    if (op->getBlock() == warpgroupBody && isBefore) {
      // Setting the sums to zero is left to the first product.
      Value value = store.getValue();
      if (store.getMemRef() == sum && (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero())))
        continue;
      return error("wgmma", op->getLoc()) << "expected stages that are computed before the product to be its operands, got stage '"
                                          << getBufferName(store.getMemRef()) << "'";
    }
    if (store->hasAttr(schedule::kCopierAttr)) {
      FailureOr<TileCopy> copy = matchCopy(op, store);
      if (failed(copy))
        return failure();
      if (result)
        return error("copy_by", store.getLoc()) << "expected one result that the engine copies, got a second";
      if (!isTransposed && !copy->getPartBox(tile::kWgmmaRows))
        return wgmmaError() << "expected a result of which the " << tile::kWgmmaRows << " rows of a warpgroup are a box, got "
                            << copy->describeRows() << " rows";
      // A part of it, so many columns of the sums, is one box.
      if (isTransposed && llvm::count_if(ArrayRef(copy->dimensions).drop_back(), [](const TileDimension &one) { return one.box > 1; }) > 1)
        return wgmmaError() << "expected rows of the result along one dimension where they are columns of the sums, got "
                            << copy->describeRows() << " rows";
      result = *copy;
    } else if (op->getBlock() != warpgroupBody || failed(matchFunction(op, store))) {
      if (op->getBlock() != warpgroupBody)
        return error("wgmma", op->getLoc()) << "expected stage '" << getBufferName(store.getMemRef())
                                            << "' to be computed by each warpgroup of its own rows, got it outside of them";
      return failure();
    }
  }
  if (functions.empty())
    return wgmmaError() << "expected a stage that reads the sums, got none in the kernel";
  return success();
}

bool TileProgram::isMulticast(const TileCopy &copy, unsigned tag) const {
  auto isSameAlong = [&](unsigned axis) {
    if (cluster[axis] < 2)
      return false;
    Value block = scf::ForOp(blocks[axis]).getInductionVar();
    return llvm::none_of(copy.dimensions, [&](const TileDimension &dimension) { return dimension.first.dependsOn(block); });
  };
  // A load goes to blocks along one axis. What all blocks of the cluster need each row of them brings for itself.
  return isSameAlong(tag) && (tag == 0 || !isSameAlong(0));
}

bool TileProgram::isMulticastByColumns(const TileCopy &copy, unsigned tag) const {
  int64_t bytes = tile::getElementBytes(cast<MemRefType>(copy.buffer.getType()).getElementType());
  return copy.columns * bytes % (copy.swizzle * cluster[tag]) == 0;
}
} // namespace tilewright
