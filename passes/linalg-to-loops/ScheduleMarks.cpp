//===- ScheduleMarks.cpp - what a schedule says of loops and stages -------===//
//
// Primitives that leave the loops as they are: notes on a loop or a stage, and the checks that they may be taken.
//
//===----------------------------------------------------------------------===//
#include "passes/linalg-to-loops/LoopEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

LogicalResult StageModel::applyMark(Operation *op, DenseMap<Value, Axis *> &handles) {
  if (auto parallel = dyn_cast<schedule::ParallelOp>(op)) {
    handles[parallel.getAxis()]->parallel = true;
    handles[parallel.getAxis()]->loc = op->getLoc();
  } else if (auto partition = dyn_cast<schedule::LoopPartitionOp>(op)) {
    handles[partition.getAxis()]->partition = true;
  } else if (auto unroll = dyn_cast<schedule::AutoUnrollOp>(op)) {
    handles[unroll.getAxis()]->autoUnroll = unroll.getMaxStep();
  } else if (auto predicate = dyn_cast<schedule::SetStorePredicateOp>(op)) {
    getStage(schedule::stageName(predicate.getStage()))->storedByFirst.push_back({predicate.getThread(), op->getLoc()});
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
    getStage(schedule::stageName(threads.getStage()))->envThreads.push_back({threads.getThread(), extent, op->getLoc()});
  } else {
    return applyAsynchronous(op, handles);
  }
  return success();
}

/// The elements that thread 0 stores for all must be those that all of them have.
static LogicalResult verifyStoredByFirst(ScheduledStage &stage, ArrayRef<Axis *> around) {
  for (auto [thread, loc] : stage.storedByFirst) {
    auto error = [&, loc = loc] { return emitError(loc) << "set_store_predicate: "; };
    if (stage.scope == schedule::Scope::Local)
      return error() << "expected a stage in global or shared memory, got '" << stage.name << "', of which each thread has its own";
    for (Axis *loop : llvm::concat<Axis *const>(around, stage.loops))
      if (loop->bind == thread && !loop->isReduce)
        return error() << "expected a thread index that is the same for all elements of stage '" << stage.name << "', got "
                       << schedule::stringifyThreadTag(thread) << ", to which axis '" << loop->name
                       << "' is bound: only the elements of thread 0 would be stored";
  }
  return success();
}

/// A loop that is a pipeline has something to fetch ahead.
static LogicalResult verifyPipeline(ScheduledStage &stage) {
  if (stage.doubleBuffer && stage.scope != schedule::Scope::Shared)
    return emitError(*stage.doubleBuffer) << "double_buffer: expected a stage in shared memory, got '" << stage.name << "' in "
                                          << schedule::stringifyScope(*stage.scope) << " memory";
  for (Axis *loop : stage.loops)
    if (loop->pipelineDepth && llvm::none_of(stage.attached, [&](ScheduledStage *attached) {
          return attached->attachAxis == loop && attached->isFilledAhead();
        }))
      return emitError(loop->loc) << "software_pipeline: expected a loop that fills shared buffers, got one that fills none";
  return success();
}

static LogicalResult verifyDecomposition(ScheduledStage &stage) {
  if (!stage.decomposeAt)
    return success();
  auto error = [&] { return emitError(*stage.decomposeLoc) << "decompose_reduction: "; };
  if (stage.numSpatial == stage.roots.size())
    return error() << "expected a stage with a reduction, got '" << stage.name << "'";
  if (!stage.decomposeAt->isLoop())
    return error() << "expected a loop of stage '" << stage.name << "', got axis '" << stage.decomposeAt->name
                   << "', which " << stage.decomposeAt->whyNoLoop();
  unsigned position = llvm::find(stage.loops, stage.decomposeAt) - stage.loops.begin();
  if (position > stage.getFirstReduce())
    return error() << "expected a loop around the whole reduction of stage '" << stage.name << "', got '"
                   << stage.decomposeAt->name << "' inside its loop '" << stage.loops[stage.getFirstReduce()]->name << "'";
  for (Axis *loop : stage.loops)
    if (loop->isReduce && loop->bind)
      return error() << "expected a reduction by one thread, got axis '" << loop->name << "' bound to "
                     << schedule::stringifyThreadTag(*loop->bind);
  for (Axis *loop : ArrayRef(stage.loops).drop_front(position).take_front(stage.getFirstReduce() - position))
    for (ScheduledStage *attached : stage.attached)
      if (attached->attachAxis == loop)
        return error() << "expected no stage at a loop between it and the reduction, got stage '" << attached->name
                       << "' at '" << loop->name << "'";
  return success();
}

LogicalResult StageModel::verifyMarks() {
  auto extent = [&](unsigned dim) { return dims[dim]->extent; };
  for (auto &axis : axes)
    if (axis->exactSplit && simplify(axis->outer->extent * axis->inner->extent) != axis->extent &&
        !isProvablyLess(axis->index, axis->extent, extent)) {
      InFlightDiagnostic diag = emitError(*axis->exactSplit)
                                << "split: expected a number that divides axis '" << axis->name
                                << "' for disable_predication, got " << (axis->factor ? axis->factor : axis->nparts) << " and ";
      if (auto constant = dyn_cast<AffineConstantExpr>(axis->extent))
        return diag << "an extent of " << constant.getValue();
      return diag << "a symbolic extent";
    }
  for (auto &stage : stages)
    if (failed(verifyStoredByFirst(*stage, getLoopsAround(*stage))) || failed(verifyDecomposition(*stage)) ||
        failed(verifyPipeline(*stage)) || failed(verifyLayout(*stage)) || failed(verifyEnvThreads(*stage)) ||
        failed(verifyPrefetches(*stage)) || failed(verifyAsynchronous(*stage)))
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
