//===- ScheduleOps.cpp - verifiers of the primitives ------------------===//
#include "dialects/Schedule/Handles.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::schedule;

/// The op before `op` that used `axis` up: a split, tile or fuse.
static Operation *getConsumer(Value axis, Operation *op) {
  for (Operation *user : axis.getUsers())
    if (user != op && user->hasTrait<AxisTransform>() && user->getBlock() == op->getBlock() &&
        user->isBeforeInBlock(op))
      return user;
  return nullptr;
}

/// An axis that was split or fused is no loop any more.
static LogicalResult verifyLoop(Operation *op, Value axis) {
  Operation *consumer = getConsumer(axis, op);
  if (!consumer)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "axis '" << axisName(axis) << "' of stage '" << stageName(axisStage(axis))
                            << "': expected a loop, got an axis that was already "
                            << (isa<FuseOp>(consumer) ? "fused" : "split");
  diag.attachNote(consumer->getLoc()) << (isa<FuseOp>(consumer) ? "fused" : "split") << " here";
  return diag;
}

/// What an earlier op of these types said of the loop; for the text of diagnostics.
static StringRef describeMark(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<BindOp>([](auto) { return "bound"; })
      .Case<VectorizeOp>([](auto) { return "vectorized"; })
      .Case<ParallelOp>([](auto) { return "parallel"; })
      .Case<LoopPartitionOp>([](auto) { return "partitioned"; })
      .Case<TensorizeOp>([](auto) { return "tensorized"; })
      .Case<UnrollOp>([](auto) { return "unrolled"; });
}

/// A loop is bound, vectorized or tensorized, not two of these, and not split or fused after that.
static LogicalResult verifyPlainLoop(Operation *op, Value axis) {
  if (failed(verifyLoop(op, axis)))
    return failure();
  auto isHow = llvm::IsaPred<VectorizeOp, UnrollOp, ParallelOp>;
  for (Operation *user : axis.getUsers()) {
    // As in TVM what is said again, or last, of how the iterations run counts; an outer loop of a split is parallel as
    // the axis was.
    auto bind = dyn_cast<BindOp>(user), again = dyn_cast<BindOp>(op);
    if ((isHow(op) && isHow(user)) || (isa<LoopPartitionOp>(op) && isa<LoopPartitionOp>(user)) ||
        (op->hasTrait<AxisTransform>() && isa<ParallelOp>(user)) ||
        (bind && again && bind.getThread() == again.getThread()))
      continue;
    if (user == op || !user->hasTrait<AxisAnnotation>() || user->getBlock() != op->getBlock() ||
        !user->isBeforeInBlock(op))
      continue;
    InFlightDiagnostic diag = op->emitOpError()
                              << "axis '" << axisName(axis) << "' of stage '" << stageName(axisStage(axis))
                              << "': expected a plain loop, got one that is " << describeMark(user);
    if (auto bind = dyn_cast<BindOp>(user))
      diag << " to " << stringifyThreadTag(bind.getThread());
    diag.attachNote(user->getLoc()) << describeMark(user) << " here";
    return diag;
  }
  return success();
}

static LogicalResult verifyFactor(Operation *op, StringRef what, int64_t factor) {
  if (factor >= 1)
    return success();
  return op->emitOpError() << "expected " << what << " of at least 1, got " << factor;
}

LogicalResult OfOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!tables.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getFunctionAttr()))
    return emitOpError() << "expected the name of a function, got '" << getFunction() << "'";
  // No number of a primitive means anything near the 63 bits that an extent has, and what is made of them must have
  // these.
  for (Operation &primitive : getBody().front())
    for (NamedAttribute attribute : primitive.getAttrs()) {
      auto number = dyn_cast<IntegerAttr>(attribute.getValue());
      if (number && !number.getValue().isSignedIntN(32))
        return primitive.emitOpError() << "expected " << attribute.getName().getValue() << " of 32 bits, got "
                                       << number.getValue().getSExtValue();
    }
  return success();
}

LogicalResult StageOp::verify() {
  return getName().empty() ? emitOpError("expected the name of a stage, got none") : success();
}

template <typename Op> static LogicalResult verifyAxes(Op op) {
  if (op.getNames().size() != op.getNumResults())
    return op.emitOpError() << "expected one name an axis, " << op.getNumResults() << ", got " << op.getNames().size();
  return success();
}
LogicalResult AxesOp::verify() { return verifyAxes(*this); }
LogicalResult ReduceAxesOp::verify() { return verifyAxes(*this); }

