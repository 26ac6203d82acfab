//===- Followers.cpp - stages computed after what they read, in its loops ===//
//
// reverse_compute_at turns bound inference around: a follower computes the elements that an iteration of its producer
// made possible. That is right only where each iteration computes a block of the producer's tensor and nothing outside
// it.
//
//===----------------------------------------------------------------------===//
#include "passes/linalg-to-loops/BoundInference.h"

using namespace mlir;

namespace tilewright {

template <typename Loops> static unsigned getPosition(const Loops &loops, const Axis *loop) {
  return llvm::find(loops, loop) - loops.begin();
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
static std::optional<SmallVector<unsigned>> getReadAxes(const ScheduledStage &stage, ArrayRef<Access> reads) {
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

static SmallVector<Access> getReadsOf(const StageModel &model, const ScheduledStage &stage,
                                      const ScheduledStage *producer) {
  SmallVector<Access> reads = getReads(stage);
  llvm::erase_if(reads, [&](Access &access) { return model.getProducer(access.tensor) != producer; });
  return reads;
}

/// Whether a stage reads what is computed in the loops of another one, which itself it does not read.
static bool isSibling(const StageModel &model, const ScheduledStage &stage, const ScheduledStage &of) {
  return getReadsOf(model, stage, &of).empty() && llvm::any_of(getReads(stage), [&](Access &access) {
           const ScheduledStage *read = model.getProducer(access.tensor);
           while (read && read->attachStage && !read->follows && read->attachStage != &of)
             read = read->attachStage;
           return read && read->attachStage == &of && !read->follows;
         });
}

LogicalResult StageModel::verifyFollower(ScheduledStage &stage) {
  ScheduledStage &producer = *stage.attachStage;
  auto error = [&] { return emitError(*stage.attachLoc) << "reverse_compute_at: "; };
  SmallVector<Access> reads = getReadsOf(*this, stage, &producer);
  bool isBeside = isSibling(*this, stage, producer);
  if (reads.empty() && !isBeside)
    return error() << "expected a stage that reads stage '" << producer.name << "', got stage '" << stage.name << "'";
  if (producer.attachStage && !producer.follows)
    return error() << "expected a producer that is computed at the root, got stage '" << producer.name
                   << "', which is computed at a loop of stage '" << producer.attachStage->name << "'";
  unsigned position = getPosition(producer.loops, stage.attachAxis);
  unsigned first =
      producer.decomposeAt ? getPosition(producer.loops, producer.decomposeAt) : getFirstReduce(producer.loops);
  if (position >= first)
    return error() << "expected a loop of stage '" << producer.name << "' around its reduction, got '"
                   << stage.attachAxis->name << "' in it";
  for (ScheduledStage *each : {&producer, &stage})
    for (const Axis *loop : ArrayRef(each->loops).drop_front(each == &producer ? position + 1 : 0))
      if (loop->bind && *loop->bind < schedule::ThreadTag::ThreadIdxX)
        return error() << "expected all that one iteration of loop '" << stage.attachAxis->name
                       << "' computes to be computed by one block, got axis '" << loop->name << "' of stage '"
                       << each->name << "' in it bound to " << schedule::stringifyThreadTag(*loop->bind);
  for (auto [i, axis] : llvm::enumerate(ArrayRef(stage.roots).take_front(isBeside ? stage.numSpatial : 0)))
    if (i >= producer.numSpatial || axis->wholeExtent != producer.roots[i]->wholeExtent)
      return error() << "expected stage '" << stage.name << "' to have the first axes of stage '" << producer.name
                     << "', in whose loops it reads what is computed, got '" << axis->name << "' of another extent";
  if (!isBeside && !getReadAxes(stage, reads))
    return error() << "expected stage '" << stage.name << "' to read stage '" << producer.name
                   << "' at its axes, each once, got other indices: use compute_at of stage '" << producer.name << "'";
  // What else it reads must be there by then.
  auto order = [&](const ScheduledStage &of) {
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

std::optional<LinearBlock> BoundInference::getProduced(const ScheduledStage &producer, const Axis *loop,
                                                       bool isClipped) {
  ArrayRef<const Axis *> loops = bounds[producer].loops;
  ArrayRef<const Axis *> inner = loops.drop_front(getPosition(loops, loop) + 1);
  auto runs = [&](unsigned dim) { return llvm::is_contained(inner, bounds.getLoop(dim)); };
  auto extent = [&](unsigned dim) { return bounds.getExtent(dim); };
  AffineExpr one = getAffineConstantExpr(1, function.getContext()), elements = one, iterations = one;
  LinearBlock block;
  for (auto [root, min] : llvm::zip(producer.roots, bounds[producer].mins)) {
    AffineExpr whole = root->wholeExtent;
    auto interval = getInterval(bounds[root].index, runs, extent);
    if (!interval)
      return std::nullopt;
    AffineExpr first = simplify(min + interval->min), size = simplify(interval->width + 1);
    elements = simplify(elements * size);
    bool isWhole = first == getAffineConstantExpr(0, function.getContext()) && isProvablyLess(whole - 1, size, extent);
    block.push_back({first, isWhole && isClipped ? whole : size});
  }
  for (const Axis *axis : inner)
    if (!axis->isReduce)
      iterations = simplify(iterations * bounds[axis].extent);
  // As many iterations as elements reach each of them. An iteration that is predicated off must be one over the end of
  // the tensor.
  if (elements != iterations)
    return std::nullopt;
  for (const Axis *axis : bounds.getAxes(producer))
    if (const AxisBounds &made = bounds[axis];
        made.outer && !axis->isReduce && !llvm::is_contained(producer.roots, axis) &&
        simplify(bounds[made.outer].extent * bounds[made.inner].extent) != made.extent)
      return std::nullopt;
  return block;
}

LogicalResult BoundInference::inferFollowerDomain(const ScheduledStage &stage) {
  const ScheduledStage &producer = *stage.attachStage;
  auto block = getProduced(producer, stage.attachAxis);
  if (!block)
    return emitError(*stage.attachLoc) << "reverse_compute_at: expected each iteration of loop '"
                                       << stage.attachAxis->name << "' to compute a block of stage '" << producer.name
                                       << "', got loops that fuse or split their axes in another way";
  auto readAxes = getReadAxes(stage, getReadsOf(model, stage, &producer));
  if (!readAxes) {
    readAxes = llvm::to_vector(llvm::seq(stage.numSpatial));
    // Of a stage that has fewer axes each element is computed once.
    for (unsigned i = stage.numSpatial; i < producer.numSpatial; ++i)
      if ((*block)[i].second != producer.roots[i]->wholeExtent)
        return emitError(*stage.attachLoc)
               << "reverse_compute_at: expected each iteration of loop '" << stage.attachAxis->name
               << "' to compute all of axis '" << producer.roots[i]->name << "' of stage '" << producer.name
               << "', which stage '" << stage.name << "' does not have, got a part of it";
    // It has the iterations of what it stands beside, also those over the end of a tensor.
    block = getProduced(producer, stage.attachAxis, /*isClipped=*/false);
  }
  for (auto [position, part] : llvm::zip(*readAxes, *block)) {
    bounds[stage].mins[position] = part.first;
    bounds[stage.roots[position]].extent = part.second;
  }
  return success();
}

LogicalResult BoundInference::placeBuffer(const ScheduledStage &stage) {
  ArrayRef<const Axis *> loops = bounds[stage].loops;
  AffineExpr zero = getAffineConstantExpr(0, function.getContext());
  if (stage.attachStage && !stage.follows && !stage.isUpdate) {
    bounds[stage].origin = bounds[stage].mins;
    for (const Axis *root : ArrayRef(stage.roots).take_front(stage.numSpatial))
      bounds[stage].bufferExtents.push_back(bounds[root].extent);
    return success();
  }
  bounds[stage].origin.assign(stage.numSpatial, zero);
  for (const Axis *root : ArrayRef(stage.roots).take_front(stage.numSpatial))
    bounds[stage].bufferExtents.push_back(root->wholeExtent);
  // Of what the steps of a scan hand on each stage in them may read any row.
  if (stage.isUpdate || stage.hasSteps)
    return success();
  bool isWhole = stage.isOutput() || bounds[stage].scope == schedule::Scope::Global;
  const Axis *outermost = nullptr;
  for (auto &reader : model.stages) {
    if (getReadsOf(model, *reader, &stage).empty())
      continue;
    if (!reader->follows || reader->attachStage != &stage) {
      isWhole = true;
      if (bounds[stage].scope.value_or(schedule::Scope::Global) != schedule::Scope::Global)
        return emitError(stage.getLoc())
               << "stage '" << stage.name << "' in " << schedule::stringifyScope(*bounds[stage].scope)
               << " memory: expected all that reads it to be computed in its loops, got stage '" << reader->name << "'";
    } else if (!outermost || getPosition(loops, reader->attachAxis) < getPosition(loops, outermost)) {
      outermost = reader->attachAxis;
    }
  }
  // A scan reads what it wrote in earlier iterations of its order, which its buffer holds: that lives around all of
  // them.
  auto ordered = llvm::find_if(loops, [](const Axis *loop) { return loop->isOrdered; });
  if (outermost && ordered != loops.end() && ordered - loops.begin() <= getPosition(loops, outermost))
    outermost = ordered == loops.begin() ? nullptr : *std::prev(ordered);
  auto block = isWhole || !outermost ? std::nullopt : getProduced(stage, outermost);
  bool isConstant = block && llvm::all_of(*block, [](auto &part) { return isa<AffineConstantExpr>(part.second); });
  if (!isConstant) {
    if (bounds[stage].scope.value_or(schedule::Scope::Global) != schedule::Scope::Global)
      return emitError(stage.getLoc())
             << "stage '" << stage.name << "' in " << schedule::stringifyScope(*bounds[stage].scope)
             << " memory: expected a constant number of elements in an iteration of its loops";
    bounds[stage].scope = schedule::Scope::Global;
    return success();
  }
  bool inThread = false, inBlock = false;
  SmallVector<const Axis *> around = bounds.getLoopsAround(stage);
  llvm::append_range(around, loops.take_front(getPosition(loops, outermost) + 1));
  for (const Axis *loop : around)
    if (loop->bind)
      (*loop->bind >= schedule::ThreadTag::ThreadIdxX ? inThread : inBlock) = true;
  // Threads that compute a part of the block each.
  auto inner = llvm::find_if(loops.drop_front(getPosition(loops, outermost) + 1), [](const Axis *loop) {
    return loop->bind && *loop->bind >= schedule::ThreadTag::ThreadIdxX && *loop->bind != schedule::ThreadTag::VThread;
  });
  if (inner != loops.end() && bounds[stage].scope == schedule::Scope::Local)
    return emitError((*inner)->loc) << "bind: expected no axis of stage '" << stage.name
                                    << "' on a thread index in loop '" << outermost->name
                                    << "', at which what reads it follows it, as each thread has a buffer "
                                    << "of its own in local memory, got '" << (*inner)->name << "' on "
                                    << schedule::stringifyThreadTag(*(*inner)->bind);
  if (inner != loops.end() && inThread && !bounds[stage].scope) {
    bounds[stage].scope = schedule::Scope::Global;
    return success();
  }
  if (!bounds[stage].scope)
    bounds[stage].scope =
        inner == loops.end() && (inThread || !inBlock) ? schedule::Scope::Local : schedule::Scope::Shared;
  if (inThread && bounds[stage].scope == schedule::Scope::Shared)
    return emitError(stage.getLoc()) << "stage '" << stage.name
                                     << "' in shared memory: expected what reads it to follow it "
                                     << "outside the loops of threads, got it at loop '" << outermost->name << "'";
  bounds[stage].bufferAxis = outermost;
  for (auto [i, part] : llvm::enumerate(*block))
    std::tie(bounds[stage].origin[i], bounds[stage].bufferExtents[i]) = part;
  return success();
}
} // namespace tilewright
