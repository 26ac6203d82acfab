//===- ScheduleMarks.cpp - what a schedule says of loops and stages -------===//
//
// Primitives that leave the loops as they are: notes on a loop or a stage, and the checks that they may be taken.
//
//===----------------------------------------------------------------------===//
#include "passes/linalg-to-loops/BoundInference.h"
#include "passes/linalg-to-loops/LoopEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

LogicalResult StageModel::applyMark(Operation *op, DenseMap<Value, Axis *> &handles) {
  if (auto parallel = dyn_cast<schedule::ParallelOp>(op)) {
    handles[parallel.getAxis()]->runAs(&Axis::parallel, op->getLoc());
  } else if (auto partition = dyn_cast<schedule::LoopPartitionOp>(op)) {
    handles[partition.getAxis()]->partition = true;
  } else if (auto unroll = dyn_cast<schedule::AutoUnrollOp>(op)) {
    handles[unroll.getAxis()]->autoUnroll = unroll.getMaxStep();
  } else if (auto predicate = dyn_cast<schedule::SetStorePredicateOp>(op)) {
    getStage(schedule::stageName(predicate.getStage()))
        ->storedBy.push_back({predicate.getThread(), int64_t(predicate.getFrom().value_or(0)),
                              int64_t(predicate.getTo().value_or(INT64_MAX)), op->getLoc()});
  } else if (auto decompose = dyn_cast<schedule::DecomposeReductionOp>(op)) {
    Axis *axis = handles[decompose.getAxis()];
    axis->stage->decomposeAt = axis;
    axis->stage->decomposeLoc = op->getLoc();
  } else if (auto tensorize = dyn_cast<schedule::TensorizeOp>(op)) {
    Axis *axis = handles[tensorize.getAxis()];
    axis->stage->tensorizeAt = axis;
    axis->stage->tensorize = tensorize;
  } else if (auto layout = dyn_cast<schedule::TransformLayoutOp>(op)) {
    ScheduledStage::Layout &of = getStage(schedule::stageName(layout.getStage()))->layout;
    of.map = layout.getLayout();
    of.mapLoc = op->getLoc();
  } else if (auto swizzle = dyn_cast<schedule::SwizzleOp>(op)) {
    ScheduledStage::Layout &of = getStage(schedule::stageName(swizzle.getStage()))->layout;
    of.granule = swizzle.getGranule();
    of.swizzleLoc = op->getLoc();
  } else if (auto rolling = dyn_cast<schedule::RollingBufferOp>(op)) {
    getStage(schedule::stageName(rolling.getStage()))->layout.rollingLoc = op->getLoc();
  } else if (auto prefetch = dyn_cast<schedule::PrefetchOp>(op)) {
    ScheduledStage *stage = getStage(schedule::stageName(prefetch.getStage()));
    int64_t offset = prefetch.getOffset();
    stage->prefetches.push_back({prefetch.getTensor().str(), handles[prefetch.getAxis()], offset, op->getLoc()});
  } else if (auto threads = dyn_cast<schedule::EnvThreadsOp>(op)) {
    int64_t extent = threads.getExtent();
    getStage(schedule::stageName(threads.getStage()))
        ->envThreads.push_back({threads.getThread(), extent, op->getLoc()});
  } else {
    return applyAsynchronous(op, handles);
  }
  return success();
}

/// What some threads store for all must be what all of them have: then the first of them stores it, wherever these
/// begin. Of a buffer in local memory each thread keeps its own, which the others cannot see missing.
LogicalResult BoundInference::verifyStoredBy(const ScheduledStage &stage) {
  auto extent = [&](unsigned dim) { return bounds.getExtent(dim); };
  SmallVector<const Axis *> around = bounds.getLoopsAround(stage);
  for (auto [thread, from, to, loc] : stage.storedBy) {
    if (bounds[stage].scope == schedule::Scope::Local)
      continue;
    auto error = [&, loc = loc] { return emitError(loc) << "set_store_predicate: "; };
    std::string threads = schedule::stringifyThreadTag(thread).str();
    for (const Axis *loop : bounds.getLoopsOn(stage.root(), thread))
      if (auto number = dyn_cast<AffineConstantExpr>(bounds[loop].extent); number && number.getValue() <= from)
        return error() << "expected a thread that there is, got those of " << threads << " from " << from << " on, of "
                       << number.getValue() << ": nothing would be stored";
    for (const Axis *loop : llvm::concat<const Axis *const>(around, bounds[stage].loops)) {
      if (loop->bind != thread || loop->isReduce)
        continue;
      // The threads beyond have no element.
      AffineExpr index = getAffineDimExpr(bounds[loop].dim, function.getContext());
      auto isEmptyBeyond = [&](const Axis *root) {
        auto whole = dyn_cast<AffineConstantExpr>(bounds[root].extent);
        return whole && whole.getValue() <= to && isProvablyNonNegative(bounds[root].index - index, extent);
      };
      auto number = dyn_cast<AffineConstantExpr>(bounds[loop].extent);
      bool isOwn = llvm::is_contained(bounds[stage].loops, loop);
      if (from == 0 && ((number && number.getValue() <= to) ||
                        (isOwn && llvm::any_of(ArrayRef(stage.roots).take_front(stage.numSpatial), isEmptyBeyond))))
        continue;
      std::string which = from == 0 && to == 1 ? "thread 0" : "some threads";
      return error() << "expected a thread index that is the same for all elements of stage '" << stage.name
                     << "', got " << threads << ", to which axis '" << loop->name << "' is bound: only the elements of "
                     << which << " would be stored";
    }
  }
  return success();
}

