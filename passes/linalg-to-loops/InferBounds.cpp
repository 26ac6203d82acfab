//===- InferBounds.cpp - which part of each stage is computed, and by which loops ===//
//
// From the last stage to the first: a stage at the root is computed whole; one that is attached to a loop of its
// consumer computes what its readers need while the loops around it stand still. Threads share a shared buffer, so for
// it the thread loops run too.
//
//===----------------------------------------------------------------------===//
#include "passes/linalg-to-loops/BoundInference.h"

using namespace mlir;

namespace tilewright {

std::optional<Interval> BoundInference::getRegion(const ScheduledStage &stage, unsigned dimension,
                                                  const DenseSet<const Axis *> &around) {
  return bounds.getRegion(
      [&](const ScheduledStage &, const Access &access) { return model.getProducer(access.tensor) == &stage; },
      dimension,
      [&](unsigned dim) {
        const Axis *loop = bounds.getLoop(dim);
        return !around.contains(loop) || (bounds[stage].scope == schedule::Scope::Shared && loop->bind &&
                                          isThread(*loop->bind) && !(bounds[stage].warpRows & getWarpRow(*loop->bind)));
      },
      stage.scan ? &stage : nullptr);
}

/// A stage in a loop of another is computed where its buffer is: by the threads that share it.
LogicalResult BoundInference::verifyBinds(const ScheduledStage &stage) {
  for (const Axis *loop : bounds[stage].loops) {
    if (loop->bind && (bounds[stage].warpRows & getWarpRow(*loop->bind)))
      return emitError(loop->loc) << "bind: expected no axis of stage '" << stage.name << "' on "
                                  << schedule::stringifyThreadTag(*loop->bind)
                                  << ", as each of the threads along that has its own in warp memory, got '"
                                  << loop->name << "'";
    // Threads that reduce together all have the result.
    if (!loop->bind || loop->isReduce || loop->bind == schedule::ThreadTag::VThread)
      continue;
    // Of a buffer in local memory each thread keeps what it stores; distribute-private-buffers sees to the reads.
    if (!isThread(*loop->bind))
      return emitError(loop->loc) << "bind: expected no axis of stage '" << stage.name
                                  << "' on a block index, as each block has a buffer of its own in "
                                  << schedule::stringifyScope(*bounds[stage].scope) << " memory, got '" << loop->name
                                  << "' on " << schedule::stringifyThreadTag(*loop->bind);
  }
  return success();
}

LogicalResult BoundInference::inferDomain(const ScheduledStage &stage) {
  AffineExpr zero = getAffineConstantExpr(0, function.getContext());
  bounds[stage].mins.assign(stage.numSpatial, zero);
  if (stage.follows)
    return inferFollowerDomain(stage);
  if (stage.isUpdate)
    return inferUpdateDomain(stage);
  SmallVector<const Axis *> loopsAround = bounds.getLoopsAround(stage);
  bool isSaid = bounds[stage].scope.has_value();
  // A stage that others follow has its scope with its buffer.
  if (!bounds[stage].scope && stage.followers.empty()) {
    auto inside = [&](bool thread) {
      return llvm::any_of(loopsAround, [&](const Axis *loop) { return loop->bind && isThread(*loop->bind) == thread; });
    };
    // The threads of a block have the steps of a scan in common where they are bound inside of it.
    bool inSteps = stage.scan && llvm::any_of(model.stages, [&](auto &other) {
                     return &other->root() == &stage.root() && llvm::any_of(bounds[*other].loops, [](const Axis *loop) {
                       return loop->bind && isThread(*loop->bind);
                     });
                   });
    bounds[stage].scope = !stage.attachStage         ? schedule::Scope::Global
                          : inside(true)             ? schedule::Scope::Local
                          : inside(false) || inSteps ? schedule::Scope::Shared
                                                     : schedule::Scope::Local;
  }
  if (!stage.attachStage)
    return success();
  for (const Axis *loop : loopsAround)
    if (stage.isWarp && loop->bind)
      bounds[stage].warpRows |= getWarpRow(*loop->bind);
  if (!stage.follows && failed(verifyBinds(stage)))
    return failure();
  DenseSet<const Axis *> around(loopsAround.begin(), loopsAround.end());
  for (unsigned d = 0; d < stage.numSpatial; ++d) {
    AffineExpr &extent = bounds[stage.roots[d]].extent;
    auto whole = dyn_cast<AffineConstantExpr>(extent);
    if (auto region = getRegion(stage, d, around)) {
      auto width = dyn_cast<AffineConstantExpr>(region->width);
      // The row of a step, even where there is one alone.
      if (const Axis *ordered = stage.scan ? stage.scan->getOrdered() : nullptr;
          width && ordered && region->min.isFunctionOfDim(bounds[ordered].dim)) {
        bounds[stage].mins[d] = region->min;
        extent = getAffineConstantExpr(width.getValue() + 1, function.getContext());
        continue;
      }
      if (width && (!whole || width.getValue() + 1 < whole.getValue())) {
        bounds[stage].mins[d] = region->min;
        extent = getAffineConstantExpr(width.getValue() + 1, function.getContext());
        continue;
      }
    }
    if (!whole && (!isSaid || bounds[stage].scope == schedule::Scope::Global)) {
      // Only global memory has room for as many as a call says.
      bounds[stage].scope = schedule::Scope::Global;
      if (auto region = getRegion(stage, d, around); region && region->width.isSymbolicOrConstant()) {
        bounds[stage].mins[d] = region->min;
        extent = simplify(region->width + 1);
      }
    } else if (!whole) {
      return emitError(*stage.attachLoc)
             << "stage '" << stage.name << "' in " << schedule::stringifyScope(*bounds[stage].scope)
             << " memory: expected axis '" << stage.roots[d]->name
             << "' to need a constant number of elements here, got one that depends on a symbolic extent";
    }
  }
  if (bounds[stage].scope == schedule::Scope::Global)
    llvm::copy_if(loopsAround, std::back_inserter(bounds[stage].instances),
                  [](const Axis *loop) { return loop->bind || loop->parallel; });
  return success();
}

/// Whether something relies on the extent that a split gave a loop: threads, vectors, and the tiles that an intrinsic
/// or TMA has of any stage in the nest.
bool BoundInference::keepsExtent(const Axis *axis) {
  const AxisBounds &made = bounds[axis];
  if (made.outer)
    return keepsExtent(made.outer) || keepsExtent(made.inner);
  if (made.fused)
    return keepsExtent(made.fused);
  return axis->bind || axis->vectorize || made.isDistributed || llvm::any_of(model.stages, [&](auto &other) {
           return (other->tensorizeAt || other->copiedBy) && &other->root() == &axis->stage->root();
         });
}

LogicalResult BoundInference::inferExtents(const ScheduledStage &stage) {
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, function.getContext()); };
  SmallVector<const Axis *> own = bounds.getAxes(stage);
  for (const Axis *axis : own) {
    if (axis->origin == Axis::Origin::Fuse) {
      bounds[axis].extent = bounds[axis->parts[0]].extent;
      for (const Axis *part : ArrayRef(axis->parts).drop_front())
        bounds[axis].extent = simplify(bounds[axis].extent * bounds[part].extent);
    }
    // As in TVM a split of fewer iterations than it is to make keeps these.
    auto given = [&](const Axis *part, int64_t number) {
      auto whole = dyn_cast<AffineConstantExpr>(bounds[axis].extent);
      bool isLess = whole && whole.getValue() > 0 && whole.getValue() < number;
      return constant(isLess && !keepsExtent(part) ? whole.getValue() : number);
    };
    AxisBounds &made = bounds[axis];
    if (made.outer && axis->given) {
      const Axis *said = axis->factorName.empty() ? made.outer : made.inner;
      const Axis *rest = axis->factorName.empty() ? made.inner : made.outer;
      bounds[said].extent = axis->given;
      bounds[rest].extent = simplify(made.extent.ceilDiv(axis->given));
    } else if (made.outer && made.factor) {
      bounds[made.inner].extent = given(made.inner, made.factor);
      bounds[made.outer].extent = simplify(made.extent.ceilDiv(made.factor));
    } else if (made.outer) {
      bounds[made.outer].extent = given(made.outer, axis->nparts);
      bounds[made.inner].extent = simplify(made.extent.ceilDiv(axis->nparts));
    }
    if (!made.isLoop())
      continue;
    bounds.number(axis);
    if (axis->unroll && !isa<AffineConstantExpr>(bounds[axis].extent))
      return emitError(axis->loc) << "unroll: expected axis '" << axis->name
                                  << "' of constant extent, got one that is symbolic";
    if (axis->bindExtent && bounds[axis].extent != constant(*axis->bindExtent)) {
      InFlightDiagnostic diag = emitError(axis->loc) << "bind: expected axis '" << axis->name << "' of extent "
                                                     << *axis->bindExtent << ", as the thread axis says, got ";
      if (auto extent = dyn_cast<AffineConstantExpr>(bounds[axis].extent))
        return diag << extent.getValue();
      return diag << "a symbolic extent";
    }
  }
  for (const Axis *axis : llvm::reverse(own)) {
    AxisBounds &made = bounds[axis];
    if (made.isLoop()) {
      auto extent = dyn_cast<AffineConstantExpr>(made.extent);
      made.index = extent && extent.getValue() == 1 ? constant(0) : getAffineDimExpr(made.dim, function.getContext());
    } else if (made.outer) {
      made.index = simplify(bounds[made.outer].index * bounds[made.inner].extent + bounds[made.inner].index);
    } else {
      AffineExpr index = bounds[made.fused].index;
      // From the fastest part to the slowest.
      for (const Axis *part : llvm::reverse(made.fused->parts)) {
        bool first = part == made.fused->parts.front();
        bounds[part].index = simplify(first ? index : index % bounds[part].extent);
        index = simplify(index.floorDiv(bounds[part].extent));
      }
    }
  }
  return success();
}

