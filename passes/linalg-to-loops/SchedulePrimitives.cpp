//===- SchedulePrimitives.cpp - what a schedule says, applied to stages ---===//
//
// Splits, fusions and orders of loops, and where stages are computed; ScheduleMarks.cpp has the primitives that leave
// the loops as they are.
//
//===----------------------------------------------------------------------===//
#include "passes/Externs.h"
#include "passes/linalg-to-loops/StageModel.h"

using namespace mlir;

namespace tilewright {

static void replaceLoops(ScheduledStage &stage, ArrayRef<Axis *> old, ArrayRef<Axis *> made) {
  auto place = llvm::find(stage.loops, old[0]);
  size_t position = place - stage.loops.begin();
  llvm::erase_if(stage.loops, [&](Axis *axis) { return llvm::is_contained(old, axis); });
  stage.loops.insert(stage.loops.begin() + position, made.begin(), made.end());
}

std::pair<Axis *, Axis *> StageModel::split(Axis *axis, int64_t factor, int64_t nparts, Location loc) {
  axis->outer = createAxis(axis->name + ".outer", axis->stage, loc, axis->isReduce);
  axis->inner = createAxis(axis->name + ".inner", axis->stage, loc, axis->isReduce);
  axis->outer->origin = axis->inner->origin = Axis::Origin::Split;
  axis->outer->parallel = axis->parallel;
  axis->factor = factor;
  axis->nparts = nparts;
  replaceLoops(*axis->stage, axis, {axis->outer, axis->inner});
  return {axis->outer, axis->inner};
}

AffineExpr StageModel::getSplitNumber(StringRef name) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), te::kSymbolsAttr);
    if (!names || function.getArgAttr(argument.getArgNumber(), te::kOptionalAttr))
      continue;
    for (auto [dimension, known] : llvm::enumerate(names)) {
      auto text = dyn_cast<StringAttr>(known);
      if (!text || text.getValue() != name)
        continue;
      Location loc = argument.getLoc();
      Value number = argument;
      if (isa<RankedTensorType>(argument.getType()))
        number = tensor::DimOp::create(builder, loc, argument, dimension);
      else if (!number.getType().isIndex())
        number = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
      Symbol symbol;
      symbol.name = ("max(" + name + ", 1)").str();
      symbol.value = arith::MaxSIOp::create(builder, loc, number, arith::ConstantIndexOp::create(builder, loc, 1));
      return getSymbol(symbol);
    }
  }
  return nullptr;
}

Axis *StageModel::fuse(ArrayRef<Axis *> parts, Location loc) {
  std::string name;
  for (Axis *part : parts)
    name += part->name + ".";
  Axis *fused = createAxis(name + "fused", parts[0]->stage, loc, parts[0]->isReduce);
  fused->origin = Axis::Origin::Fuse;
  fused->parts.assign(parts.begin(), parts.end());
  for (Axis *part : parts) {
    part->fused = fused;
    fused->parallel |= part->parallel;
  }
  replaceLoops(*fused->stage, parts, fused);
  return fused;
}

Axis *StageModel::createSingleton(ScheduledStage &stage, Location loc) {
  Axis *axis = createAxis("singleton", &stage, loc, /*isReduce=*/false);
  axis->wholeExtent = getAffineConstantExpr(1, function.getContext());
  stage.singletons.push_back(axis);
  stage.loops.insert(stage.loops.begin(), axis);
  return axis;
}

void StageModel::reorder(ArrayRef<Axis *> order) {
  auto next = order.begin();
  for (Link<Axis> &loop : order[0]->stage->loops)
    if (llvm::is_contained(order, loop))
      loop = *next++;
}

LogicalResult StageModel::attach(schedule::ComputeAtOp op, Axis *axis) {
  ScheduledStage *stage = getStage(schedule::stageName(op.getStage()));
  ScheduledStage *consumer = getStage(schedule::stageName(op.getConsumer()));
  assert(stage && consumer && "what makes their handles has been checked before");
  for (ScheduledStage *around = consumer; around; around = around->attachStage)
    if (around == stage)
      return op.emitOpError() << "expected a consumer of stage '" << stage->name << "', got stage '" << consumer->name
                              << "', which is computed inside it";
  stage->attachStage = consumer;
  stage->attachAxis = axis;
  stage->attachLoc = op.getLoc();
  stage->follows = false;
  return success();
}

