//===- NestedThreads.cpp - loops on one index inside of each other --------===//
//
// Loops run in sequence compute each pair of iterations. A thread has one index, and computes the pairs of equal ones
// alone. Both are the same where the inner loop does the same for each iteration of the outer one: this is how the
// threads of a block fill a shared buffer together.
//
//===----------------------------------------------------------------------===//
#include "passes/loops-to-gpu/NestedThreads.h"

#include "passes/index/IndexSpace.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/ThreadRaces.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tilewright {
namespace {
/// Which values change from one iteration of a loop to the next.
class IterationDependence {
public:
  explicit IterationDependence(scf::ForOp loop) : loop(loop) {}

  bool dependsOnIt(Value value);
  /// Whether the loop decides if, or how often, something in it happens.
  bool isControlled(Operation *op) {
    for (Operation *around = op->getParentOp(); around != loop; around = around->getParentOp())
      if (dependsOnIt(around->getOperands()))
        return true;
    return false;
  }
  bool dependsOnIt(ValueRange values) {
    return llvm::any_of(values, [&](Value value) { return dependsOnIt(value); });
  }

private:
  bool compute(Value value);
  /// Whether an element of a thread's own buffer may have been stored by one iteration for itself.
  bool holdsItsOwn(Value buffer);

  scf::ForOp loop;
  llvm::MapVector<Value, bool> known;
  unsigned depth = 0;
};

bool IterationDependence::dependsOnIt(Value value) {
  // A value that is asked about again while it is looked at comes around a loop: what else it is made of decides.
  if (auto [entry, isNew] = known.try_emplace(value, false); !isNew)
    return entry->second;
  ++depth;
  bool depends = compute(value);
  --depth;
  known[value] = depends;
  // What was found not to depend may have been asked about within such a circle.
  if (depends && depth == 0)
    known.remove_if([](auto &entry) { return !entry.second; });
  return depends;
}

bool IterationDependence::compute(Value value) {
  Operation *around = value.getParentBlock()->getParentOp();
  if (!loop->isAncestor(around))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (around == loop)
      return true;
    if (auto inner = dyn_cast<scf::ForOp>(around); inner && argument.getArgNumber() > 0) {
      unsigned number = argument.getArgNumber() - 1;
      return dependsOnIt(inner.getInitArgs()[number]) || dependsOnIt(inner.getYieldedValues()[number]);
    }
    return dependsOnIt(around->getOperands());
  }
  Operation *op = value.getDefiningOp();
  if (dependsOnIt(op->getOperands()))
    return true;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return isPrivate(load.getMemRef()) && holdsItsOwn(load.getMemRef());
  // What its regions yield, and what decides that.
  WalkResult walked =
      op->walk([&](Operation *inner) { return WalkResult(failure(inner != op && dependsOnIt(inner->getOperands()))); });
  return walked.wasInterrupted();
}

bool IterationDependence::holdsItsOwn(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    if (isa<memref::LoadOp, memref::DeallocOp>(user) || !loop->isProperAncestor(user))
      return false;
    return dependsOnIt(user->getOperands()) || isControlled(user);
  });
}

/// Whether what `inner` does depends on the iteration of the loop around it.
bool dependsOnIteration(scf::ForOp inner, scf::ForOp outer) {
  IterationDependence dependence(outer);
  if (dependence.isControlled(inner) || dependence.dependsOnIt(inner->getOperands()))
    return true;
  WalkResult walked = inner->walk([&](Operation *op) {
    // Of what only computes counts what is made of it.
    bool counts = op != inner && (op->getNumRegions() || op->hasTrait<OpTrait::IsTerminator>() ||
                                  (!isa<memref::LoadOp>(op) && !isMemoryEffectFree(op)));
    return WalkResult(failure(counts && dependence.dependsOnIt(op->getOperands())));
  });
  return walked.wasInterrupted();
}

/// Whether a store in a loop sets elements of the buffer before a load in it.
bool isSetBefore(memref::LoadOp load, scf::ForOp loop) {
  bool isSet = false;
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto store = dyn_cast<memref::StoreOp>(op);
    isSet |= store && store.getMemRef() == load.getMemRef();
    return WalkResult(failure(op == load));
  });
  return isSet;
}

