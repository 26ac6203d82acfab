//===- EmitBuffers.cpp - where stages keep what they compute --------------===//
#include "passes/AddressSpaces.h"
#include "passes/linalg-to-loops/LoopEmitter.h"

using namespace mlir;

namespace tilewright {

Value LoopEmitter::getBuffer(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return target.getArgument(argument.getArgNumber());
  if (const ScheduledStage *scan = model.getScanInto(tensor))
    return buffers[scan][0];
  return buffers[model.getProducer(tensor)][cast<OpResult>(tensor).getResultNumber()];
}

ArrayRef<AffineExpr> LoopEmitter::getOrigin(Value tensor) {
  const ScheduledStage *producer = model.getProducer(tensor);
  return producer ? ArrayRef(bounds[*producer].origin) : ArrayRef<AffineExpr>();
}

/// Lengthens dimensions so that the strides are as the schedule says; what is added is never accessed.
static LogicalResult align(const ScheduledStage &stage, MutableArrayRef<int64_t> shape) {
  for (const ScheduledStage::Alignment &alignment : stage.alignments) {
    ArrayRef<int64_t> within = ArrayRef<int64_t>(shape).drop_front(alignment.dimension + 1);
    if (ShapedType::isDynamicShape(within))
      return emitError(alignment.loc) << "storage_align: expected constant extents within axis '"
                                      << stage.roots[alignment.dimension]->name << "', got one that depends on sizes";
    // The stride of the last dimension is 1.
    int64_t inner = 1;
    for (int64_t extent : shape.drop_front(std::min<size_t>(alignment.dimension + 2, shape.size())))
      inner *= extent;
    auto fits = [&](int64_t extent) { return (extent * inner - alignment.offset) % alignment.factor == 0; };
    bool isLast = alignment.dimension + 1 == shape.size();
    int64_t extent = isLast ? 1 : shape[alignment.dimension + 1];
    // Strides repeat after `factor` steps.
    int64_t end = isLast ? extent + 1 : extent + alignment.factor;
    while (extent < end && !fits(extent))
      ++extent;
    if (extent == end)
      return emitError(alignment.loc) << "storage_align: expected a distance along axis '"
                                      << stage.roots[alignment.dimension]->name << "' that can be " << alignment.offset
                                      << " more than a multiple of " << alignment.factor << ", got multiples of "
                                      << inner;
    if (!isLast)
      shape[alignment.dimension + 1] = extent;
  }
  return success();
}

LogicalResult LoopEmitter::allocate(const ScheduledStage &stage) {
  Attribute space = getMemorySpace(builder.getContext(), *bounds[stage].scope);
  Location loc = NameLoc::get(builder.getStringAttr(stage.name), stage.getLoc());
  for (OpOperand &init : cast<DestinationStyleOpInterface>(stage.getOperation()).getDpsInitsMutable()) {
    Value destination = init.get();
    if (auto fill = destination.getDefiningOp<linalg::FillOp>())
      destination = fill.getDpsInits()[0];
    if (auto argument = dyn_cast<BlockArgument>(destination)) {
      buffers[&stage].push_back(target.getArgument(argument.getArgNumber()));
      continue;
    }
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    OpBuilder::InsertionGuard guard(builder);
    // What a follower leaves in global memory is there for all, wherever it is computed; of another stage each block or
    // thread has a part.
    bool isTemporary = stage.attachStage && bounds[stage].scope == schedule::Scope::Global;
    if (isTemporary)
      builder.setInsertionPointAfter(lastAtTop);
    SmallVector<AffineExpr> extents =
        llvm::map_to_vector(bounds[stage].instances, [&](const Axis *loop) { return bounds[loop].extent; });
    llvm::append_range(extents, stage.externOp ? SmallVector<AffineExpr>(model.getExtents(destination))
                                               : *bounds.getPlacedShape(stage));
    // The tensors of an extern may differ in shape.
    for (AffineExpr extent : extents) {
      auto constant = dyn_cast<AffineConstantExpr>(extent);
      shape.push_back(constant ? constant.getValue() : ShapedType::kDynamic);
      if (!constant)
        dynamic.push_back(materialize(extent, loc));
    }
    if (failed(align(stage, MutableArrayRef(shape).drop_front(bounds[stage].instances.size()))))
      return failure();
    Type element = cast<RankedTensorType>(init.get().getType()).getElementType();
    auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
    Operation *buffer;
    if (bounds[stage].scope == schedule::Scope::Local)
      buffer = memref::AllocaOp::create(builder, loc, type);
    else
      buffer = memref::AllocOp::create(builder, loc, type, dynamic);
    if (isTemporary)
      lastAtTop = buffer;
    buffer->setAttr(te::kStageAttr, builder.getStringAttr(stage.name));
    if (stage.isWarp && bounds[stage].scope == schedule::Scope::Shared && stage.attachStage)
      buffer->setAttr(schedule::kWarpAttr, builder.getI64IntegerAttr(bounds[stage].warpRows));
    if (bounds.isFilledAhead(stage))
      buffer->setAttr(schedule::kPipelinedAttr, builder.getUnitAttr());
    buffers[&stage].push_back(buffer->getResult(0));
  }
  return success();
}

LoopEmitter::Destination LoopEmitter::getResult(const ScheduledStage &stage) {
  Destination result{buffers[&stage], {}, &stage};
  for (auto [root, min, origin] : llvm::zip(stage.roots, bounds[stage].mins, bounds[stage].origin))
    result.indices.push_back(min == origin ? bounds[root].index : simplify(min + bounds[root].index - origin));
  return result;
}

SmallVector<Value> LoopEmitter::createPrivateBuffers(const ScheduledStage &stage, ArrayRef<int64_t> shape,
                                                     StringRef suffix) {
  Location loc = NameLoc::get(builder.getStringAttr(stage.name + suffix), stage.getLoc());
  Attribute name = builder.getStringAttr(stage.name);
  return llvm::map_to_vector(buffers[&stage], [&](Value buffer) -> Value {
    return createPrivateBuffer(builder, loc, shape, cast<MemRefType>(buffer.getType()).getElementType(), name);
  });
}

LoopEmitter::Destination LoopEmitter::getAccumulators(const ScheduledStage &stage, ArrayRef<const Axis *> inner) {
  Destination result = getResult(stage);
  if (bounds[stage].scope == schedule::Scope::Local)
    return result;
  SmallVector<int64_t> shape;
  int64_t elements = 1;
  Destination accumulators;
  for (const Axis *loop : inner) {
    auto extent = dyn_cast<AffineConstantExpr>(bounds[loop].extent);
    if (!extent || loop->bind)
      return result;
    shape.push_back(extent.getValue());
    elements *= extent.getValue();
    accumulators.indices.push_back(bounds[loop].index);
  }
  if (elements > kMaxAccumulators)
    return result;
  accumulators.buffers = createPrivateBuffers(stage, shape, ".acc");
  return accumulators;
}

SmallVector<Value> LoopEmitter::load(const Destination &from, Location loc) {
  SmallVector<Value> values;
  for (Value buffer : from.buffers)
    values.push_back(memref::LoadOp::create(builder, loc, buffer, place(from.stage, from.indices, loc)));
  return values;
}

void LoopEmitter::store(const Destination &to, ValueRange values, Location loc) {
  for (auto [buffer, value] : llvm::zip_equal(to.buffers, values)) {
    auto stored = memref::StoreOp::create(builder, loc, value, buffer, place(to.stage, to.indices, loc));
    if (to.stage)
      markCopy(*to.stage, stored);
    if (to.stage && to.stage->getReduceAdd())
      stored->setAttr(schedule::kReduceAddAttr, builder.getUnitAttr());
  }
}
} // namespace tilewright
