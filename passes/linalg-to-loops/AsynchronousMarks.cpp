//===- AsynchronousMarks.cpp - what a schedule says of who copies what ----===//
#include "passes/linalg-to-loops/BoundInference.h"
#include "passes/linalg-to-loops/LoopEmitter.h"

using namespace mlir;

namespace tilewright {

LogicalResult StageModel::applyAsynchronous(Operation *op, DenseMap<Value, Axis *> &handles) {
  if (auto copy = dyn_cast<schedule::CopyByOp>(op)) {
    getStage(schedule::stageName(copy.getStage()))->copiedBy = {
        schedule::CopyAttr::get(op->getContext(), copy.getCopier(), copy.getSwizzle(), copy.getColumns().value_or(0),
                                copy.getDeferred()),
        op->getLoc()};
  } else if (auto specialize = dyn_cast<schedule::SpecializeOp>(op)) {
    Axis *axis = handles[specialize.getAxis()];
    axis->specialized = schedule::SpecializeAttr::get(op->getContext(), specialize.getProducer(),
                                                      specialize.getConsumer(), specialize.getConsumers());
    axis->loc = op->getLoc();
  } else if (auto rolling = dyn_cast<schedule::RollingUpdateOp>(op)) {
    getStage(schedule::stageName(rolling.getStage()))->rolling = {schedule::stageName(rolling.getOf()).str(),
                                                                  op->getLoc()};
  } else if (auto cluster = dyn_cast<schedule::ClusterOp>(op)) {
    Axis *axis = handles[cluster.getAxis()];
    axis->cluster = cluster.getBlocks();
    axis->loc = op->getLoc();
  } else if (auto persistent = dyn_cast<schedule::PersistentOp>(op)) {
    getStage(schedule::stageName(persistent.getStage()))->persistent = {
        schedule::PersistentAttr::get(op->getContext(), persistent.getBlocks(), persistent.getRaster(),
                                      persistent.getGroup(), persistent.getStreamK(), persistent.getNarrower(),
                                      persistent.getSerpentineK()),
        op->getLoc()};
  } else {
    return failure();
  }
  return success();
}

LogicalResult BoundInference::verifyAsynchronous(const ScheduledStage &stage) {
  if (auto &copy = stage.copiedBy) {
    auto error = [&] { return emitError(copy->loc) << "copy_by: "; };
    if (bounds[stage].scope == schedule::Scope::Local)
      return error() << "expected a stage in shared or global memory, got '" << stage.name << "' in local memory";
    if (stage.layout.map || stage.layout.granule || stage.layout.rollingLoc || !stage.alignments.empty())
      return error() << "expected a buffer that lies as TMA lays it out, got stage '" << stage.name
                     << "' with a layout of its own";
    bool addsOnly = stage.getReduceAdd() && getFirstReduce(stage.loops) == stage.loops.size();
    if (stage.numSpatial != stage.roots.size() && !addsOnly)
      return error() << "expected a stage that is a copy, got the reduction '" << stage.name << "'";
  }
  if (stage.rolling && llvm::none_of(bounds[stage].loops, [](const Axis *loop) { return loop->pipelineDepth > 0; }))
    return emitError(stage.rolling->second)
           << "rolling_update: expected a loop of stage '" << stage.name << "' that is a software_pipeline, as one of '"
           << stage.rolling->first << "' is, got none";
  for (const Axis *loop : bounds[stage].loops) {
    if (loop->specialized && !loop->pipelineDepth)
      return emitError(loop->loc) << "specialize: expected a loop that is a software_pipeline, got '" << loop->name
                                  << "'";
    if (loop->cluster && loop->bind != schedule::ThreadTag::BlockIdxX && loop->bind != schedule::ThreadTag::BlockIdxY)
      return emitError(loop->loc) << "cluster: expected an axis bound to blockIdx.x or blockIdx.y, got '" << loop->name
                                  << "'";
  }
  if (stage.persistent && stage.attachStage)
    return emitError(stage.persistent->loc)
           << "persistent: expected a stage that is computed at the root, as a kernel is, got '" << stage.name
           << "', which is computed at a loop of stage '" << stage.attachStage->name << "'";
  return success();
}

void LoopEmitter::markKernel(const ScheduledStage &stage, scf::ForOp loop) {
  if (stage.attachStage || !isa<func::FuncOp>(loop->getParentOp()))
    return;
  if (stage.minBlocks)
    loop->setAttr(schedule::kMinBlocksAttr, builder.getI64IntegerAttr(*stage.minBlocks));
  if (stage.persistent)
    loop->setAttr(schedule::kPersistentAttr, stage.persistent->how);
}

void LoopEmitter::markCopy(const ScheduledStage &stage, Operation *store) {
  const auto &copy = stage.copiedBy;
  if (!copy)
    return;
  store->setLoc(NameLoc::get(builder.getStringAttr(stage.name), copy->loc));
  store->setAttr(schedule::kCopyAttr, copy->how);
}
} // namespace tilewright
