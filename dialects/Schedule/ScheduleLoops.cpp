//===- ScheduleLoops.cpp - the order of a stage's loops -------------------===//
#include "dialects/Schedule/Schedule.h"

using namespace mlir;
using namespace tilewright::schedule;

/// `made` takes the place of the outermost of `old`.
static void replaceLoops(SmallVectorImpl<Value> &loops, ValueRange old, ValueRange made) {
  size_t place = llvm::find_if(loops, [&](Value loop) { return llvm::is_contained(old, loop); }) - loops.begin();
  llvm::erase_if(loops, [&](Value loop) { return llvm::is_contained(old, loop); });
  place = std::min(place, loops.size());
  loops.insert(loops.begin() + place, made.begin(), made.end());
}

/// The loops named in `order` take their places among themselves in that order.
static void reorderLoops(SmallVectorImpl<Value> &loops, ValueRange order) {
  auto next = order.begin();
  for (Value &loop : loops)
    if (next != order.end() && llvm::is_contained(order, loop))
      loop = *next++;
}

SmallVector<Value> tilewright::schedule::loopsBefore(Value stage, Operation *before) {
  SmallVector<Value> loops;
  StringRef name = stageName(stage);
  for (Operation &op : *before->getBlock()) {
    if (&op == before)
      break;
    // The stage has other axes then.
    if (op.hasTrait<ReplacesAxes>() && stageName(op.getOperand(0)) == name) {
      loops.clear();
      continue;
    }
    if (isa<AxesOp, ReduceAxesOp>(op) && stageName(op.getOperand(0)) == name) {
      loops.append(op.result_begin(), op.result_end());
      continue;
    }
    if (auto singleton = dyn_cast<SingletonOp>(op); singleton && stageName(singleton.getStage()) == name) {
      loops.insert(loops.begin(), singleton.getAxis());
      continue;
    }
    if (!(op.hasTrait<AxisTransform>() || isa<ReorderOp>(op)) || stageName(axisStage(op.getOperand(0))) != name)
      continue;
    if (isa<ReorderOp>(op)) {
      reorderLoops(loops, op.getOperands());
    } else if (auto tile = dyn_cast<TileOp>(op)) {
      replaceLoops(loops, tile.getX(), {tile.getXOuter(), tile.getXInner()});
      replaceLoops(loops, tile.getY(), {tile.getYOuter(), tile.getYInner()});
      reorderLoops(loops, op.getResults());
    } else {
      replaceLoops(loops, op.getOperands(), op.getResults());
    }
  }
  return loops;
}

SmallVector<Value> tilewright::schedule::fusedParts(FuseOp op) {
  SmallVector<Value> parts;
  for (Value loop : loopsBefore(axisStage(op.getAxes()[0]), op))
    if (llvm::is_contained(op.getAxes(), loop))
      parts.push_back(loop);
  return parts;
}
