//===- InferBounds.cpp - which part of each stage is computed, and by which loops ===//
//
// From the last stage to the first: a stage at the root is computed whole; one that is attached to a loop of its
// consumer computes what its readers need while the loops around it stand still. Threads share a shared buffer, so for
// it the thread loops run too.
//
//===----------------------------------------------------------------------===//
#include "passes/linalg-to-loops/StageModel.h"

using namespace mlir;

namespace tilewright {

static bool isThread(schedule::ThreadTag tag) { return tag >= schedule::ThreadTag::ThreadIdxX; }

SmallVector<Axis *> StageModel::getLoopsAround(ScheduledStage &stage) {
  if (!stage.attachStage)
    return {};
  SmallVector<Axis *> around = getLoopsAround(*stage.attachStage);
  for (Axis *loop : stage.attachStage->loops) {
    around.push_back(loop);
    if (loop == stage.attachAxis)
      break;
  }
  return around;
}

AffineExpr overLoops(ScheduledStage &reader, AffineExpr expr) {
  SmallVector<AffineExpr> values;
  for (auto [i, root] : llvm::enumerate(reader.roots))
    values.push_back(i < reader.numSpatial ? reader.mins[i] + root->index : root->index);
  return simplify(expr.replaceDims(values));
}

/// The bit of threadIdx.y or threadIdx.z, along which other warps lie; 0 of any other index.
static unsigned getWarpRow(schedule::ThreadTag tag) {
  return tag == schedule::ThreadTag::ThreadIdxY ? 2 : tag == schedule::ThreadTag::ThreadIdxZ ? 4 : 0;
}

std::optional<Interval> StageModel::getRegion(ScheduledStage &stage, unsigned dimension,
                                              const DenseSet<Axis *> &around) {
  return getRegion([&](ScheduledStage &, Access &access) { return getProducer(access.tensor) == &stage; }, dimension,
                   [&](unsigned dim) {
                     Axis *loop = dims[dim];
                     return !around.contains(loop) ||
                            (stage.scope == schedule::Scope::Shared && loop->bind && isThread(*loop->bind) &&
                             !(stage.warpRows & getWarpRow(*loop->bind)));
                   },
                   stage.scan ? &stage : nullptr);
}

std::optional<Interval> StageModel::getRegion(llvm::function_ref<bool(ScheduledStage &, Access &)> isOf,
                                              unsigned dimension, llvm::function_ref<bool(unsigned)> runs,
                                              ScheduledStage *inSteps) {
  auto extent = [&](unsigned dim) { return dims[dim]->extent; };
  // In the steps of a scan no more is computed than is read, but by what stands in loops of its reader.
  auto isExact = [&](ScheduledStage &reader) {
    ScheduledStage *around = inSteps;
    while (around && around != &reader)
      around = around->attachStage;
    return inSteps && !around;
  };
  std::optional<Interval> region;
  for (auto &reader : stages)
    for (Access &access : getReads(*reader)) {
      if (!isOf(*reader, access))
        continue;
      if (!access.indices[dimension])
        return std::nullopt;
      AffineExpr index = access.indices[dimension];
      auto needed = isExact(*reader) ? getIntervalOfAxes(*reader, index, runs)
                                     : getInterval(overLoops(*reader, index), runs, extent);
      if (!needed)
        return std::nullopt;
      if (!region) {
        region = needed;
        continue;
      }
      // The union is known where the one starts a constant after the other.
      auto distance = dyn_cast<AffineConstantExpr>(simplify(needed->min - region->min));
      auto a = dyn_cast<AffineConstantExpr>(region->width), b = dyn_cast<AffineConstantExpr>(needed->width);
      if (!distance || !a || !b)
        return std::nullopt;
      int64_t shift = std::min<int64_t>(distance.getValue(), 0);
      int64_t last = std::max(a.getValue(), distance.getValue() + b.getValue());
      region = Interval{simplify(region->min + shift), getAffineConstantExpr(last - shift, function.getContext())};
    }
  return region;
}

std::optional<Interval> StageModel::getIntervalOfAxes(ScheduledStage &reader, AffineExpr expr,
                                                      llvm::function_ref<bool(unsigned)> runs) {
  SmallVector<AffineExpr> values;
  for (unsigned i = 0; i < reader.roots.size(); ++i) {
    AffineExpr value = getAffineDimExpr(dims.size() + i, function.getContext());
    values.push_back(i < reader.numSpatial ? reader.mins[i] + value : value);
  }
  auto extent = [&](unsigned dim) {
    return dim < dims.size() ? dims[dim]->extent : reader.roots[dim - dims.size()]->extent;
  };
  auto runsOrIsAxis = [&](unsigned dim) { return dim >= dims.size() || runs(dim); };
  return getInterval(simplify(expr.replaceDims(values)), runsOrIsAxis, extent);
}

/// A stage in a loop of another is computed where its buffer is: by the threads that share it.
static LogicalResult verifyBinds(ScheduledStage &stage) {
  for (Axis *loop : stage.loops) {
    if (loop->bind && (stage.warpRows & getWarpRow(*loop->bind)))
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
                                  << schedule::stringifyScope(*stage.scope) << " memory, got '" << loop->name << "' on "
                                  << schedule::stringifyThreadTag(*loop->bind);
  }
  return success();
}

LogicalResult StageModel::inferDomain(ScheduledStage &stage) {
  AffineExpr zero = getAffineConstantExpr(0, function.getContext());
  stage.mins.assign(stage.numSpatial, zero);
  for (Axis *root : ArrayRef(stage.roots).take_front(stage.numSpatial))
    stage.wholeExtents.push_back(root->extent);
  if (stage.follows)
    return inferFollowerDomain(stage);
  if (stage.isUpdate)
    return inferUpdateDomain(stage);
  SmallVector<Axis *> loopsAround = getLoopsAround(stage);
  bool isSaid = stage.scope.has_value();
  // A stage that others follow has its scope with its buffer.
  if (!stage.scope && stage.followers.empty()) {
    auto inside = [&](bool thread) {
      return llvm::any_of(loopsAround, [&](Axis *loop) { return loop->bind && isThread(*loop->bind) == thread; });
    };
    // The threads of a block have the steps of a scan in common where they are bound inside of it.
    bool inSteps = stage.scan && llvm::any_of(stages, [&](auto &other) {
                     return &other->root() == &stage.root() &&
                            llvm::any_of(other->loops, [](Axis *loop) { return loop->bind && isThread(*loop->bind); });
                   });
    stage.scope = !stage.attachStage         ? schedule::Scope::Global
                  : inside(true)             ? schedule::Scope::Local
                  : inside(false) || inSteps ? schedule::Scope::Shared
                                             : schedule::Scope::Local;
  }
  if (!stage.attachStage)
    return success();
  for (Axis *loop : loopsAround)
    if (stage.isWarp && loop->bind)
      stage.warpRows |= getWarpRow(*loop->bind);
  if (!stage.follows && failed(verifyBinds(stage)))
    return failure();
  DenseSet<Axis *> around(loopsAround.begin(), loopsAround.end());
  for (unsigned d = 0; d < stage.numSpatial; ++d) {
    AffineExpr &extent = stage.roots[d]->extent;
    auto whole = dyn_cast<AffineConstantExpr>(extent);
    if (auto region = getRegion(stage, d, around)) {
      auto width = dyn_cast<AffineConstantExpr>(region->width);
      // The row of a step, even where there is one alone.
      if (Axis *ordered = stage.scan ? stage.scan->getOrdered() : nullptr;
          width && ordered && region->min.isFunctionOfDim(ordered->dim)) {
        stage.mins[d] = region->min;
        extent = getAffineConstantExpr(width.getValue() + 1, function.getContext());
        continue;
      }
      if (width && (!whole || width.getValue() + 1 < whole.getValue())) {
        stage.mins[d] = region->min;
        extent = getAffineConstantExpr(width.getValue() + 1, function.getContext());
        continue;
      }
    }
    if (!whole && (!isSaid || stage.scope == schedule::Scope::Global)) {
      // Only global memory has room for as many as a call says.
      stage.scope = schedule::Scope::Global;
      if (auto region = getRegion(stage, d, around); region && region->width.isSymbolicOrConstant()) {
        stage.mins[d] = region->min;
        extent = simplify(region->width + 1);
      }
    } else if (!whole) {
      return emitError(*stage.attachLoc)
             << "stage '" << stage.name << "' in " << schedule::stringifyScope(*stage.scope)
             << " memory: expected axis '" << stage.roots[d]->name
             << "' to need a constant number of elements here, got one that depends on a symbolic extent";
    }
  }
  if (stage.scope == schedule::Scope::Global)
    llvm::copy_if(loopsAround, std::back_inserter(stage.instances),
                  [](Axis *loop) { return loop->bind || loop->parallel; });
  return success();
}

/// A buffer of a block, in shared memory or in a part of global memory, that the schedule leaves to no thread is filled
/// by all of them together: its outer loops become one, split over the threads of the block.
void StageModel::shareAmongThreads(ScheduledStage &stage) {
  // An engine copies the tile as a whole.
  bool isInGlobal =
      stage.attachStage && !stage.follows && stage.scope == schedule::Scope::Global &&
      llvm::none_of(getLoopsAround(stage), [](Axis *loop) { return loop->bind && isThread(*loop->bind); });
  if ((stage.scope != schedule::Scope::Shared && !isInGlobal) || stage.copiedBy ||
      llvm::any_of(stage.loops, [](Axis *loop) { return loop->bind; }))
    return;
  // What is computed within it takes all threads for one of its elements.
  auto takesThreads = [&](ScheduledStage &other) {
    return &other != &stage && (other.scope == schedule::Scope::Shared || llvm::any_of(other.loops, [](Axis *loop) {
                                  return loop->bind && isThread(*loop->bind);
                                }));
  };
  for (auto &other : stages)
    if (takesThreads(*other))
      for (ScheduledStage *outer = other->attachStage; outer; outer = outer->attachStage)
        if (outer == &stage)
          return;
  SmallVector<Axis *> shared;
  for (Axis *loop : stage.loops) {
    bool holds = llvm::any_of(stage.attached, [&](ScheduledStage *other) { return other->attachAxis == loop; });
    // The step of a scan.
    if (stage.scan && !holds && loop->extent == getAffineConstantExpr(1, function.getContext()))
      continue;
    if (loop->isReduce || loop->vectorize || loop->unroll || holds)
      break;
    shared.push_back(loop);
  }
  SmallVector<std::pair<schedule::ThreadTag, int64_t>> threads;
  for (auto tag : {schedule::ThreadTag::ThreadIdxX, schedule::ThreadTag::ThreadIdxY, schedule::ThreadTag::ThreadIdxZ})
    for (auto &other : stages)
      if (&other->root() == &stage.root())
        for (Axis *loop : other->loops)
          if (auto extent = dyn_cast_or_null<AffineConstantExpr>(loop->extent);
              extent && loop->bind == tag && extent.getValue() > 1 && !(stage.warpRows & getWarpRow(tag)) &&
              (threads.empty() || threads.back().first != tag))
            threads.push_back({tag, extent.getValue()});
  for (auto [tag, extent, at] : stage.root().envThreads)
    if (isThread(tag) && extent > 1 && !(stage.warpRows & getWarpRow(tag)) &&
        llvm::none_of(threads, [&, tag = tag](auto &known) { return known.first == tag; }))
      threads.push_back({tag, extent});
  if (shared.empty() || threads.empty())
    return;
  Location loc = stage.attachLoc.value_or(stage.getLoc());
  for (Axis *loop : shared)
    loop->isSharedOut = true;
  Axis *rest = shared.size() == 1 ? shared[0] : fuse(shared, loc);
  for (auto [tag, extent] : threads) {
    auto [outer, inner] = split(rest, extent, 0, loc);
    inner->bind = tag;
    rest = outer;
  }
}

/// Whether something relies on the extent that a split gave a loop: threads, vectors, and the tiles that an intrinsic
/// or the copy engine has of any stage in the nest.
bool StageModel::keepsExtent(Axis *axis) {
  if (axis->outer)
    return keepsExtent(axis->outer) || keepsExtent(axis->inner);
  if (axis->fused)
    return keepsExtent(axis->fused);
  return axis->bind || axis->vectorize || axis->isSharedOut || llvm::any_of(stages, [&](auto &other) {
           return (other->tensorizeAt || other->copiedBy) && &other->root() == &axis->stage->root();
         });
}

LogicalResult StageModel::inferExtents(ScheduledStage &stage) {
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, function.getContext()); };
  SmallVector<Axis *> own;
  for (auto &axis : axes)
    if (axis->stage == &stage)
      own.push_back(axis.get());
  for (Axis *axis : own) {
    if (axis->origin == Axis::Origin::Fuse) {
      axis->extent = axis->parts[0]->extent;
      for (Axis *part : ArrayRef(axis->parts).drop_front())
        axis->extent = simplify(axis->extent * part->extent);
    }
    // As in TVM a split of fewer iterations than it is to make keeps these.
    auto given = [&](Axis *part, int64_t number) {
      auto whole = dyn_cast<AffineConstantExpr>(axis->extent);
      bool isLess = whole && whole.getValue() > 0 && whole.getValue() < number;
      return constant(isLess && !keepsExtent(part) ? whole.getValue() : number);
    };
    if (axis->outer && axis->given) {
      Axis &said = axis->factorName.empty() ? *axis->outer : *axis->inner;
      Axis &rest = axis->factorName.empty() ? *axis->inner : *axis->outer;
      said.extent = axis->given;
      rest.extent = simplify(axis->extent.ceilDiv(axis->given));
    } else if (axis->outer && axis->factor) {
      axis->inner->extent = given(axis->inner, axis->factor);
      axis->outer->extent = simplify(axis->extent.ceilDiv(axis->factor));
    } else if (axis->outer) {
      axis->outer->extent = given(axis->outer, axis->nparts);
      axis->inner->extent = simplify(axis->extent.ceilDiv(axis->nparts));
    }
    if (!axis->isLoop())
      continue;
    axis->dim = dims.size();
    dims.push_back(axis);
    if (axis->unroll && !isa<AffineConstantExpr>(axis->extent))
      return emitError(axis->loc) << "unroll: expected axis '" << axis->name
                                  << "' of constant extent, got one that is symbolic";
    if (axis->bindExtent && axis->extent != constant(*axis->bindExtent)) {
      InFlightDiagnostic diag = emitError(axis->loc) << "bind: expected axis '" << axis->name << "' of extent "
                                                     << *axis->bindExtent << ", as the thread axis says, got ";
      if (auto extent = dyn_cast<AffineConstantExpr>(axis->extent))
        return diag << extent.getValue();
      return diag << "a symbolic extent";
    }
  }
  for (Axis *axis : llvm::reverse(own)) {
    if (axis->isLoop()) {
      auto extent = dyn_cast<AffineConstantExpr>(axis->extent);
      axis->index = extent && extent.getValue() == 1 ? constant(0) : getAffineDimExpr(axis->dim, function.getContext());
    } else if (axis->outer) {
      axis->index = simplify(axis->outer->index * axis->inner->extent + axis->inner->index);
    } else {
      AffineExpr index = axis->fused->index;
      // From the fastest part to the slowest.
      for (Axis *part : llvm::reverse(axis->fused->parts)) {
        bool first = part == axis->fused->parts.front();
        part->index = simplify(first ? index : index % part->extent);
        index = simplify(index.floorDiv(part->extent));
      }
    }
  }
  return success();
}

LogicalResult StageModel::inferBounds() {
  // What a stage computes follows from its readers, of a follower from what it follows.
  SmallVector<ScheduledStage *> waiting;
  for (auto &stage : llvm::reverse(stages))
    waiting.push_back(stage.get());
  auto isReady = [&](ScheduledStage *stage) {
    if (stage->isUpdate)
      return !llvm::is_contained(waiting, stage->scan);
    if (stage->follows)
      return !llvm::is_contained(waiting, stage->attachStage);
    return !stage->attachStage || llvm::none_of(waiting, [&](ScheduledStage *other) {
      return other != stage &&
             llvm::any_of(getReads(*other), [&](Access &access) { return getProducer(access.tensor) == stage; });
    });
  };
  while (!waiting.empty()) {
    auto next = llvm::find_if(waiting, isReady);
    assert(next != waiting.end() && "verifyPlaces has excluded stages that wait for each other");
    ScheduledStage &stage = **next;
    if (failed(inferDomain(stage)))
      return failure();
    shareAmongThreads(stage);
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
} // namespace tilewright
