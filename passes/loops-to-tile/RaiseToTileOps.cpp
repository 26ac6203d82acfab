//===- RaiseToTileOps.cpp - nests with matmuls by warpgroups, as ops on tiles ===//
#include "dialects/Program/Program.h"
#include "dialects/Target/Architectures.h"
#include "passes/ArgumentAlignment.h"
#include "passes/HoistValue.h"
#include "passes/index/KnownValues.h"
#include "passes/loops-to-gpu/NestedThreads.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/Passes.h"
#include "passes/loops-to-tile/TileGrid.h"
#include "passes/loops-to-tile/TileRaiser.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_RAISETOTILEOPS
#include "passes/loops-to-tile/Passes.h.inc"

bool isMatmul(Operation *op) {
  auto instruction = op->getAttrOfType<schedule::InstructionAttr>(schedule::kInstructionAttr);
  return instruction && instruction.getKind() == schedule::MatrixInstruction::Wgmma;
}

/// The primitives that need a kernel of tiles, by what they leave on ops.
static constexpr std::pair<StringLiteral, StringLiteral> kMarks[] = {{schedule::kCopyAttr, "copy_by"},
                                                                     {schedule::kSpecializeAttr, "specialize"},
                                                                     {schedule::kClusterAttr, "cluster"},
                                                                     {schedule::kPersistentAttr, "persistent"},
                                                                     {schedule::kRollingAttr, "rolling_update"}};

bool TileRaiser::isWanted(Operation *nest) {
  WalkResult walked = nest->walk([](Operation *op) {
    bool isMarked = llvm::any_of(kMarks, [&](auto mark) { return op->hasAttr(mark.first); });
    return WalkResult(failure(isMarked || isMatmul(op)));
  });
  return walked.wasInterrupted();
}

static std::optional<schedule::ThreadTag> getTag(scf::ForOp loop) {
  auto bind = loop->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr);
  return bind ? std::optional(bind.getValue()) : std::nullopt;
}

std::string TileRaiser::getStage() const { return getAxisName(matmul).stage; }

InFlightDiagnostic TileRaiser::matmulError() const {
  return emitError(scf::ForOp(matmul).getLoc()) << "wgmma of stage '" << getStage() << "': ";
}

LogicalResult TileRaiser::raise() {
  nest->walk([&](scf::ForOp loop) {
    if (isMatmul(loop) && !matmul)
      matmul = loop;
  });
  if (!matmul) {
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
    return error("wgmma", loop.getLoc()) << "expected loops from 0 by 1, got " << getAxisName(loop).quoted();
  });
  if (walked.wasInterrupted())
    return failure();
  if (walked.wasInterrupted() || failed(matchGrid()) || failed(makeKernel()))
    return failure();
  LogicalResult raised = raiseBlock(*blockBody, nullptr);
  if (succeeded(raised) && !hasResult)
    raised = matmulError() << "expected a stage that reads the accumulator, got none in the kernel";
  // Loops that become one take less.
  bool isRolled =
      kernel.walk([](scf::ForOp loop) { return WalkResult(failure(loop->hasAttr(schedule::kRollingAttr))); })
          .wasInterrupted();
  if (succeeded(raised) && !isRolled)
    raised = checkResources(kernel);
  if (failed(raised))
    kernel.erase();
  else
    guardTilesBeyond();
  return raised;
}

/// A block of a cluster beyond the grid loads for the cluster's other blocks, and stores nothing.
void TileRaiser::guardTilesBeyond() {
  Operation *last = nullptr;
  for (Operation &op : kernel.getBody().front())
    if (op.walk([](tile::LoadOp) { return WalkResult::interrupt(); }).wasInterrupted())
      last = &op;
  if (!last)
    return;
  builder.setInsertionPointAfter(last);
  Numbers numbers{builder, pipeline.getLoc()};
  Value isThere;
  for (unsigned dimension = 0; dimension < 3; ++dimension) {
    std::optional<int64_t> extent = blocks[dimension] ? getConstantIntValue(extents[dimension]) : 1;
    if (cluster[dimension] == 1 || !blocks[dimension] || (extent && *extent % cluster[dimension] == 0))
      continue;
    Value holds = numbers.isLess(kernel.getPlace(dimension), extents[dimension]);
    isThere = isThere ? numbers.both(isThere, holds) : holds;
  }
  if (!isThere)
    return;
  SmallVector<Operation *> rest;
  for (Operation *op = isThere.getDefiningOp()->getNextNode(); op; op = op->getNextNode())
    rest.push_back(op);
  Block *then = scf::IfOp::create(builder, pipeline.getLoc(), isThere, /*withElseRegion=*/false).thenBlock();
  for (Operation *op : rest)
    op->moveBefore(then->getTerminator());
}