/// The scan axis of a stage stays one loop, whose iterations come in order.
static LogicalResult checkOrder(Operation *op, const DenseMap<Value, Axis *> &handles) {
  if (!op->hasTrait<schedule::IndependentIterations>())
    return success();
  for (Value operand : op->getOperands())
    if (Axis *axis = handles.lookup(operand); axis && axis->isOrdered)
      return op->emitOpError() << "expected an axis whose iterations are independent, got '" << axis->name
                               << "', the scan axis of stage '" << axis->stage->name << "'";
  return success();
}

LogicalResult StageModel::applyPrimitive(Operation *op, DenseMap<Value, Axis *> &handles) {
  Location loc = op->getLoc();
  auto define = [&](ValueRange results, SmallVector<Axis *> made) {
    for (auto [result, axis] : llvm::zip_equal(results, made))
      handles[result] = axis;
  };
  auto isExtern = [&](StringRef name) {
    ScheduledStage *stage = getStage(name);
    return stage && stage->externOp;
  };
  if (failed(checkOrder(op, handles)) || failed(checkHasLoops(op, isExtern)))
    return failure();
  if (isa<schedule::AxesOp, schedule::ReduceAxesOp>(op)) {
    ScheduledStage *stage = getStage(schedule::stageName(op->getOperand(0)));
    bool reduce = isa<schedule::ReduceAxesOp>(op);
    assert(stage && "what makes its handle has been checked before");
    MutableArrayRef<Link<Axis>> all = stage->roots;
    auto roots = reduce ? all.drop_front(stage->numSpatial) : all.take_front(stage->numSpatial);
    if (roots.size() != op->getNumResults())
      return op->emitOpError() << "expected " << roots.size() << (reduce ? " reduction axes" : " spatial axes")
                               << " of stage '" << stage->name << "', got " << op->getNumResults();
    define(op->getResults(), llvm::to_vector_of<Axis *>(roots));
  } else if (auto splitOp = dyn_cast<schedule::SplitOp>(op)) {
    auto [outer, inner] =
        split(handles[splitOp.getAxis()], splitOp.getFactor().value_or(0), splitOp.getNparts().value_or(0), loc);
    if (StringRef name = splitOp.getFactorSymbol().value_or(splitOp.getNpartsSymbol().value_or("")); !name.empty()) {
      Axis &axis = *handles[splitOp.getAxis()];
      (splitOp.getFactorSymbol() ? axis.factorName : axis.npartsName) = name.str();
      axis.given = getSplitNumber(name);
      if (!axis.given)
        return op->emitOpError() << "expected a symbolic extent of an argument or a number among the arguments, got '"
                                 << name << "', which is neither";
    }
    if (splitOp.getDisablePredication())
      handles[splitOp.getAxis()]->exactSplit = loc;
    define(op->getResults(), {outer, inner});
  } else if (auto tile = dyn_cast<schedule::TileOp>(op)) {
    auto [xo, xi] = split(handles[tile.getX()], tile.getXFactor(), 0, loc);
    auto [yo, yi] = split(handles[tile.getY()], tile.getYFactor(), 0, loc);
    reorder({xo, yo, xi, yi});
    define(op->getResults(), {xo, yo, xi, yi});
  } else if (auto singleton = dyn_cast<schedule::SingletonOp>(op)) {
    define(op->getResults(), {createSingleton(*getStage(schedule::stageName(singleton.getStage())), loc)});
  } else if (auto fuseOp = dyn_cast<schedule::FuseOp>(op)) {
    SmallVector<Axis *> parts = llvm::map_to_vector(fuseOp.getAxes(), [&](Value v) { return handles[v]; });
    ScheduledStage &stage = *parts[0]->stage;
    std::string name = schedule::axisName(fuseOp.getFused());
    auto place = [&](Axis *axis) { return llvm::find(stage.loops, axis) - stage.loops.begin(); };
    llvm::sort(parts, [&](Axis *a, Axis *b) { return place(a) < place(b); });
    // The op knows of loops that the schedule names; those that it does not name stand between as well.
    for (auto [part, next] : llvm::zip(parts, ArrayRef(parts).drop_front()))
      if (place(next) != place(part) + 1)
        return op->emitOpError() << "stage '" << stage.name << "': expected neighbouring loops, got '" << part->name
                                 << "' and '" << next->name << "' apart: reorder them first";
    Axis *fused = fuse(parts, loc);
    fused->name = name;
    define(op->getResults(), {fused});
  } else if (auto reorderOp = dyn_cast<schedule::ReorderOp>(op)) {
    reorder(llvm::map_to_vector(reorderOp.getAxes(), [&](Value v) { return handles[v]; }));
  } else if (auto bind = dyn_cast<schedule::BindOp>(op)) {
    Axis *axis = handles[bind.getAxis()];
    axis->bind = bind.getThread();
    axis->bindExtent = bind.getExtent();
    axis->reduceAdd = bind.getReduceAdd();
    axis->loc = loc;
  } else if (auto vectorize = dyn_cast<schedule::VectorizeOp>(op)) {
    handles[vectorize.getAxis()]->runAs(&Axis::vectorize, loc);
  } else if (auto unroll = dyn_cast<schedule::UnrollOp>(op)) {
    handles[unroll.getAxis()]->runAs(&Axis::unroll, loc);
  } else if (auto setScope = dyn_cast<schedule::SetScopeOp>(op)) {
    ScheduledStage &stage = *getStage(schedule::stageName(setScope.getStage()));
    stage.isWarp = setScope.getScope() == schedule::Scope::Warp;
    stage.scope = stage.isWarp ? schedule::Scope::Shared : setScope.getScope();
  } else if (auto at = dyn_cast<schedule::ComputeAtOp>(op)) {
    return attach(at, handles[at.getAxis()]);
  } else if (auto after = dyn_cast<schedule::ReverseComputeAtOp>(op)) {
    return follow(after, handles[after.getAxis()]);
  } else if (auto root = dyn_cast<schedule::ComputeRootOp>(op)) {
    ScheduledStage *stage = getStage(schedule::stageName(root.getStage()));
    stage->attachStage = nullptr;
    stage->attachAxis = nullptr;
    stage->follows = false;
  } else if (auto pipeline = dyn_cast<schedule::SoftwarePipelineOp>(op)) {
    Axis *axis = handles[pipeline.getAxis()];
    axis->pipelineDepth = pipeline.getDepth();
    axis->pipelineAsync = pipeline.getAsync();
    axis->loc = loc;
  } else if (auto buffer = dyn_cast<schedule::DoubleBufferOp>(op)) {
    if (ScheduledStage *stage = getStage(schedule::stageName(buffer.getStage())))
      stage->doubleBuffer = loc;
  } else if (auto bounds = dyn_cast<schedule::LaunchBoundsOp>(op)) {
    if (ScheduledStage *stage = getStage(schedule::stageName(bounds.getStage())))
      stage->minBlocks = bounds.getMinBlocks();
  } else if (auto align = dyn_cast<schedule::StorageAlignOp>(op)) {
    Axis *axis = handles[align.getAxis()];
    unsigned dimension = llvm::find(axis->stage->roots, axis) - axis->stage->roots.begin();
    axis->stage->alignments.push_back(
        {dimension, static_cast<int64_t>(align.getFactor()), static_cast<int64_t>(align.getOffset()), loc});
  } else if (auto stage = dyn_cast<schedule::StageOp>(op)) {
    if (!getStage(stage.getName()))
      return op->emitOpError() << "expected the name of a stage, got '" << stage.getName() << "'";
  } else if (failed(applyMark(op, handles))) {
    return op->emitOpError("expected a primitive on loops: run rewrite-scheduled-dataflow first");
  }
  return success();
}

