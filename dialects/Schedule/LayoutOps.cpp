//===- LayoutOps.cpp - verifiers of primitives on buffers and tiles -------===//
#include "dialects/Schedule/Handles.h"
#include "dialects/TE/TE.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tilewright::schedule;

/// The op before `op` that took the loop or said what becomes of it.
static Operation *getEarlierUse(Operation *op, Value axis) {
  for (Operation *user : axis.getUsers())
    if (user != op && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op) &&
        (user->hasTrait<AxisTransform>() || user->hasTrait<AxisAnnotation>()))
      return user;
  return nullptr;
}

static LogicalResult verifyUnused(Operation *op, Value axis) {
  Operation *earlier = getEarlierUse(op, axis);
  if (!earlier)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "axis '" << axisName(axis) << "' of stage '" << stageName(axisStage(axis))
                            << "': expected a loop that nothing else was said of, got one of an earlier "
                            << earlier->getName().stripDialect();
  diag.attachNote(earlier->getLoc()) << "said here";
  return diag;
}

/// An implementation takes memrefs of the shapes of the description's tensors, and accesses them element by element.
static LogicalResult verifyImplementation(TensorizeOp op, FunctionOpInterface function, FunctionOpInterface describe) {
  if (function.getNumArguments() != describe.getNumArguments() || function.getNumResults() != 0)
    return op.emitOpError() << "expected @" << function.getName() << " to take " << describe.getNumArguments()
                            << " arguments, as @describe, and to return nothing, got " << function.getNumArguments()
                            << " arguments and " << function.getNumResults() << " results";
  for (auto [i, argument, like] : llvm::enumerate(function.getArguments(), describe.getArguments())) {
    auto memref = dyn_cast<MemRefType>(argument.getType());
    auto tensor = dyn_cast<RankedTensorType>(like.getType());
    if (!tensor)
      return op.emitOpError() << "expected argument " << i << " of @describe to be a tensor, got " << like.getType();
    if (!memref || memref != MemRefType::get(tensor.getShape(), tensor.getElementType()))
      return op.emitOpError() << "expected argument " << i << " of @" << function.getName() << " to be "
                              << MemRefType::get(tensor.getShape(), tensor.getElementType())
                              << ", as @describe has it, got " << argument.getType();
    for (Operation *user : argument.getUsers()) {
      auto store = dyn_cast<memref::StoreOp>(user);
      bool isInto = store && store.getValueToStore() != argument;
      if (isInto && !describe.getArgAttr(i, tilewright::te::kOutputAttr)) {
        InFlightDiagnostic diag = op.emitOpError()
                                  << "expected @" << function.getName() << " to store to its results, got a store to "
                                  << "argument " << i << ", an input";
        diag.attachNote(user->getLoc()) << "stored here";
        return diag;
      }
      if (isInto || isa<memref::LoadOp>(user))
        continue;
      InFlightDiagnostic diag = op.emitOpError()
                                << "expected @" << function.getName() << " to load and store elements of argument " << i
                                << ", got '" << user->getName() << "'";
      diag.attachNote(user->getLoc()) << "used here";
      return diag;
    }
  }
  return success();
}

LogicalResult TensorizeOp::verify() { return verifyUnused(*this, getAxis()); }

LogicalResult TensorizeOp::verifyRegions() {
  auto describe = mlir::SymbolTable::lookupSymbolIn(getOperation(), "describe");
  auto description = dyn_cast_or_null<FunctionOpInterface>(describe);
  if (!description)
    return emitOpError("expected a function @describe, got none");
  bool computes = false;
  for (Operation &op : getIntrinsic().front()) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || (function.getName() != "describe" && function.getName() != "body" &&
                      function.getName() != "reset" && function.getName() != "update"))
      return emitOpError() << "expected functions @describe, @body, @reset and @update, got '"
                           << (function ? function.getName() : op.getName().getStringRef()) << "'";
    if (function.getFunctionBody().empty())
      return emitOpError() << "expected @" << function.getName() << " to have a body, got a declaration";
    if (function == description)
      continue;
    computes = true;
    if (failed(verifyImplementation(*this, function, description)))
      return failure();
  }
  return computes ? success() : emitOpError("expected a function that computes, @body or @update, got none");
}

