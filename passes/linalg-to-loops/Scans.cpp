//===- Scans.cpp - stages in the steps of a scan --------------------------===//
//
// A stage that reads what the steps of a scan hand on is computed once a step, and so are the updates of the scan: all
// at the loop that gives the order, which is the first update's. The other updates write whole tensors, as the first
// does. Blocks and threads around that loop go through the steps each at its own pace, so they may hand on nothing to
// each other.
//
//===----------------------------------------------------------------------===//
#include "passes/linalg-to-loops/BoundInference.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace tilewright {

bool hasScanOfStages(func::FuncOp function) {
  if (!function.getOps<te::StateOp>().empty())
    return true;
  for (auto op : function.getOps<linalg::GenericOp>()) {
    if (!op->hasAttr(te::kScanAttr))
      continue;
    for (Value init : op.getDpsInits())
      for (Operation *user : init.getUsers())
        if (Operation *other = function.getBody().front().findAncestorOpInBlock(*user);
            other != op.getOperation() && isa_and_nonnull<linalg::GenericOp>(other))
          return true;
  }
  return false;
}

/// Whether a scan reads its own tensors at the place that it computes alone, steps before.
static bool isAtOwnPlace(const Access &access) {
  for (auto [i, index] : llvm::enumerate(ArrayRef(access.indices).drop_front()))
    if (auto dim = dyn_cast_or_null<AffineDimExpr>(index); !dim || dim.getPosition() != i + 1)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Where the stages are
//===----------------------------------------------------------------------===//

LogicalResult StageModel::placeScans() {
  // The scans whose tensors a stage reads as steps hand them on, itself or by way of others. Producers come first.
  DenseMap<ScheduledStage *, llvm::SmallSetVector<ScheduledStage *, 2>> needs;
  llvm::EquivalenceClasses<ScheduledStage *> together;
  SmallVector<ScheduledStage *> scans;
  bool hasSteps = false;
  for (auto &stage : stages) {
    auto &own = needs[stage.get()];
    bool isScan = stage->getOrdered();
    for (Access &access : getReads(*stage)) {
      if (ScheduledStage *scan = getScanInto(access.tensor)) {
        own.insert(scan);
        hasSteps |= scan != stage.get() || !isAtOwnPlace(access);
      } else if (ScheduledStage *producer = getProducer(access.tensor); producer && !producer->getOrdered()) {
        auto theirs = needs.lookup(producer);
        own.insert(theirs.begin(), theirs.end());
      }
    }
    if (!isScan)
      continue;
    scans.push_back(stage.get());
    together.insert(stage.get());
    for (ScheduledStage *scan : own)
      together.unionSets(stage.get(), scan);
  }
  if (!hasSteps)
    return success();
  for (ScheduledStage *first : scans) {
    SmallVector<ScheduledStage *> updates, inner;
    for (ScheduledStage *scan : scans)
      if (together.isEquivalent(first, scan))
        updates.push_back(scan);
    if (updates.front() != first)
      continue;
    bool isAlone = updates.size() == 1 && llvm::all_of(getReads(*first), [&](Access &access) {
                     return getScanInto(access.tensor) != first || isAtOwnPlace(access);
                   });
    for (auto &stage : stages)
      if (!stage->getOrdered() &&
          llvm::any_of(needs[stage.get()], [&](auto *scan) { return together.isEquivalent(first, scan); }))
        inner.push_back(stage.get());
    if (isAlone && inner.empty())
      continue;
    if (failed(placeScan(updates, inner)))
      return failure();
  }
  return success();
}

LogicalResult StageModel::placeScan(ArrayRef<ScheduledStage *> updates, ArrayRef<ScheduledStage *> inner) {
  ScheduledStage &scan = *updates[0];
  Axis *ordered = scan.getOrdered();
  scan.hasSteps = true;
  for (ScheduledStage *update : updates) {
    if (update->follows)
      return emitError(*update->attachLoc)
             << "reverse_compute_at: expected a stage of which a part can be computed, got the scan '" << update->name
             << "', whose steps have other stages in them";
    if (update->op.getNumDpsInits() != 1)
      return emitError(update->getLoc()) << "scan '" << update->name
                                         << "': expected one result, as other stages are in its steps, got "
                                         << update->op.getNumDpsInits();
    if (update == &scan)
      continue;
    if (update->roots[0]->wholeExtent != ordered->wholeExtent)
      return emitError(update->getLoc()) << "scan '" << update->name << "': expected as many steps as '" << scan.name
                                         << "' has, for they are computed together, got another number";
    update->scan = update->attachStage = &scan;
    update->attachAxis = ordered;
    update->attachLoc = update->getLoc();
    update->isUpdate = true;
    scan.updates.push_back(update);
    for (Axis *loop : update->loops)
      if (loop->bind && *loop->bind < schedule::ThreadTag::ThreadIdxX)
        return emitError(loop->loc)
               << "bind: expected block indices to be bound to axes of '" << scan.name
               << "', the first of the updates of a scan, from which the others have theirs, got axis '" << loop->name
               << "' of '" << update->name << "' on " << schedule::stringifyThreadTag(*loop->bind);
  }
  for (ScheduledStage *stage : inner) {
    stage->scan = &scan;
    if (stage->externOp)
      return emitError(stage->getLoc()) << "expected stages of te.compute in the steps of scan '" << scan.name
                                        << "', got te.extern '" << stage->name << "'";
    if (stage->follows)
      return emitError(*stage->attachLoc)
             << "reverse_compute_at: expected a stage that is in the steps of no scan, got stage '" << stage->name
             << "' in those of '" << scan.name << "'";
    if (stage->attachStage)
      continue;
    stage->attachStage = &scan;
    stage->attachAxis = ordered;
    stage->attachLoc = stage->getLoc();
  }
  // Each block goes through all steps, wherever the loop stands that is bound to it.
  auto isBlock = [](Axis *loop) { return loop->bind && *loop->bind < schedule::ThreadTag::ThreadIdxX; };
  std::stable_partition(llvm::find(scan.loops, ordered), scan.loops.end(), isBlock);
  SmallVector<ScheduledStage *> members(updates);
  llvm::append_range(members, inner);
  return orderBefore(scan, members);
}

LogicalResult StageModel::orderBefore(ScheduledStage &scan, ArrayRef<ScheduledStage *> members) {
  llvm::SmallSetVector<ScheduledStage *, 8> needed;
  auto need = [&](ScheduledStage *reader) {
    for (Access &access : getReads(*reader))
      if (ScheduledStage *producer = getProducer(access.tensor); producer && !llvm::is_contained(members, producer))
        needed.insert(producer);
  };
  llvm::for_each(members, need);
  for (unsigned i = 0; i < needed.size(); ++i) {
    for (Access &access : getReads(*needed[i]))
      if (ScheduledStage *producer = getProducer(access.tensor); producer && llvm::is_contained(members, producer))
        return emitError(needed[i]->getLoc())
               << "stage '" << needed[i]->name << "': expected what the steps of scan '" << scan.name
               << "' read to be there before the scan, got a stage that reads its stage '" << producer->name << "'";
    need(needed[i]);
  }
  auto begin = llvm::find_if(stages, [&](auto &stage) { return stage.get() == &scan; });
  std::stable_partition(begin, stages.end(), [&](auto &stage) { return needed.contains(stage.get()); });
  return success();
}

LogicalResult StageModel::verifyInStep(ScheduledStage &stage) {
  ScheduledStage &scan = *stage.scan;
  ScheduledStage *at = &stage;
  while (at->attachStage && at->attachStage != &scan)
    at = at->attachStage;
  auto position = [&](Axis *loop) { return llvm::find(scan.loops, loop) - scan.loops.begin(); };
  if (!at->attachStage || position(at->attachAxis) < position(scan.getOrdered()))
    return emitError(*stage.attachLoc) << "compute_at: expected a place in the loop '" << scan.getOrdered()->name
                                       << "' of scan '" << scan.name << "', in whose steps stage '" << stage.name
                                       << "' is, got loop '" << stage.attachAxis->name << "' of stage '"
                                       << stage.attachStage->name << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// What each step computes
//===----------------------------------------------------------------------===//

SmallVector<const Axis *> BoundInference::getLoopsAroundSteps(const ScheduledStage &scan) {
  ArrayRef<const Axis *> loops = bounds[scan].loops;
  SmallVector<const Axis *> around;
  for (const Axis *loop : loops.take_front(llvm::find(loops, scan.getOrdered()) - loops.begin()))
    if (bounds[loop].extent != getAffineConstantExpr(1, function.getContext()))
      around.push_back(loop);
  return around;
}

LogicalResult BoundInference::inferUpdateDomain(const ScheduledStage &stage) {
  const ScheduledStage &scan = *stage.scan;
  AffineExpr zero = getAffineConstantExpr(0, function.getContext());
  bounds[stage].scope = schedule::Scope::Global;
  bounds[stage].mins[0] = bounds[scan.getOrdered()].index;
  bounds[stage.roots[0]].extent = getAffineConstantExpr(1, function.getContext());
  SmallVector<const Axis *> around = getLoopsAroundSteps(scan);
  if (around.empty())
    return success();
  auto block = getProduced(scan, around.back());
  if (!block)
    return emitError(around.back()->loc)
           << "scan '" << scan.name << "': expected each iteration of loop '" << around.back()->name
           << "' around its steps to compute a block of it, got loops that fuse or split their "
              "axes in another way";
  for (auto [d, part] : llvm::drop_begin(llvm::enumerate(*block))) {
    if (part.first == zero && part.second == scan.roots[d]->wholeExtent)
      continue;
    if (d >= stage.numSpatial || stage.roots[d]->wholeExtent != scan.roots[d]->wholeExtent)
      return emitError(around.back()->loc)
             << "scan '" << scan.name << "': expected no loop around its steps that splits axis '"
             << scan.roots[d]->name << "', which '" << stage.name << "', another of its updates, has not, got loop '"
             << around.back()->name << "'";
    std::tie(bounds[stage].mins[d], bounds[stage.roots[d]].extent) = part;
  }
  return success();
}

LogicalResult BoundInference::verifySteps() {
  for (auto &stage : model.stages) {
    const ScheduledStage *scan = stage->hasSteps ? stage.get() : stage->scan;
    // A stage in the steps of a scan that has none computes nothing.
    if (!scan || cast<ShapedType>(stage->op->getResult(0).getType()).getDimSize(0) == 0)
      continue;
    SmallVector<const Axis *> around = getLoopsAroundSteps(*scan);
    auto extent = [&](unsigned dim) { return bounds.getExtent(dim); };
    auto runs = [&](unsigned dim) {
      return bounds.getLoop(dim) != scan->getOrdered() && !llvm::is_contained(around, bounds.getLoop(dim));
    };
    for (Access &access : getReads(*stage)) {
      const ScheduledStage *written = model.getScanInto(access.tensor);
      if (!written)
        continue;
      auto get = [&](unsigned d) -> std::optional<Interval> {
        if (!access.indices[d])
          return std::nullopt;
        // The loops of the first update are around the others.
        return stage->hasSteps ? getInterval(bounds.overLoops(*stage, access.indices[d]), runs, extent)
                               : bounds.getIntervalOfAxes(*stage, access.indices[d], runs);
      };
      auto step = get(0);
      AffineExpr zero = getAffineConstantExpr(0, function.getContext());
      if (!step || !isProvablyLess(simplify(step->min + step->width - bounds[scan->getOrdered()].index), zero, extent))
        return emitError(stage->getLoc())
               << "stage '" << stage->name << "': expected to read '" << written->name << "' in the steps of scan '"
               << scan->name << "' at earlier steps, got others";
      if (around.empty())
        continue;
      std::optional<SmallVector<std::pair<AffineExpr, AffineExpr>>> block;
      if (written == scan)
        block = getProduced(*scan, around.back());
      else
        block = llvm::map_to_vector(llvm::zip(bounds[*written].mins, ArrayRef(written->roots)), [&](auto part) {
          return std::pair(std::get<0>(part), bounds[std::get<1>(part)].extent);
        });
      for (unsigned d = 1; d < written->numSpatial; ++d) {
        if (block && (*block)[d].first == zero && (*block)[d].second == written->roots[d]->wholeExtent)
          continue;
        auto read = get(d);
        if (block && read && isProvablyNonNegative(simplify(read->min - (*block)[d].first), extent) &&
            isProvablyLess(simplify(read->min + read->width - (*block)[d].first), (*block)[d].second, extent))
          continue;
        const Axis *loop = around.back();
        for (const Axis *other : around)
          if (block && (*block)[d].first.isFunctionOfDim(bounds[other].dim))
            loop = other;
        InFlightDiagnostic diag = emitError(loop->loc);
        diag << "scan '" << scan->name << "': expected ";
        if (loop->bind && *loop->bind < schedule::ThreadTag::ThreadIdxX)
          diag << "no axis on " << schedule::stringifyThreadTag(*loop->bind) << " along which ";
        else
          diag << "no loop around its steps along which ";
        return diag << "a step reads what others computed in the step before, got loop '" << loop->name
                    << "', while stage '" << stage->name << "' reads '" << written->name << "' beyond it along axis '"
                    << written->roots[d]->name
                    << "': only the threads of a block, inside of the steps, wait for each other: bind such an axis to "
                       "threads "
                       "there, and blocks to an axis along which each step reads its own";
      }
    }
  }
  return success();
}
} // namespace tilewright
