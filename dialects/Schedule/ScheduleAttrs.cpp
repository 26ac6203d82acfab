//===- ScheduleAttrs.cpp - parameters of the dialect's attributes ---------===//
#include "dialects/Schedule/Schedule.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright::schedule;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

LogicalResult AxisAttr::verify(EmitError emitError, StringRef axis, StringRef stage) {
  if (axis.empty())
    return emitError() << "expected the name of an axis, got an empty one";
  return success();
}

std::string AxisAttr::str() const {
  return getStage().empty() ? getAxis().str() : (getStage() + "." + getAxis()).str();
}

LogicalResult InstructionAttr::verify(EmitError emitError, MatrixInstruction kind, ArrayRef<int64_t> shape,
                                      int64_t promote, bool tf32x3) {
  auto text = [&] { return llvm::join(llvm::map_range(shape, [](int64_t n) { return std::to_string(n); }), "x"); };
  if (shape.size() != 3 || llvm::any_of(shape, [](int64_t extent) { return extent < 1; }))
    return emitError() << "expected a shape of m, n and k, got " << text();
  if (kind == MatrixInstruction::MmaSync && (shape[0] != 16 || shape[1] != 8))
    return emitError() << "expected 16 rows and 8 columns of mma_sync, got " << text();
  if (kind == MatrixInstruction::Wgmma && (shape[0] != 64 || shape[1] > 256 || shape[1] % 8))
    return emitError() << "expected 64 rows and a multiple of 8 columns up to 256 of wgmma, got " << text();
  if (promote < 0 || promote > INT32_MAX)
    return emitError() << "expected to promote after 0 to " << INT32_MAX << " iterations, got " << promote;
  if (promote && kind != MatrixInstruction::Wgmma)
    return emitError() << "expected to promote the accumulators of wgmma alone, got "
                       << stringifyMatrixInstruction(kind);
  if (tf32x3 && kind != MatrixInstruction::Wgmma)
    return emitError() << "expected tf32x3 of wgmma alone, got " << stringifyMatrixInstruction(kind);
  return success();
}

LogicalResult RollingAttr::verify(EmitError emitError, StringRef of) {
  if (of.empty())
    return emitError() << "expected the name of a stage, got an empty one";
  return success();
}

LogicalResult PipelineAttr::verify(EmitError emitError, int64_t stages, bool) {
  if (stages < 2 || stages > INT32_MAX)
    return emitError() << "expected 2 to " << INT32_MAX << " stages of a pipeline, got " << stages;
  return success();
}

LogicalResult SpecializeAttr::verify(EmitError emitError, int64_t producer, int64_t consumer, int64_t consumers) {
  for (int64_t registers : {producer, consumer})
    if (registers < 24 || registers > 240 || registers % 8)
      return emitError() << "expected a multiple of 8 registers from 24 to 240, got " << registers;
  // Of 16 named barriers each takes one, as each warpgroup does.
  if (consumers < 1 || consumers > 7)
    return emitError() << "expected 1 to 7 consumer warpgroups, got " << consumers;
  return success();
}

LogicalResult PersistentAttr::verify(EmitError emitError, int64_t blocks, Raster raster, int64_t group, bool streamK,
                                     int64_t narrower, bool serpentineK) {
  if (blocks < 1)
    return emitError() << "expected at least 1 block, got " << blocks;
  if (group < 1)
    return emitError() << "expected groups of at least 1 tile, got " << group;
  for (int64_t number : {blocks, group, narrower})
    if (number > INT32_MAX)
      return emitError() << "expected numbers up to " << INT32_MAX << ", got " << number;
  if (raster == Raster::Hilbert && !llvm::isPowerOf2_64(group))
    return emitError() << "expected squares of a power of two of tiles for Hilbert's curve, got " << group;
  if (narrower < 0)
    return emitError() << "expected some tiles to be narrower by at least 0 columns, got " << narrower;
  if (narrower && streamK)
    return emitError() << "expected narrower tiles or stream_k, which both fill the last wave, got both";
  if (serpentineK && streamK)
    return emitError() << "expected serpentine_k or stream_k, whose blocks begin tiles at different steps, got both";
  return success();
}