/// Whether `inner` changes elements that nothing in the loop around it set before: each iteration of that changes them
/// again.
bool changesAgain(scf::ForOp inner, scf::ForOp outer) {
  index::IndexSpace space(inner.getContext());
  WalkResult walked = inner->walk([&](memref::LoadOp load) {
    Value buffer = load.getMemRef();
    if (Operation *alloc = buffer.getDefiningOp(); alloc && outer->isAncestor(alloc))
      return WalkResult::advance();
    SmallVector<AffineExpr> place = space.get(load.getIndices());
    bool isChanged = llvm::any_of(buffer.getUsers(), [&](Operation *user) {
      auto store = dyn_cast<memref::StoreOp>(user);
      return store && inner->isAncestor(store) && space.get(store.getIndices()) == place;
    });
    return WalkResult(failure(isChanged && !isSetBefore(load, outer)));
  });
  return walked.wasInterrupted();
}

/// Whether an iteration of a loop reads, where it stores, what the one before it has left there.
bool continuesAt(memref::StoreOp store, scf::ForOp loop) {
  index::IndexSpace space(store.getContext());
  SmallVector<AffineExpr> place = space.get(store.getIndices());
  return llvm::any_of(store.getMemRef().getUsers(), [&](Operation *user) {
    auto load = dyn_cast<memref::LoadOp>(user);
    return load && loop->isAncestor(load) && space.get(load.getIndices()) == place && !isSetBefore(load, loop);
  });
}

/// Whether iterations of a loop leave different values at one place, so that the one that runs last decides.
bool racesAt(memref::StoreOp store, IterationDependence &dependence, scf::ForOp loop) {
  Operation *alloc = store.getMemRef().getDefiningOp();
  // The lanes of an instruction store together.
  if (isPrivate(store.getMemRef()) || (alloc && loop->isAncestor(alloc)) || store->hasAttr(schedule::kOperandAttr))
    return false;
  if (dependence.dependsOnIt(store.getIndices()) || dependence.isControlled(store))
    return false;
  return dependence.dependsOnIt(store.getValue()) || continuesAt(store, loop);
}
} // namespace

LogicalResult checkThreadRaces(Operation *nest, func::FuncOp function) {
  WalkResult walked = nest->walk([&](scf::ForOp loop) -> WalkResult {
    auto bind = loop->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr);
    // Loops that carry values are reductions, whose parts are combined.
    if (!bind || bind.getValue() == schedule::ThreadTag::VThread || loop.getNumRegionIterArgs() ||
        getConstantIntValue(loop.getUpperBound()) == 1)
      return WalkResult::advance();
    IterationDependence dependence(loop);
    auto refuse = [&](memref::StoreOp store, const std::string &iterations) -> WalkResult {
      return store.emitError() << "expected one value for each element, got a store to one place of other values in "
                               << iterations << " of " << getAxisName(loop).quoted() << ", which is bound to "
                               << schedule::stringifyThreadTag(bind.getValue())
                               << ": the iteration that runs last would decide; a reduction carries what it reduces";
    };
    WalkResult always = loop->walk([&](memref::StoreOp store) -> WalkResult {
      return racesAt(store, dependence, loop) ? refuse(store, "each iteration") : WalkResult::advance();
    });
    if (always.wasInterrupted())
      return always;
    if (std::optional<ThreadRace> race = findThreadRace(loop))
      return refuse(race->store, "iterations " + std::to_string(race->first) + " and " + std::to_string(race->second));
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult checkNestedThreads(Operation *nest, func::FuncOp function) {
  auto getTag = [](scf::ForOp loop) {
    auto bind = loop->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr);
    return bind ? bind.getValue() : schedule::ThreadTag::VThread;
  };
  auto quoted = [&](scf::ForOp loop) { return getAxisName(loop).quoted(); };
  WalkResult walked = nest->walk<WalkOrder::PreOrder>([&](scf::ForOp inner) -> WalkResult {
    schedule::ThreadTag tag = getTag(inner);
    if (tag == schedule::ThreadTag::VThread)
      return WalkResult::advance();
    for (scf::ForOp outer = inner->getParentOfType<scf::ForOp>(); outer; outer = outer->getParentOfType<scf::ForOp>()) {
      if (getTag(outer) != tag)
        continue;
      // Blocks have no memory that they could fill together.
      bool isOfBlocks = tag < schedule::ThreadTag::ThreadIdxX;
      if (!isOfBlocks && !dependsOnIteration(inner, outer) && !changesAgain(inner, outer))
        continue;
      InFlightDiagnostic diag = inner.emitError()
                                << "expected one loop on " << schedule::stringifyThreadTag(tag)
                                << ", or an inner one that does the same in each iteration of the outer, got "
                                << quoted(inner) << " inside of " << quoted(outer);
      diag.attachNote(outer.getLoc()) << quoted(outer) << " is bound here";
      return diag;
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
} // namespace tilewright
