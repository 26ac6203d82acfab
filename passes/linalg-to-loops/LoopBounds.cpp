//===- LoopBounds.cpp - what is known of stages once bounds are inferred --===//
#include "passes/linalg-to-loops/LoopBounds.h"

using namespace mlir;

namespace tilewright {

void LoopBounds::number(const Axis *loop) {
  axes[loop].dim = loops.size();
  loops.push_back(loop);
}

SmallVector<const Axis *> LoopBounds::getAxes(const ScheduledStage &stage) const {
  SmallVector<const Axis *> own;
  for (auto &axis : llvm::concat<const Owned<Axis>>(model->axes, distributed))
    if (axis->stage == &stage)
      own.push_back(axis.get());
  return own;
}

SmallVector<const Axis *> LoopBounds::getLoopsAround(const ScheduledStage &stage) const {
  if (!stage.attachStage)
    return {};
  SmallVector<const Axis *> around = getLoopsAround(*stage.attachStage);
  for (const Axis *loop : (*this)[*stage.attachStage].loops) {
    around.push_back(loop);
    if (loop == stage.attachAxis)
      break;
  }
  return around;
}

SmallVector<const Axis *> LoopBounds::getLoopsOn(const ScheduledStage &root, schedule::ThreadTag thread) const {
  SmallVector<const Axis *> bound;
  for (auto &stage : model->stages)
    if (&stage->root() == &root)
      for (const Axis *loop : (*this)[*stage].loops)
        if (loop->bind == thread)
          bound.push_back(loop);
  return bound;
}

std::string LoopBounds::whyNoLoop(const Axis *axis) const {
  if ((*this)[axis].isDistributed)
    return "the threads of the block share, as stage '" + axis->stage->name +
           "' binds none of its loops to them: bind those that they are to share";
  return std::string("was ") + (axis->fused ? "fused" : "split") + " afterwards";
}

bool LoopBounds::isFilledAhead(const ScheduledStage &stage) const {
  return stage.attachAxis && stage.attachAxis->pipelineDepth && !stage.follows &&
         (*this)[stage].scope == schedule::Scope::Shared;
}

//===----------------------------------------------------------------------===//
// What accesses need
//===----------------------------------------------------------------------===//

AffineExpr LoopBounds::overLoops(const ScheduledStage &reader, AffineExpr expr) const {
  SmallVector<AffineExpr> values;
  for (auto [i, root] : llvm::enumerate(reader.roots))
    values.push_back(i < reader.numSpatial ? (*this)[reader].mins[i] + (*this)[root].index : (*this)[root].index);
  return simplify(expr.replaceDims(values));
}

std::optional<Interval> LoopBounds::getRegion(llvm::function_ref<bool(const ScheduledStage &, const Access &)> isOf,
                                              unsigned dimension, llvm::function_ref<bool(unsigned)> runs,
                                              const ScheduledStage *inSteps) const {
  auto extent = [&](unsigned dim) { return getExtent(dim); };
  // In the steps of a scan no more is computed than is read, but by what stands in loops of its reader.
  auto isExact = [&](const ScheduledStage &reader) {
    const ScheduledStage *around = inSteps;
    while (around && around != &reader)
      around = around->attachStage;
    return inSteps && !around;
  };
  std::optional<Interval> region;
  for (auto &reader : model->stages)
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
      region =
          Interval{simplify(region->min + shift), getAffineConstantExpr(last - shift, model->function.getContext())};
    }
  return region;
}

std::optional<Interval> LoopBounds::getIntervalOfAxes(const ScheduledStage &reader, AffineExpr expr,
                                                      llvm::function_ref<bool(unsigned)> runs) const {
  SmallVector<AffineExpr> values;
  for (unsigned i = 0; i < reader.roots.size(); ++i) {
    AffineExpr value = getAffineDimExpr(loops.size() + i, model->function.getContext());
    values.push_back(i < reader.numSpatial ? (*this)[reader].mins[i] + value : value);
  }
  auto extent = [&](unsigned dim) {
    return dim < loops.size() ? getExtent(dim) : (*this)[reader.roots[dim - loops.size()]].extent;
  };
  auto runsOrIsAxis = [&](unsigned dim) { return dim >= loops.size() || runs(dim); };
  return getInterval(simplify(expr.replaceDims(values)), runsOrIsAxis, extent);
}
} // namespace tilewright