LogicalResult TileRaiser::matchGrid() {
  // From the outside in: blocks and lanes, with nothing but them; then maybe warpgroups, beside what all of them do.
  Operation *at = nest;
  while (true) {
    auto loop = dyn_cast<scf::ForOp>(at);
    std::optional<schedule::ThreadTag> tag = loop ? getTag(loop) : std::nullopt;
    if (!tag || *tag > schedule::ThreadTag::ThreadIdxX)
      break;
    FailureOr<Value> extent = hoistExtent("wgmma", loop);
    if (failed(extent))
      return failure();
    if (*tag == schedule::ThreadTag::ThreadIdxX) {
      lanes = loop;
    } else {
      blocks[unsigned(*tag)] = loop;
      extents[unsigned(*tag)] = *extent;
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
    return matmulError() << "expected loops bound to blocks around it";
  warpgroupBody = blockBody;
  for (Operation &op : *blockBody)
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop->isAncestor(matmul))
      if (std::optional<schedule::ThreadTag> tag = getTag(loop)) {
        if (*tag != schedule::ThreadTag::ThreadIdxY && *tag != schedule::ThreadTag::ThreadIdxZ)
          return matmulError() << "expected warpgroups along threadIdx.y, got " << getAxisName(loop).quoted() << " on "
                               << schedule::stringifyThreadTag(*tag);
        warpgroups = loop;
        numWarpgroups = getConstantIntValue(loop.getUpperBound()).value_or(0);
        warpgroupBody = loop.getBody();
      }
  for (Operation *around = matmul; around != warpgroupBody->getParentOp(); around = around->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(around); loop && loop->hasAttr(schedule::kPipelineAttr))
      pipeline = loop;
  if (!pipeline)
    return matmulError() << "expected a loop around it that is a software_pipeline, which fetches the tiles";
  // Stages that warpgroups compute one after the other, of what they share, have loops of their own.
  if (!warpgroups && (warpgroups = getWarpgroupsAround(matmul)))
    numWarpgroups = getConstantIntValue(warpgroups.getUpperBound()).value_or(0);
  if (numWarpgroups < 1)
    return matmulError() << "expected at least one warpgroup along threadIdx.y, got " << numWarpgroups;
  return success();
}

scf::ForOp TileRaiser::getWarpgroupsAround(Operation *op) const {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop && nest->isAncestor(loop);
       loop = loop->getParentOfType<scf::ForOp>())
    if (std::optional<schedule::ThreadTag> tag = getTag(loop); tag && *tag > schedule::ThreadTag::ThreadIdxX)
      return loop;
  return nullptr;
}

LogicalResult TileRaiser::checkLanes() {
  // Where a stage has threads along threadIdx.x of its own, no loop of env_threads is around the kernel.
  scf::ForOp own;
  nest->walk([&](scf::ForOp loop) {
    if (!lanes && getTag(loop) == schedule::ThreadTag::ThreadIdxX)
      own = loop;
  });
  if (own) {
    return matmulError()
           << "expected no loop bound to threadIdx.x, whose threads are the lanes of the instruction, got "
           << getAxisName(own).quoted() << ": " << sayOtherPlace(own, getAxisName(own).stage);
  }
  if (!lanes || getConstantIntValue(lanes.getUpperBound()) != tile::kWarpgroupSize)
    return matmulError()
           << "expected " << tile::kWarpgroupSize
           << " threads along threadIdx.x, a warpgroup, which multiply together: use s[...].env_threads of the "
              "kernel's stage with te.thread_axis((0, 128), \"threadIdx.x\")";
  if (!lanes.getInductionVar().use_empty())
    return matmulError() << "expected no loop bound to threadIdx.x, whose threads are the lanes of the instruction";
  return success();
}

