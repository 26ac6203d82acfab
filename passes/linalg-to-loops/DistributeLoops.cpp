//===- DistributeLoops.cpp - buffers that all threads of a block fill -----===//
#include "passes/linalg-to-loops/BoundInference.h"

using namespace mlir;

namespace tilewright {

unsigned getWarpRow(schedule::ThreadTag tag) {
  return tag == schedule::ThreadTag::ThreadIdxY ? 2 : tag == schedule::ThreadTag::ThreadIdxZ ? 4 : 0;
}

void BoundInference::replaceLoops(const ScheduledStage &stage, ArrayRef<const Axis *> old,
                                  ArrayRef<const Axis *> made) {
  auto &loops = bounds[stage].loops;
  size_t position = llvm::find(loops, old[0]) - loops.begin();
  llvm::erase_if(loops, [&](const Axis *axis) { return llvm::is_contained(old, axis); });
  loops.insert(loops.begin() + position, made.begin(), made.end());
}

Axis *BoundInference::createAxis(std::string name, const Axis *from, Location loc) {
  bounds.distributed.push_back(std::make_unique<Axis>(std::move(name), *from, loc));
  return bounds.distributed.back().get();
}

const Axis *BoundInference::fuse(ArrayRef<const Axis *> parts, Location loc) {
  std::string name;
  for (const Axis *part : parts)
    name += part->name + ".";
  Axis *fused = createAxis(name + "fused", parts[0], loc);
  fused->origin = Axis::Origin::Fuse;
  fused->parts.assign(parts.begin(), parts.end());
  for (const Axis *part : parts) {
    bounds[part].fused = fused;
    fused->parallel |= part->parallel;
  }
  replaceLoops(*fused->stage, parts, fused);
  return fused;
}

const Axis *BoundInference::split(const Axis *axis, int64_t factor, schedule::ThreadTag tag, Location loc) {
  Axis *outer = createAxis(axis->name + ".outer", axis, loc), *inner = createAxis(axis->name + ".inner", axis, loc);
  outer->origin = inner->origin = Axis::Origin::Split;
  outer->parallel = axis->parallel;
  inner->bind = tag;
  AxisBounds &made = bounds[axis];
  made.outer = outer;
  made.inner = inner;
  made.factor = factor;
  replaceLoops(*axis->stage, axis, {outer, inner});
  return outer;
}

/// A buffer of a block, in shared memory or in a part of global memory, that the schedule leaves to no thread is filled
/// by all of them together: its outer loops become one, split over the threads of the block.
void BoundInference::distributeAmongThreads(const ScheduledStage &stage) {
  // An engine copies the tile as a whole.
  bool isInGlobal =
      stage.attachStage && !stage.follows && bounds[stage].scope == schedule::Scope::Global &&
      llvm::none_of(bounds.getLoopsAround(stage), [](const Axis *loop) { return loop->bind && isThread(*loop->bind); });
  if ((bounds[stage].scope != schedule::Scope::Shared && !isInGlobal) || stage.copiedBy ||
      llvm::any_of(bounds[stage].loops, [](const Axis *loop) { return loop->bind; }))
    return;
  // What is computed within it takes all threads for one of its elements.
  auto takesThreads = [&](const ScheduledStage &other) {
    return &other != &stage &&
           (bounds[other].scope == schedule::Scope::Shared ||
            llvm::any_of(bounds[other].loops, [](const Axis *loop) { return loop->bind && isThread(*loop->bind); }));
  };
  for (auto &other : model.stages)
    if (takesThreads(*other))
      for (const ScheduledStage *outer = other->attachStage; outer; outer = outer->attachStage)
        if (outer == &stage)
          return;
  SmallVector<const Axis *> shared;
  for (const Axis *loop : bounds[stage].loops) {
    bool holds = llvm::any_of(stage.attached, [&](const ScheduledStage *other) { return other->attachAxis == loop; });
    // The step of a scan.
    if (stage.scan && !holds && bounds[loop].extent == getAffineConstantExpr(1, function.getContext()))
      continue;
    if (loop->isReduce || loop->vectorize || loop->unroll || holds)
      break;
    shared.push_back(loop);
  }
  SmallVector<std::pair<schedule::ThreadTag, int64_t>> threads;
  for (auto tag : {schedule::ThreadTag::ThreadIdxX, schedule::ThreadTag::ThreadIdxY, schedule::ThreadTag::ThreadIdxZ})
    for (auto &other : model.stages)
      if (&other->root() == &stage.root())
        for (const Axis *loop : bounds[*other].loops)
          if (auto extent = dyn_cast_or_null<AffineConstantExpr>(bounds[loop].extent);
              extent && loop->bind == tag && extent.getValue() > 1 && !(bounds[stage].warpRows & getWarpRow(tag)) &&
              (threads.empty() || threads.back().first != tag))
            threads.push_back({tag, extent.getValue()});
  for (auto [tag, extent, at] : stage.root().envThreads)
    if (isThread(tag) && extent > 1 && !(bounds[stage].warpRows & getWarpRow(tag)) &&
        llvm::none_of(threads, [&, tag = tag](auto &known) { return known.first == tag; }))
      threads.push_back({tag, extent});
  if (shared.empty() || threads.empty())
    return;
  Location loc = stage.attachLoc.value_or(stage.getLoc());
  for (const Axis *loop : shared)
    bounds[loop].isDistributed = true;
  const Axis *rest = shared.size() == 1 ? shared[0] : fuse(shared, loc);
  for (auto [tag, extent] : threads)
    rest = split(rest, extent, tag, loc);
}
} // namespace tilewright