LogicalResult SplitOp::verify() {
  if (getFactor().has_value() + getNparts().has_value() + getFactorSymbol().has_value() +
          getNpartsSymbol().has_value() !=
      1)
    return emitOpError("expected either a factor or a number of parts");
  if (getFactor() && failed(verifyFactor(*this, "a factor", *getFactor())))
    return failure();
  if (getNparts() && failed(verifyFactor(*this, "a number of parts", *getNparts())))
    return failure();
  return verifyPlainLoop(*this, getAxis());
}

LogicalResult TileOp::verify() {
  if (failed(verifyFactor(*this, "an x factor", getXFactor())) ||
      failed(verifyFactor(*this, "a y factor", getYFactor())))
    return failure();
  if (getX() == getY())
    return emitOpError() << "expected two axes, got '" << axisName(getX()) << "' twice";
  if (!isSameStage(axisStage(getX()), axisStage(getY())))
    return emitOpError() << "expected axes of one stage, got '" << axisName(getX()) << "' of '"
                         << stageName(axisStage(getX())) << "' and '" << axisName(getY()) << "' of '"
                         << stageName(axisStage(getY())) << "'";
  if (failed(verifyPlainLoop(*this, getX())))
    return failure();
  return verifyPlainLoop(*this, getY());
}

/// Loops of one stage, each named once.
static LogicalResult verifyLoops(Operation *op, ValueRange axes) {
  if (axes.size() == 0)
    return op->emitOpError("expected at least one axis");
  llvm::SmallDenseSet<Value> seen;
  for (Value axis : axes) {
    if (!seen.insert(axis).second)
      return op->emitOpError() << "expected different axes, got '" << axisName(axis) << "' twice";
    if (!isSameStage(axisStage(axis), axisStage(axes[0])))
      return op->emitOpError() << "expected axes of one stage, got '" << axisName(axes[0]) << "' of '"
                               << stageName(axisStage(axes[0])) << "' and '" << axisName(axis) << "' of '"
                               << stageName(axisStage(axis)) << "'";
    if (failed(verifyLoop(op, axis)))
      return failure();
  }
  return success();
}

LogicalResult FuseOp::verify() {
  if (failed(verifyLoops(*this, getAxes())))
    return failure();
  for (Value axis : getAxes())
    if (isReduceAxis(axis) != isReduceAxis(getAxes()[0]))
      return emitOpError() << "expected spatial axes or reduction axes, got '" << axisName(getAxes()[0]) << "' and '"
                           << axisName(axis) << "'";
  for (Value axis : getAxes())
    if (failed(verifyPlainLoop(*this, axis)))
      return failure();
  // As TVM fuses: each with those before it, which it may stand within or around.
  SmallVector<Value> loops = loopsBefore(axisStage(getAxes()[0]), *this);
  int64_t first = llvm::find(loops, getAxes()[0]) - loops.begin(), end = first + 1;
  for (Value axis : getAxes().drop_front()) {
    int64_t place = llvm::find(loops, axis) - loops.begin();
    if (place != end && place + 1 != first)
      return emitOpError() << "stage '" << stageName(axisStage(axis)) << "': expected neighbouring loops, got '"
                           << axisName(getAxes()[0]) << "' and '" << axisName(axis) << "' apart: reorder them first";
    first = std::min(first, place);
    end = std::max(end, place + 1);
  }
  return success();
}

LogicalResult ReorderOp::verify() { return verifyLoops(*this, getAxes()); }