/// Where threads reduce together, each element's parts are whole before they are combined: inside the first reduction
/// loop stand the spatial loops, then those of the threads, then those of the parts.
static void orderThreadReduction(ScheduledStage &stage) {
  auto first = stage.loops.begin() + getFirstReduce(stage.loops);
  // Of blocks that reduce together each has a part of its own, around all that it computes.
  first = std::stable_partition(first, stage.loops.end(), [](const Axis *loop) { return loop->reduceAdd; });
  auto rank = [](const Axis *loop) { return !loop->isReduce ? 0 : loop->bind ? 1 : 2; };
  if (llvm::any_of(stage.loops, [](const Axis *loop) { return loop->isReduce && loop->bind && !loop->reduceAdd; }))
    std::stable_sort(first, stage.loops.end(), [&](const Axis *a, const Axis *b) { return rank(a) < rank(b); });
}

LogicalResult StageModel::apply(schedule::OfOp of) {
  DenseMap<Value, Axis *> handles;
  if (of)
    for (Operation &op : of.getBody().front())
      if (failed(applyPrimitive(&op, handles)))
        return failure();
  // As in TVM a stage attached to an axis that is split or fused later is at the inner loop, or at the fused one.
  for (auto &stage : stages)
    while (stage->attachAxis && !stage->attachAxis->isLoop())
      stage->attachAxis = stage->attachAxis->outer ? stage->attachAxis->inner : stage->attachAxis->fused;
  if (failed(placeScans()))
    return failure();
  for (auto &stage : stages) {
    if (stage->attachStage)
      (stage->follows ? stage->attachStage->followers : stage->attachStage->attached).push_back(stage.get());
    orderThreadReduction(*stage);
  }
  for (auto &stage : stages) {
    if (!stage->doubleBuffer)
      continue;
    if (!stage->attachStage || stage->follows)
      return emitError(*stage->doubleBuffer)
             << "double_buffer: expected a stage that is computed at a loop of another, got stage '" << stage->name
             << "', which is computed " << (stage->follows ? "after what it reads" : "at the root");
    if (!stage->attachAxis->pipelineDepth)
      stage->attachAxis->pipelineDepth = 2;
  }
  return verifyPlaces();
}