FailureOr<Value> TileRaiser::hoistExtent(StringRef primitive, scf::ForOp loop) {
  OpBuilder::InsertionGuard guard(builder);
  if (kernel)
    builder.setInsertionPoint(kernel);
  FailureOr<Value> extent = hoistValue(builder, nest, loop.getUpperBound());
  if (failed(extent))
    return error(primitive, loop.getLoc())
           << "expected the extent of " << getAxisName(loop).quoted() << " to be known when the kernel is launched";
  return extent;
}

/// How the schedule has blocks go through the tiles; null where each block has one.
static tile::OrderAttr getOrder(Operation *nest) {
  auto persistent = nest->getAttrOfType<schedule::PersistentAttr>(schedule::kPersistentAttr);
  if (!persistent)
    return nullptr;
  auto getRaster = [&] {
    switch (persistent.getRaster()) {
    case schedule::Raster::Row:
      return tile::Raster::Row;
    case schedule::Raster::Grouped:
      return tile::Raster::Grouped;
    case schedule::Raster::Hilbert:
      return tile::Raster::Hilbert;
    }
    llvm_unreachable("an order of tiles");
  };
  return tile::OrderAttr::get(nest->getContext(), persistent.getBlocks(), getRaster(), persistent.getGroup(),
                              persistent.getStreamK(), persistent.getNarrower(), persistent.getSerpentineK());
}

LogicalResult TileRaiser::makeKernel() {
  tile::OrderAttr order = getOrder(nest);
  auto roles = pipeline->getAttrOfType<schedule::SpecializeAttr>(schedule::kSpecializeAttr);
  if (roles)
    numSets = roles.getConsumers();
  if (numSets > 1 && !order)
    return error("specialize", pipeline.getLoc())
           << "expected a kernel whose blocks go through several tiles, which " << numSets
           << " consumer warpgroups take in turn: use s[...].persistent of the kernel's stage";
  SmallVector<Attribute> axes;
  SmallVector<Value> sizes;
  SmallVector<Location> locations;
  index::KnownValues known(function.getContext());
  bool isNonEmpty = true;
  for (unsigned dimension = 0; dimension < 3; ++dimension) {
    scf::ForOp loop = blocks[dimension];
    auto axis = loop ? loop->getAttrOfType<schedule::AxisAttr>(schedule::kAxisAttr) : nullptr;
    axes.push_back(builder.getStringAttr(axis ? axis.str() : ""));
    sizes.push_back(loop ? extents[dimension] : arith::ConstantIndexOp::create(builder, nest->getLoc(), 1).getResult());
    locations.push_back(loop ? loop.getLoc() : nest->getLoc());
    isNonEmpty &= known.isPositive(sizes.back());
  }
  locations.push_back(warpgroups ? warpgroups.getLoc() : nest->getLoc());
  SmallVector<NamedAttribute> origin;
  scf::ForOp along = blocks[0] ? blocks[0] : pipeline;
  std::string line = getFileAndLine(along.getLoc());
  origin.push_back(builder.getNamedAttr(kPersistentOrigin,
                                        builder.getStringAttr("persistent blocks of stage " + getAxisName(along).stage +
                                                              (line.empty() ? "" : ", " + line))));
  static constexpr StringLiteral kNames[] = {"grid.x", "grid.y", "grid.z"};
  for (unsigned dimension = 0; dimension < 3; ++dimension)
    if (scf::ForOp loop = blocks[dimension])
      origin.push_back(builder.getNamedAttr(kNames[dimension],
                                            builder.getStringAttr(describeOrigin(getAxisName(loop), loop.getLoc()))));
  auto registers =
      roles ? builder.getDenseI64ArrayAttr({roles.getProducer(), roles.getConsumer()}) : DenseI64ArrayAttr();
  kernel = tile::KernelOp::create(builder, nest->getLoc(), sizes[0], sizes[1], sizes[2],
                                  builder.getDenseI64ArrayAttr(cluster), builder.getI64IntegerAttr(numWarpgroups),
                                  registers, builder.getI64IntegerAttr(numSets), order, builder.getArrayAttr(axes));
  kernel->setAttr(kLaunchOriginAttr, builder.getDictionaryAttr(origin));
  if (isNonEmpty && !llvm::all_of(sizes, [](Value size) { return getConstantIntValue(size).has_value(); }))
    kernel->setAttr(kNonEmptyAttr, builder.getUnitAttr());
  Block *body = builder.createBlock(&kernel.getBody(), {}, SmallVector<Type>(4, builder.getIndexType()), locations);
  builder.setInsertionPointToStart(body);
  for (unsigned dimension = 0; dimension < 3; ++dimension)
    if (blocks[dimension])
      places.map(blocks[dimension].getInductionVar(), kernel.getPlace(dimension));
  if (warpgroups)
    places.map(warpgroups.getInductionVar(), kernel.getWarpgroup());
  return success();
}