LogicalResult BindOp::verify() {
  if (getExtent() && failed(verifyFactor(*this, "an extent", *getExtent())))
    return failure();
  if (failed(verifyPlainLoop(*this, getAxis())))
    return failure();
  if (getThread() == ThreadTag::VThread && !getReduceAdd())
    return isReduceAxis(getAxis()) ? emitOpError() << "expected a spatial axis on vthread, got the reduction axis '"
                                                   << axisName(getAxis()) << "'"
                                   : success();
  bool isReductionOfBlocks = isReduceAxis(getAxis()) && getThread() < ThreadTag::ThreadIdxX;
  if (getReduceAdd() && !isReductionOfBlocks)
    return emitOpError() << "expected a reduction axis on a block index for reduce_add, got '" << axisName(getAxis())
                         << "' on " << stringifyThreadTag(getThread());
  if (!getReduceAdd() && isReductionOfBlocks)
    return emitOpError() << "expected a spatial axis on " << stringifyThreadTag(getThread())
                         << ", got the reduction axis '" << axisName(getAxis())
                         << "': blocks combine what they computed with reduce_add alone";
  // Two loops of one stage on one index would run only its diagonal.
  for (auto other : (*this)->getBlock()->getOps<BindOp>()) {
    if (other == *this)
      break;
    if (other.getThread() != getThread() || other.getAxis() == getAxis() ||
        !isSameStage(axisStage(other.getAxis()), axisStage(getAxis())))
      continue;
    InFlightDiagnostic diag = emitOpError()
                              << "stage '" << stageName(axisStage(getAxis())) << "': expected one axis on "
                              << stringifyThreadTag(getThread()) << ", got '" << axisName(getAxis()) << "' beside '"
                              << axisName(other.getAxis()) << "'";
    diag.attachNote(other.getLoc()) << "bound here";
    return diag;
  }
  return success();
}

LogicalResult VectorizeOp::verify() {
  if (isReduceAxis(getAxis()))
    return emitOpError() << "expected a spatial axis, got the reduction axis '" << axisName(getAxis())
                         << "': its iterations depend on each other";
  return verifyPlainLoop(*this, getAxis());
}
LogicalResult UnrollOp::verify() { return verifyPlainLoop(*this, getAxis()); }

LogicalResult ParallelOp::verify() {
  if (isReduceAxis(getAxis()))
    return emitOpError() << "expected a spatial axis, got the reduction axis '" << axisName(getAxis())
                         << "': its iterations depend on each other";
  return verifyPlainLoop(*this, getAxis());
}

LogicalResult LoopPartitionOp::verify() { return verifyPlainLoop(*this, getAxis()); }

LogicalResult AutoUnrollOp::verify() {
  if (int64_t maxStep = getMaxStep(); maxStep < 0)
    return emitOpError() << "expected a number of steps of at least 0, got " << maxStep;
  return verifyLoop(*this, getAxis());
}

LogicalResult CacheReadOp::verify() {
  if (getReaders().empty())
    return emitOpError("expected at least one reader");
  return success();
}

/// The first use before `op` of the axes that a stage has now, but those that `isAllowed`; null where there is none.
static Operation *findOtherUse(Operation *op, Value stage, function_ref<bool(Operation *, Value)> isAllowed) {
  Operation *otherUse = nullptr;
  for (Operation &user : *op->getBlock()) {
    if (&user == op)
      break;
    // The axes after one of these are others.
    if (isa<CacheWriteOp, RfactorOp>(user) && isSameStage(user.getOperand(0), stage)) {
      otherUse = nullptr;
      continue;
    }
    for (Value operand : user.getOperands())
      if (!otherUse && isa<AxisType>(operand.getType()) && isSameStage(axisStage(operand), stage) &&
          !isAllowed(&user, operand))
        otherUse = &user;
  }
  return otherUse;
}

LogicalResult CacheWriteOp::verify() {
  Operation *otherUse = findOtherUse(*this, getOf(), [](Operation *user, Value axis) {
    return isa<ReorderOp, RollingUpdateOp>(user) || (user->hasTrait<AxisTransform>() && !isReduceAxis(axis));
  });
  if (!otherUse)
    return success();
  InFlightDiagnostic diag = emitOpError() << "expected to stand before the loops of stage '" << stageName(getOf())
                                          << "' are used for more than to split, fuse and reorder its spatial axes";
  diag.attachNote(otherUse->getLoc()) << "used here";
  return diag;
}

LogicalResult ComputeAtOp::verify() {
  if (isSameStage(getStage(), getConsumer()))
    return emitOpError() << "expected a consumer of stage '" << stageName(getStage()) << "', got the stage itself";
  if (!isSameStage(axisStage(getAxis()), getConsumer()))
    return emitOpError() << "expected an axis of stage '" << stageName(getConsumer()) << "', got '"
                         << axisName(getAxis()) << "' of '" << stageName(axisStage(getAxis())) << "'";
  return verifyLoop(*this, getAxis());
}

LogicalResult LaunchBoundsOp::verify() { return verifyFactor(*this, "a number of blocks", getMinBlocks()); }