BoundInference::BoundInference(const StageModel &model, bool onProcessor)
    : bounds(model), model(model), function(model.function), onProcessor(onProcessor) {
  for (auto &axis : model.axes) {
    AxisBounds &made = bounds[axis.get()];
    made.extent = axis->wholeExtent;
    made.outer = axis->outer;
    made.inner = axis->inner;
    made.fused = axis->fused;
    made.factor = axis->factor;
  }
  for (auto &stage : model.stages) {
    bounds[*stage].loops.assign(stage->loops.begin(), stage->loops.end());
    // A processor has one memory: what is computed at a loop is the loop's own.
    bool isLoopsOwn = onProcessor && stage->attachStage && !stage->follows && stage->followers.empty();
    if (!isLoopsOwn || stage->scope != schedule::Scope::Global)
      bounds[*stage].scope = stage->scope;
  }
}

LogicalResult BoundInference::run() {
  // What a stage computes follows from its readers, of a follower from what it follows.
  SmallVector<const ScheduledStage *> waiting;
  for (auto &stage : llvm::reverse(model.stages))
    waiting.push_back(stage.get());
  auto isReady = [&](const ScheduledStage *stage) {
    if (stage->isUpdate)
      return !llvm::is_contained(waiting, stage->scan);
    if (stage->follows)
      return !llvm::is_contained(waiting, stage->attachStage);
    return !stage->attachStage || llvm::none_of(waiting, [&](const ScheduledStage *other) {
      return other != stage &&
             llvm::any_of(getReads(*other), [&](Access &access) { return model.getProducer(access.tensor) == stage; });
    });
  };
  while (!waiting.empty()) {
    auto next = llvm::find_if(waiting, isReady);
    assert(next != waiting.end() && "verifyPlaces has excluded stages that wait for each other");
    const ScheduledStage &stage = **next;
    if (failed(inferDomain(stage)))
      return failure();
    distributeAmongThreads(stage);
    if (failed(inferExtents(stage)))
      return failure();
    if (failed(placeBuffer(stage)) || (stage.layout.rollingLoc && failed(roll(stage))))
      return failure();
    waiting.erase(next);
  }
  if (failed(verifySteps()))
    return failure();
  return verifyMarks();
}

FailureOr<LoopBounds> inferBounds(const StageModel &model, bool onProcessor) {
  BoundInference inference(model, onProcessor);
  if (failed(inference.run()))
    return failure();
  return std::move(inference.bounds);
}
} // namespace tilewright