/// A loop that is a pipeline has something to fetch ahead.
LogicalResult BoundInference::verifyPipeline(const ScheduledStage &stage) {
  if (stage.doubleBuffer && bounds[stage].scope != schedule::Scope::Shared)
    return emitError(*stage.doubleBuffer) << "double_buffer: expected a stage in shared memory, got '" << stage.name
                                          << "' in " << schedule::stringifyScope(*bounds[stage].scope) << " memory";
  for (const Axis *loop : bounds[stage].loops)
    if (loop->pipelineDepth && llvm::none_of(stage.attached, [&](const ScheduledStage *attached) {
          return attached->attachAxis == loop && bounds.isFilledAhead(*attached);
        }))
      return emitError(loop->loc)
             << "software_pipeline: expected a loop that fills shared buffers, got one that fills none";
  return success();
}

LogicalResult BoundInference::verifyDecomposition(const ScheduledStage &stage) {
  if (!stage.decomposeAt)
    return success();
  auto error = [&] { return emitError(*stage.decomposeLoc) << "decompose_reduction: "; };
  if (stage.numSpatial == stage.roots.size())
    return error() << "expected a stage with a reduction, got '" << stage.name << "'";
  if (!bounds[stage.decomposeAt].isLoop())
    return error() << "expected a loop of stage '" << stage.name << "', got axis '" << stage.decomposeAt->name
                   << "', which " << bounds.whyNoLoop(stage.decomposeAt);
  ArrayRef<const Axis *> loops = bounds[stage].loops;
  unsigned firstReduce = getFirstReduce(loops);
  unsigned position = llvm::find(loops, stage.decomposeAt) - loops.begin();
  if (position > firstReduce)
    return error() << "expected a loop around the whole reduction of stage '" << stage.name << "', got '"
                   << stage.decomposeAt->name << "' inside its loop '" << loops[firstReduce]->name << "'";
  for (const Axis *loop : loops)
    if (loop->isReduce && loop->bind)
      return error() << "expected a reduction by one thread, got axis '" << loop->name << "' bound to "
                     << schedule::stringifyThreadTag(*loop->bind);
  for (const Axis *loop : loops.drop_front(position).take_front(firstReduce - position))
    for (const ScheduledStage *attached : stage.attached)
      if (attached->attachAxis == loop)
        return error() << "expected no stage at a loop between it and the reduction, got stage '" << attached->name
                       << "' at '" << loop->name << "'";
  return success();
}

LogicalResult BoundInference::verifyMarks() {
  auto extent = [&](unsigned dim) { return bounds.getExtent(dim); };
  for (auto &each : model.axes)
    if (const Axis *axis = each.get();
        axis->exactSplit && simplify(bounds[axis->outer].extent * bounds[axis->inner].extent) != bounds[axis].extent &&
        !isProvablyLess(bounds[axis].index, bounds[axis].extent, extent)) {
      std::string got =
          axis->given ? "'" + axis->factorName + axis->npartsName + "'" : std::to_string(axis->factor + axis->nparts);
      InFlightDiagnostic diag = emitError(*axis->exactSplit)
                                << "split: expected a number that divides axis '" << axis->name
                                << "' for disable_predication, got " << got << " and ";
      if (auto constant = dyn_cast<AffineConstantExpr>(bounds[axis].extent))
        return diag << "an extent of " << constant.getValue();
      return diag << "a symbolic extent";
    }
  for (auto &stage : model.stages)
    if (failed(verifyStoredBy(*stage)) || failed(verifyDecomposition(*stage)) || failed(verifyPipeline(*stage)) ||
        failed(verifyLayout(*stage)) || failed(verifyEnvThreads(*stage)) || failed(verifyPrefetches(*stage)) ||
        failed(verifyAsynchronous(*stage)))
      return failure();
  return success();
}

namespace {
/// What is known of code once the loops in it are marked.
struct Steps {
  int64_t stores = 0;
  bool hasLoop = false; // one that stays
};
} // namespace

static Steps markBlock(Block &block, int64_t maxSteps);

static Steps markLoop(scf::ForOp loop, int64_t maxSteps) {
  Steps steps = markBlock(*loop.getBody(), maxSteps);
  // A bound loop is none of a thread's own, and lanes are one step.
  if (loop->hasAttr(schedule::kBindAttr) || loop->hasAttr(schedule::kVectorizeAttr))
    return steps;
  auto trips = getConstantIntValue(loop.getUpperBound());
  bool isUnrolled = loop->hasAttr(schedule::kUnrollAttr);
  if (!isUnrolled && trips && !steps.hasLoop && *trips * steps.stores <= maxSteps) {
    loop->setAttr(schedule::kUnrollAttr, UnitAttr::get(loop.getContext()));
    isUnrolled = true;
  }
  if (!isUnrolled)
    return {steps.stores, true};
  return {steps.stores * trips.value_or(1), steps.hasLoop};
}

static Steps markBlock(Block &block, int64_t maxSteps) {
  Steps steps;
  auto add = [&](Steps more) {
    steps.stores += more.stores;
    steps.hasLoop |= more.hasLoop;
  };
  for (Operation &op : block) {
    if (isa<memref::StoreOp>(op))
      ++steps.stores;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      add(markLoop(loop, maxSteps));
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        add(markBlock(inner, maxSteps));
  }
  return steps;
}

void LoopEmitter::markUnrolled(scf::ForOp loop, int64_t maxSteps) { markLoop(loop, maxSteps); }
} // namespace tilewright