/// Every stage is computed before all that read it, where they can see it.
LogicalResult StageModel::verifyPlaces() {
  for (auto &stage : stages) {
    if (stage->isUpdate)
      continue;
    if (failed(verifyReduceAdd(*stage)))
      return failure();
    if (stage->scan && failed(verifyInStep(*stage)))
      return failure();
    if (stage->attachStage && stage->minBlocks)
      return emitError(stage->getLoc()) << "launch_bounds: expected a stage that is computed at the root, got stage '"
                                        << stage->name << "', which is computed at a loop of stage '"
                                        << stage->attachStage->name << "'";
    if (!stage->attachStage && !stage->alignments.empty())
      return emitError(stage->alignments[0].loc)
             << "storage_align: expected a stage that is computed at a loop of another, got "
             << "stage '" << stage->name << "', whose tensor is row-major";
    if (stage->follows) {
      if (failed(verifyFollower(*stage)))
        return failure();
      continue;
    }
    bool isFollowed = !stage->followers.empty();
    if (!stage->attachStage && !isFollowed && stage->scope.value_or(schedule::Scope::Global) != schedule::Scope::Global)
      return emitError(stage->getLoc())
             << "stage '" << stage->name << "' in " << schedule::stringifyScope(*stage->scope)
             << " memory: expected to be computed at a loop of its consumer, got compute_root";
    if (stage->attachStage && stage->isOutput())
      return emitError(*stage->attachLoc)
             << "compute_at: expected a stage that is read by others, got the output '" << stage->name << "'";
    if (!stage->attachStage)
      continue;
    if (stage->getOrdered())
      return emitError(*stage->attachLoc)
             << "compute_at: expected a stage of which a part can be computed, got the scan '" << stage->name << "'";
    // Every reader must run inside the loop that the stage is attached to: the consumer itself below that loop, or a
    // stage attached there or deeper.
    bool read = false;
    for (auto &reader : stages) {
      if (llvm::none_of(getReads(*reader), [&](Access &access) { return getProducer(access.tensor) == stage.get(); }))
        continue;
      read = true;
      ScheduledStage *at = reader.get();
      auto position = [&](Axis *axis) {
        return llvm::find(stage->attachStage->loops, axis) - stage->attachStage->loops.begin();
      };
      while (at && at != stage->attachStage) {
        if (at->attachStage == stage->attachStage && position(at->attachAxis) < position(stage->attachAxis))
          at = nullptr;
        else
          at = at->attachStage;
      }
      if (!at)
        return emitError(*stage->attachLoc)
               << "compute_at: expected the loop '" << stage->attachAxis->name << "' of stage '"
               << stage->attachStage->name << "' to be around all that reads stage '" << stage->name << "', got stage '"
               << reader->name << "' outside it";
    }
    // A sum of nothing reads nothing, and the tile for it is empty.
    if (!read && !stage->isEmpty)
      return emitError(*stage->attachLoc)
             << "compute_at: expected a consumer of stage '" << stage->name << "', got stage '"
             << stage->attachStage->name << "', which does not read it";
  }
  return success();
}
} // namespace tilewright