LogicalResult StorageAlignOp::verify() {
  if (failed(verifyFactor(*this, "a factor", getFactor())))
    return failure();
  if (getOffset() >= getFactor())
    return emitOpError() << "expected an offset from 0 to " << getFactor() - 1 << ", got " << int64_t(getOffset());
  if (!isa<AxesOp>(getAxis().getDefiningOp()) || !isSameStage(axisStage(getAxis()), getStage()))
    return emitOpError() << "expected a spatial axis of the tensor of stage '" << stageName(getStage()) << "', got '"
                         << axisName(getAxis()) << "' of '" << stageName(axisStage(getAxis())) << "'";
  return success();
}

LogicalResult SoftwarePipelineOp::verify() {
  if (int64_t depth = getDepth(); depth < 2)
    return emitOpError() << "expected at least 2 stages, got " << depth;
  return verifyPlainLoop(*this, getAxis());
}

LogicalResult RfactorOp::verify() {
  if (!isSameStage(axisStage(getAxis()), getOf()) || !isReduceAxis(getAxis()))
    return emitOpError() << "expected a reduction axis of stage '" << stageName(getOf()) << "', got '"
                         << axisName(getAxis()) << "' of '" << stageName(axisStage(getAxis())) << "'";
  if (failed(verifyPlainLoop(*this, getAxis())))
    return failure();
  for (auto axes : (*this)->getBlock()->getOps<AxesOp>())
    if (axes->isBeforeInBlock(*this) && isSameStage(axes.getStage(), getOf()) &&
        (getFactorAxis() < 0 || getFactorAxis() > axes.getNumResults()))
      return emitOpError() << "expected a factor_axis from 0 to " << axes.getNumResults() << ", got "
                           << getFactorAxis();
  Operation *otherUse = findOtherUse(*this, getOf(), [](Operation *user, Value axis) {
    return isReduceAxis(axis) && (user->hasTrait<AxisTransform>() || isa<ReorderOp, RollingUpdateOp>(user));
  });
  if (!otherUse)
    return success();
  InFlightDiagnostic diag = emitOpError() << "expected to stand before the loops of stage '" << stageName(getOf())
                                          << "' are used for more than to split and fuse its reduction axes";
  diag.attachNote(otherUse->getLoc()) << "used here";
  return diag;
}

LogicalResult SetStorePredicateOp::verify() {
  if (int64_t from = getFrom().value_or(0), to = getTo().value_or(INT64_MAX); from < 0 || from >= to)
    return emitOpError() << "expected threads from a number of at least 0 to a larger one, got " << from << " to "
                         << to;
  if (getThread() < ThreadTag::ThreadIdxX || getThread() > ThreadTag::ThreadIdxZ)
    return emitOpError() << "expected threadIdx.x, threadIdx.y or threadIdx.z, got " << stringifyThreadTag(getThread());
  return success();
}

static LogicalResult verifyLoopOf(Operation *op, Value axis, Value stage) {
  if (!isSameStage(axisStage(axis), stage))
    return op->emitOpError() << "expected an axis of stage '" << stageName(stage) << "', got '" << axisName(axis)
                             << "' of '" << stageName(axisStage(axis)) << "'";
  return verifyLoop(op, axis);
}

LogicalResult DecomposeReductionOp::verify() { return verifyLoopOf(*this, getAxis(), getStage()); }

LogicalResult ReverseComputeAtOp::verify() {
  if (isSameStage(getStage(), getProducer()))
    return emitOpError() << "expected a producer of stage '" << stageName(getStage()) << "', got the stage itself";
  return verifyLoopOf(*this, getAxis(), getProducer());
}

LogicalResult ReverseComputeInlineOp::verify() {
  if (isSameStage(getStage(), getProducer()))
    return emitOpError() << "expected a producer of stage '" << stageName(getStage()) << "', got the stage itself";
  return success();
}

Value RollingUpdateOp::getStage() { return axisStage(getAxis()); }

LogicalResult RollingUpdateOp::verify() {
  if (!isa_and_nonnull<ReduceAxesOp>(getAxis().getDefiningOp()))
    return emitOpError() << "expected a reduction axis, got the loop '" << axisName(getAxis()) << "'";
  if (isSameStage(getStage(), getOf()))
    return emitOpError() << "expected another stage than '" << stageName(getStage()) << "', got the stage itself";
  return success();
}

#define GET_OP_CLASSES
#include "dialects/Schedule/ScheduleOps.cpp.inc"
