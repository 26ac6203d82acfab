//===- AsynchronousOps.cpp - verifiers of primitives on who copies what ---===//
#include "dialects/Schedule/Handles.h"

using namespace mlir;
using namespace tilewright::schedule;

/// A primitive that says something of a stage or an axis, once.
template <typename Op>
static LogicalResult verifyOnlyOne(Op op, StringRef what, Value (*of)(Op), bool (*isSame)(Value, Value)) {
  for (auto other : op->getBlock()->template getOps<Op>())
    if (other->isBeforeInBlock(op) && isSame(of(other), of(op))) {
      InFlightDiagnostic diag = op.emitOpError() << "expected " << what << " once, got it twice";
      diag.attachNote(other.getLoc()) << "the first is here";
      return diag;
    }
  return success();
}

static bool isSameAxis(Value a, Value b) { return a == b; }

/// The axis is a loop still.
static LogicalResult verifyIsLoop(Operation *op, Value axis) {
  for (Operation *user : axis.getUsers())
    if (user->hasTrait<AxisTransform>() && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op)) {
      InFlightDiagnostic diag = op->emitOpError()
                                << "axis '" << axisName(axis) << "' of stage '" << stageName(axisStage(axis))
                                << "': expected a loop, got an axis that was already "
                                << (isa<FuseOp>(user) ? "fused" : "split");
      diag.attachNote(user->getLoc()) << (isa<FuseOp>(user) ? "fused" : "split") << " here";
      return diag;
    }
  return success();
}

LogicalResult CopyByOp::verify() {
  if (getColumns() && *getColumns() == 0)
    return emitOpError() << "expected columns of at least 1, got 0";
  if (failed(CopyAttr::verify([&] { return emitOpError(); }, getCopier(), getSwizzle(), getColumns().value_or(0),
                              getDeferred())))
    return failure();
  return verifyOnlyOne<CopyByOp>(
      *this, "the producer of stage '" + stageName(getStage()).str() + "'",
      [](CopyByOp op) -> Value { return op.getStage(); }, isSameStage);
}

LogicalResult SpecializeOp::verify() {
  if (failed(SpecializeAttr::verify([&] { return emitOpError(); }, getProducer(), getConsumer(), getConsumers())))
    return failure();
  if (failed(verifyIsLoop(*this, getAxis())))
    return failure();
  return verifyOnlyOne<SpecializeOp>(
      *this, "specialize of axis '" + axisName(getAxis()) + "'", [](SpecializeOp op) -> Value { return op.getAxis(); },
      isSameAxis);
}

LogicalResult ClusterOp::verify() {
  // What every GPU with clusters takes.
  if (int64_t blocks = getBlocks(); blocks < 1 || blocks > 8)
    return emitOpError() << "expected a cluster of 1 to 8 blocks, got " << blocks;
  if (isReduceAxis(getAxis()))
    return emitOpError() << "expected a spatial axis, got '" << axisName(getAxis()) << "' of the reduction of stage '"
                         << stageName(axisStage(getAxis())) << "'";
  if (failed(verifyIsLoop(*this, getAxis())))
    return failure();
  return verifyOnlyOne<ClusterOp>(
      *this, "cluster of axis '" + axisName(getAxis()) + "'", [](ClusterOp op) -> Value { return op.getAxis(); },
      isSameAxis);
}

LogicalResult PersistentOp::verify() {
  if (failed(PersistentAttr::verify([&] { return emitOpError(); }, getBlocks(), getRaster(), getGroup(), getStreamK(),
                                    getNarrower(), getSerpentineK())))
    return failure();
  return verifyOnlyOne<PersistentOp>(
      *this, "persistent of stage '" + stageName(getStage()).str() + "'",
      [](PersistentOp op) -> Value { return op.getStage(); }, isSameStage);
}
