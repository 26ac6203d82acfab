//===- Followers.cpp - stages computed after what they read, in its loops ===//
//
// reverse_compute_at turns bound inference around: a follower computes the elements that an iteration of its producer
// made possible. That is right only where each iteration computes a block of the producer's tensor and nothing outside
// it.
//
//===----------------------------------------------------------------------===//
#include "passes/linalg-to-loops/StageModel.h"

using namespace mlir;

namespace tilewright {

static unsigned getPosition(ScheduledStage &stage, Axis *loop) {
  return llvm::find(stage.loops, loop) - stage.loops.begin();
}

LogicalResult StageModel::follow(schedule::ReverseComputeAtOp op, Axis *axis) {
  ScheduledStage *stage = getStage(schedule::stageName(op.getStage()));
  ScheduledStage *producer = getStage(schedule::stageName(op.getProducer()));
  for (ScheduledStage *around = producer; around; around = around->attachStage)
    if (around->attachStage == stage)
      return emitError(op.getLoc()) << "reverse_compute_at: "
                                    << "expected a producer that is computed at the root, got stage '" << producer->name
                                    << "', which is computed at a loop of stage '" << producer->attachStage->name
                                    << "'";
  stage->attachStage = producer;
  stage->attachAxis = axis;
  stage->attachLoc = op.getLoc();
  stage->follows = true;
  return success();
}

/// For each spatial axis of `producer` the spatial axis of `stage` that reads at it; none where a read is not of that
/// kind.
static std::optional<SmallVector<unsigned>> getReadAxes(ScheduledStage &stage, ArrayRef<Access> reads) {
  std::optional<SmallVector<unsigned>> axes;
  for (const Access &access : reads) {
    SmallVector<unsigned> found;
    for (AffineExpr index : access.indices) {
      auto dim = dyn_cast_or_null<AffineDimExpr>(index);
      if (!dim || dim.getPosition() >= stage.numSpatial || llvm::is_contained(found, dim.getPosition()))
        return std::nullopt;
      found.push_back(dim.getPosition());
    }
    if (axes && *axes != found)
      return std::nullopt;
    axes = found;
  }
  return axes;
}

static SmallVector<Access> getReadsOf(StageModel &model, ScheduledStage &stage, ScheduledStage *producer) {
  SmallVector<Access> reads = getReads(stage);
  llvm::erase_if(reads, [&](Access &access) { return model.getProducer(access.tensor) != producer; });
  return reads;
}

LogicalResult StageModel::verifyFollower(ScheduledStage &stage) {
  ScheduledStage &producer = *stage.attachStage;
  auto error = [&] { return emitError(*stage.attachLoc) << "reverse_compute_at: "; };
  SmallVector<Access> reads = getReadsOf(*this, stage, &producer);
  if (reads.empty())
    return error() << "expected a stage that reads stage '" << producer.name << "', got stage '" << stage.name << "'";
  if (producer.attachStage && !producer.follows)
    return error() << "expected a producer that is computed at the root, got stage '" << producer.name
                   << "', which is computed at a loop of stage '" << producer.attachStage->name << "'";
  unsigned position = getPosition(producer, stage.attachAxis);
  unsigned first = producer.decomposeAt ? getPosition(producer, producer.decomposeAt) : producer.getFirstReduce();
  if (position >= first)
    return error() << "expected a loop of stage '" << producer.name << "' around its reduction, got '"
                   << stage.attachAxis->name << "' in it";
  for (ScheduledStage *each : {&producer, &stage})
    for (Axis *loop : ArrayRef(each->loops).drop_front(each == &producer ? position + 1 : 0))
      if (loop->bind && *loop->bind < schedule::ThreadTag::ThreadIdxX)
        return error() << "expected all that one iteration of loop '" << stage.attachAxis->name
                       << "' computes to be computed by one block, got axis '" << loop->name << "' of stage '"
                       << each->name << "' in it bound to " << schedule::stringifyThreadTag(*loop->bind);
  if (!getReadAxes(stage, reads))
    return error() << "expected stage '" << stage.name << "' to read stage '" << producer.name
                   << "' at its axes, each once, got other indices: use compute_at of stage '" << producer.name << "'";
  // What else it reads must be there by then.
  auto order = [&](ScheduledStage &of) {
    return llvm::find_if(stages, [&](auto &one) { return one.get() == &of; }) - stages.begin();
  };
  llvm::SmallSetVector<ScheduledStage *, 8> needed;
  auto need = [&](ScheduledStage &reader) {
    for (Access &access : getReads(reader))
      if (ScheduledStage *other = getProducer(access.tensor); other && other != &producer)
        needed.insert(other);
  };
  need(stage);
  for (unsigned i = 0; i < needed.size(); ++i) {
    ScheduledStage *other = needed[i];
    bool isBefore = &other->root() != &producer.root() && order(other->root()) < order(producer.root());
    bool isAttached = other->attachStage && !other->follows;
    if (!isBefore && !isAttached)
      return error() << "expected stage '" << stage.name << "' to read what is computed before stage '" << producer.name
                     << "', got stage '" << other->name << "'";
    // What is computed in its loops needs to be there as well.
    if (!isBefore)
      need(*other);
  }
  return success();
}

using LinearBlock = SmallVector<std::pair<AffineExpr, AffineExpr>>;

std::optional<LinearBlock> StageModel::getProduced(ScheduledStage &producer, Axis *loop) {
  ArrayRef<Axis *> inner = ArrayRef(producer.loops).drop_front(getPosition(producer, loop) + 1);
  auto runs = [&](unsigned dim) { return llvm::is_contained(inner, dims[dim]); };
  auto extent = [&](unsigned dim) { return dims[dim]->extent; };
  AffineExpr one = getAffineConstantExpr(1, function.getContext()), elements = one, iterations = one;
  LinearBlock block;
  for (auto [root, min, whole] : llvm::zip(producer.roots, producer.mins, producer.wholeExtents)) {
    auto interval = getInterval(root->index, runs, extent);
    if (!interval)
      return std::nullopt;
    AffineExpr first = simplify(min + interval->min), size = simplify(interval->width + 1);
    elements = simplify(elements * size);
    bool isWhole = first == getAffineConstantExpr(0, function.getContext()) && isProvablyLess(whole - 1, size, extent);
    block.push_back({first, isWhole ? whole : size});
  }
  for (Axis *axis : inner)
    if (!axis->isReduce)
      iterations = simplify(iterations * axis->extent);
  // As many iterations as elements reach each of them. An iteration that is predicated off must be one over the end of
  // the tensor.
  if (elements != iterations)
    return std::nullopt;
  for (auto &axis : axes)
    if (axis->stage == &producer && axis->outer && !axis->isReduce && !llvm::is_contained(producer.roots, axis.get()) &&
        simplify(axis->outer->extent * axis->inner->extent) != axis->extent)
      return std::nullopt;
  return block;
}

LogicalResult StageModel::inferFollowerDomain(ScheduledStage &stage) {
  ScheduledStage &producer = *stage.attachStage;
  auto block = getProduced(producer, stage.attachAxis);
  if (!block)
    return emitError(*stage.attachLoc) << "reverse_compute_at: expected each iteration of loop '"
                                       << stage.attachAxis->name << "' to compute a block of stage '" << producer.name
                                       << "', got loops that fuse or split their axes in another way";
  auto readAxes = getReadAxes(stage, getReadsOf(*this, stage, &producer));
  for (auto [position, part] : llvm::zip(*readAxes, *block)) {
    stage.mins[position] = part.first;
    stage.roots[position]->extent = part.second;
  }
  return success();
}

LogicalResult StageModel::placeBuffer(ScheduledStage &stage) {
  AffineExpr zero = getAffineConstantExpr(0, function.getContext());
  if (stage.attachStage && !stage.follows && !stage.isUpdate) {
    stage.origin = stage.mins;
    for (Axis *root : ArrayRef(stage.roots).take_front(stage.numSpatial))
      stage.bufferExtents.push_back(root->extent);
    return success();
  }
  stage.origin.assign(stage.numSpatial, zero);
  stage.bufferExtents = stage.wholeExtents;
  // Of what the steps of a scan hand on each stage in them may read any row.
  if (stage.isUpdate || stage.hasSteps)
    return success();
  bool isWhole = stage.isOutput() || stage.scope == schedule::Scope::Global;
  Axis *outermost = nullptr;
  for (auto &reader : stages) {
    if (getReadsOf(*this, *reader, &stage).empty())
      continue;
    if (!reader->follows || reader->attachStage != &stage) {
      isWhole = true;
      if (stage.scope.value_or(schedule::Scope::Global) != schedule::Scope::Global)
        return emitError(stage.getLoc())
               << "stage '" << stage.name << "' in " << schedule::stringifyScope(*stage.scope)
               << " memory: expected all that reads it to be computed in its loops, got stage '" << reader->name << "'";
    } else if (!outermost || getPosition(stage, reader->attachAxis) < getPosition(stage, outermost)) {
      outermost = reader->attachAxis;
    }
  }
  // A scan reads what it wrote in earlier iterations of its order, which its buffer holds: that lives around all of
  // them.
  auto ordered = llvm::find_if(stage.loops, [](Axis *loop) { return loop->isOrdered; });
  if (outermost && ordered != stage.loops.end() && ordered - stage.loops.begin() <= getPosition(stage, outermost))
    outermost = ordered == stage.loops.begin() ? nullptr : *std::prev(ordered);
  auto block = isWhole || !outermost ? std::nullopt : getProduced(stage, outermost);
  bool isConstant = block && llvm::all_of(*block, [](auto &part) { return isa<AffineConstantExpr>(part.second); });
  if (!isConstant) {
    if (stage.scope.value_or(schedule::Scope::Global) != schedule::Scope::Global)
      return emitError(stage.getLoc())
             << "stage '" << stage.name << "' in " << schedule::stringifyScope(*stage.scope)
             << " memory: expected a constant number of elements in an iteration of its loops";
    stage.scope = schedule::Scope::Global;
    return success();
  }
  bool inThread = false, inBlock = false;
  SmallVector<Axis *> around = getLoopsAround(stage);
  llvm::append_range(around, ArrayRef(stage.loops).take_front(getPosition(stage, outermost) + 1));
  for (Axis *loop : around)
    if (loop->bind)
      (*loop->bind >= schedule::ThreadTag::ThreadIdxX ? inThread : inBlock) = true;
  // Threads that compute a part of the block each.
  auto inner = llvm::find_if(ArrayRef(stage.loops).drop_front(getPosition(stage, outermost) + 1), [](Axis *loop) {
    return loop->bind && *loop->bind >= schedule::ThreadTag::ThreadIdxX && *loop->bind != schedule::ThreadTag::VThread;
  });
  if (inner != stage.loops.end() && stage.scope == schedule::Scope::Local)
    return emitError((*inner)->loc) << "bind: expected no axis of stage '" << stage.name
                                    << "' on a thread index in loop '" << outermost->name
                                    << "', at which what reads it follows it, as each thread has a buffer "
                                    << "of its own in local memory, got '" << (*inner)->name << "' on "
                                    << schedule::stringifyThreadTag(*(*inner)->bind);
  if (inner != stage.loops.end() && inThread && !stage.scope) {
    stage.scope = schedule::Scope::Global;
    return success();
  }
  if (!stage.scope)
    stage.scope =
        inner == stage.loops.end() && (inThread || !inBlock) ? schedule::Scope::Local : schedule::Scope::Shared;
  if (inThread && stage.scope == schedule::Scope::Shared)
    return emitError(stage.getLoc()) << "stage '" << stage.name
                                     << "' in shared memory: expected what reads it to follow it "
                                     << "outside the loops of threads, got it at loop '" << outermost->name << "'";
  stage.bufferAxis = outermost;
  for (auto [i, part] : llvm::enumerate(*block))
    std::tie(stage.origin[i], stage.bufferExtents[i]) = part;
  return success();
}
} // namespace tilewright