namespace {
/// TMA takes no other memory.
LogicalResult checkAlignment(Operation *nest, func::FuncOp function, TileRaiser &raiser) {
  for (BlockArgument argument : function.getArguments()) {
    int64_t alignment = getArgumentAlignment(function, argument.getArgNumber());
    bool isUsed = llvm::any_of(argument.getUsers(), [&](Operation *user) { return nest->isAncestor(user); });
    if (alignment >= kArgumentAlignment || !isUsed)
      continue;
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), te::kNameAttr);
    return raiser.matmulError() << "expected tensors aligned to " << kArgumentAlignment
                                << " bytes, as TMA needs them, got " << (name ? name.getValue() : "one")
                                << ", aligned to " << alignment;
  }
  return success();
}

struct RaiseToTileOps : impl::RaiseToTileOpsBase<RaiseToTileOps> {
  using RaiseToTileOpsBase::RaiseToTileOpsBase;

  /// What a GPU without wgmma has other ways for: matmuls that warps do by mma.sync, and tiles that threads copy where
  /// there is no TMA.
  LogicalResult checkArchitecture(const TileRaiser &raiser) const {
    const Architecture *architecture = findArchitecture(arch);
    if (architecture && architecture->hasWgmma())
      return success();
    tile::KernelOp kernel = raiser.getKernel();
    bool isServed = architecture && architecture->hasMmaSync(), isStored = false;
    kernel.walk([&](Operation *op) {
      isStored |= isa<tile::StoreOp, tile::ShareOp>(op);
      auto matmul = dyn_cast<tile::MatmulOp>(op);
      Type element = matmul ? tile::getOperandElement(matmul.getA().getType()) : Type();
      isServed &= !matmul || tile::areMultipliedByWarps(element, matmul.getResult().getType().getElementType());
    });
    if (!isServed)
      return raiser.matmulError() << "expected the architecture " << kWgmmaArchitecture
                                  << ", which has this instruction, got " << arch;
    auto expect = [&](StringRef first, StringRef what) {
      return raiser.matmulError() << "expected the architecture " << first << " for " << what << ", got " << arch;
    };
    if (kernel.getRegisters())
      return expect(kWgmmaArchitecture, "a producer warpgroup, which hands its registers to others");
    if (llvm::any_of(kernel.getCluster(), [](int64_t extent) { return extent > 1; }))
      return expect(kWgmmaArchitecture, "tiles that the blocks of a cluster share");
    if (isStored && !architecture->hasTMA())
      return expect((Architecture::kHopper + " or later").str(), "fragments in shared memory");
    return success();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SmallVector<Operation *> nests;
    for (Operation &op : function.getBody().front())
      if (TileRaiser::isWanted(&op))
        nests.push_back(&op);
    for (Operation *nest : nests) {
      TileRaiser raiser(nest, function);
      if (failed(checkNestedThreads(nest, function)) || failed(raiser.raise()))
        return signalPassFailure();
      if (failed(checkArchitecture(raiser)))
        return signalPassFailure();
      if (failed(checkAlignment(nest, function, raiser)))
        return signalPassFailure();
      nest->erase();
    }
  }
};
} // namespace
} // namespace tilewright
