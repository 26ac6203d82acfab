//===- AsynchronousOps.cpp - verifiers of primitives on who copies what ---===//
#include "dialects/Schedule/Schedule.h"

using namespace mlir;
using namespace tilewright::schedule;

/// A primitive that says something of a stage or an axis, once.
template <typename Op> static LogicalResult verifyOnlyOne(Op op, StringRef what, Value (*of)(Op), bool (*isSame)(Value, Value)) {
  for (auto other : op->getBlock()->template getOps<Op>())
    if (other->isBeforeInBlock(op) && isSame(of(other), of(op))) {
      InFlightDiagnostic diag = op.emitOpError() << "expected " << what << " once, got it twice";
      diag.attachNote(other.getLoc()) << "the first is here";
      return diag;
    }
  return success();
}

static bool isSameStage(Value a, Value b) { return stageName(a) == stageName(b); }
static bool isSameAxis(Value a, Value b) { return a == b; }

/// The axis is a loop still.
static LogicalResult verifyIsLoop(Operation *op, Value axis) {
  for (Operation *user : axis.getUsers())
    if (user->hasTrait<AxisTransform>() && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op)) {
      InFlightDiagnostic diag = op->emitOpError() << "axis '" << axisName(axis) << "' of stage '" << stageName(axisStage(axis))
                                                  << "': expected a loop, got an axis that was already "
                                                  << (isa<FuseOp>(user) ? "fused" : "split");
      diag.attachNote(user->getLoc()) << (isa<FuseOp>(user) ? "fused" : "split") << " here";
      return diag;
    }
  return success();
}

LogicalResult CopyByOp::verify() {
  int64_t swizzle = getSwizzle();
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitOpError() << "expected a swizzle of 32, 64 or 128 bytes, got " << swizzle;
  if (std::optional<int64_t> columns = getColumns(); columns && *columns < 1)
    return emitOpError() << "expected columns of at least 1, got " << *columns;
  return verifyOnlyOne<CopyByOp>(
      *this, "what copies stage '" + stageName(getStage()).str() + "'", [](CopyByOp op) -> Value { return op.getStage(); },
      isSameStage);
}

LogicalResult SpecializeOp::verify() {
  for (int64_t registers : {int64_t(getProducer()), int64_t(getConsumer())})
    if (registers < 24 || registers > 240 || registers % 8)
      return emitOpError() << "expected a multiple of 8 registers from 24 to 240, got " << registers;
  // Of 16 named barriers each takes one, as each warpgroup does.
  if (int64_t consumers = getConsumers(); consumers < 1 || consumers > 7)
    return emitOpError() << "expected 1 to 7 consumers, got " << consumers;
  if (failed(verifyIsLoop(*this, getAxis())))
    return failure();
  return verifyOnlyOne<SpecializeOp>(
      *this, "specialize of axis '" + axisName(getAxis()) + "'", [](SpecializeOp op) -> Value { return op.getAxis(); }, isSameAxis);
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
      *this, "cluster of axis '" + axisName(getAxis()) + "'", [](ClusterOp op) -> Value { return op.getAxis(); }, isSameAxis);
}

LogicalResult PersistentOp::verify() {
  if (int64_t blocks = getBlocks(); blocks < 1)
    return emitOpError() << "expected at least 1 block, got " << blocks;
  if (int64_t group = getGroup(); group < 1)
    return emitOpError() << "expected groups of at least 1 tile, got " << group;
  if (int64_t group = getGroup(); getRaster() == Raster::Hilbert && !llvm::isPowerOf2_64(group))
    return emitOpError() << "expected squares of a power of two of tiles for Hilbert's curve, got " << group;
  if (int64_t columns = getNarrower(); columns < 0)
    return emitOpError() << "expected some tiles to be narrower by at least 0 columns, got " << columns;
  if (getNarrower() && getStreamK())
    return emitOpError() << "expected narrower tiles or stream_k, which both fill the last turn, got both";
  if (getSerpentineK() && getStreamK())
    return emitOpError() << "expected serpentine_k or stream_k, whose blocks begin tiles at different steps, got both";
  return verifyOnlyOne<PersistentOp>(
      *this, "persistent of stage '" + stageName(getStage()).str() + "'",
      [](PersistentOp op) -> Value { return op.getStage(); }, isSameStage);
}