LogicalResult CopyAttr::verify(EmitError emitError, Copier, int64_t swizzle, int64_t columns, bool) {
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expected a swizzle of 32, 64 or 128 bytes, got " << swizzle;
  if (columns < 0 || columns > INT32_MAX)
    return emitError() << "expected columns of at least 1, got " << columns;
  return success();
}

DictionaryAttr tilewright::schedule::getParameters(Attribute attribute) {
  if (!attribute)
    return nullptr;
  Builder builder(attribute.getContext());
  NamedAttrList list;
  auto text = [&](StringRef name, StringRef value) { list.append(name, builder.getStringAttr(value)); };
  auto number = [&](StringRef name, int64_t value) { list.append(name, builder.getI64IntegerAttr(value)); };
  auto flag = [&](StringRef name, bool value) { list.append(name, builder.getBoolAttr(value)); };
  if (auto axis = dyn_cast<AxisAttr>(attribute)) {
    text("axis", axis.getAxis());
    text("stage", axis.getStage());
  } else if (auto thread = dyn_cast<ThreadTagAttr>(attribute)) {
    text("thread", stringifyThreadTag(thread.getValue()));
  } else if (auto instruction = dyn_cast<InstructionAttr>(attribute)) {
    text("kind", stringifyMatrixInstruction(instruction.getKind()));
    list.append("shape", builder.getDenseI64ArrayAttr(instruction.getShape()));
    number("promote", instruction.getPromote());
    flag("tf32x3", instruction.getTf32x3());
  } else if (auto scope = dyn_cast<ScopeAttr>(attribute)) {
    text("scope", stringifyScope(scope.getValue()));
  } else if (auto copier = dyn_cast<CopierAttr>(attribute)) {
    text("copier", stringifyCopier(copier.getValue()));
  } else if (auto raster = dyn_cast<RasterAttr>(attribute)) {
    text("raster", stringifyRaster(raster.getValue()));
  } else if (auto axis = dyn_cast<MatrixAxisAttr>(attribute)) {
    text("axis", stringifyMatrixAxis(axis.getValue()));
  } else if (auto operand = dyn_cast<MatrixOperandAttr>(attribute)) {
    text("operand", stringifyMatrixOperand(operand.getValue()));
  } else if (auto fragment = dyn_cast<FragmentAttr>(attribute)) {
    text("fragment", stringifyFragment(fragment.getValue()));
  } else if (auto rolling = dyn_cast<RollingAttr>(attribute)) {
    text("of", rolling.getOf());
  } else if (auto pipeline = dyn_cast<PipelineAttr>(attribute)) {
    number("stages", pipeline.getStages());
    flag("async", pipeline.getAsync());
  } else if (auto specialize = dyn_cast<SpecializeAttr>(attribute)) {
    number("producer", specialize.getProducer());
    number("consumer", specialize.getConsumer());
    number("consumers", specialize.getConsumers());
  } else if (auto persistent = dyn_cast<PersistentAttr>(attribute)) {
    number("blocks", persistent.getBlocks());
    text("raster", stringifyRaster(persistent.getRaster()));
    number("group", persistent.getGroup());
    flag("stream_k", persistent.getStreamK());
    number("narrower", persistent.getNarrower());
    flag("serpentine_k", persistent.getSerpentineK());
  } else if (auto copy = dyn_cast<CopyAttr>(attribute)) {
    text("by", stringifyCopier(copy.getBy()));
    number("swizzle", copy.getSwizzle());
    number("columns", copy.getColumns());
    flag("deferred", copy.getDeferred());
  } else {
    return nullptr;
  }
  return list.getDictionary(attribute.getContext());
}