LogicalResult TransformLayoutOp::verify() {
  AffineMap layout = getLayout();
  if (layout.getNumSymbols())
    return emitOpError() << "expected a layout of indices alone, got one with " << layout.getNumSymbols() << " symbols";
  if (!layout.getNumResults())
    return emitOpError("expected a layout with at least one index, got none");
  for (auto other : (*this)->getBlock()->getOps<TransformLayoutOp>())
    if (other->isBeforeInBlock(*this) && isSameStage(other.getStage(), getStage())) {
      InFlightDiagnostic diag = emitOpError()
                                << "expected one layout of stage '" << stageName(getStage()) << "', got a second";
      diag.attachNote(other.getLoc()) << "the first is here";
      return diag;
    }
  return success();
}

LogicalResult SwizzleOp::verify() {
  int64_t granule = getGranule();
  if (granule < 1 || (granule & (granule - 1)))
    return emitOpError() << "expected a granule of a power of two elements, got " << granule;
  return success();
}

LogicalResult PrefetchOp::verify() {
  if (!isSameStage(axisStage(getAxis()), getStage()))
    return emitOpError() << "expected an axis of stage '" << stageName(getStage()) << "', got '" << axisName(getAxis())
                         << "' of '" << stageName(axisStage(getAxis())) << "'";
  if (int64_t offset = getOffset(); offset < 0)
    return emitOpError() << "expected an offset of at least 0, got " << offset;
  for (Operation *user : getAxis().getUsers())
    if (user->hasTrait<AxisTransform>() && user->isBeforeInBlock(*this)) {
      InFlightDiagnostic diag = emitOpError()
                                << "axis '" << axisName(getAxis()) << "' of stage '" << stageName(getStage())
                                << "': expected a loop, got an axis that was already "
                                << (isa<FuseOp>(user) ? "fused" : "split");
      diag.attachNote(user->getLoc()) << (isa<FuseOp>(user) ? "fused" : "split") << " here";
      return diag;
    }
  return success();
}

LogicalResult EnvThreadsOp::verify() {
  if (getThread() == ThreadTag::VThread)
    return emitOpError("expected a block or thread index, got vthread");
  if (int64_t extent = getExtent(); extent < 1)
    return emitOpError() << "expected an extent of at least 1, got " << extent;
  for (auto other : (*this)->getBlock()->getOps<EnvThreadsOp>())
    if (other->isBeforeInBlock(*this) && other.getThread() == getThread() &&
        isSameStage(other.getStage(), getStage())) {
      InFlightDiagnostic diag = emitOpError() << "expected " << stringifyThreadTag(getThread()) << " once for stage '"
                                              << stageName(getStage()) << "', got it twice";
      diag.attachNote(other.getLoc()) << "the first is here";
      return diag;
    }
  return success();
}

LogicalResult PadEinsumOp::verify() {
  for (int64_t padding : getPadding())
    if (padding < 1)
      return emitOpError() << "expected multiples of at least 1, got " << padding;
  if (getNames().size() != getNumResults())
    return emitOpError() << "expected one name a stage, " << getNumResults() << ", got " << getNames().size();
  for (Operation &op : *(*this)->getBlock()) {
    if (&op == *this)
      break;
    if (!isa<AxesOp, ReduceAxesOp>(op) || stageName(op.getOperand(0)) != stageName(getOf()))
      continue;
    for (Operation *user : op.getUsers()) {
      InFlightDiagnostic diag = emitOpError()
                                << "expected to stand before the axes of stage '" << stageName(getOf()) << "' are used";
      diag.attachNote(user->getLoc()) << "used here";
      return diag;
    }
  }
  return success();
}
