//===- LoopEmitter.cpp - loops, predicates, buffers and leaves ------------===//
#include "passes/linalg-to-loops/LoopEmitter.h"
#include "passes/AddressSpaces.h"
#include "passes/Repair.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tilewright {

/// Accumulators beyond this many elements would not be registers: the stage then accumulates in its own buffer.
static constexpr int64_t kMaxAccumulators = 1024;

LoopEmitter::LoopEmitter(const StageModel &model, const LoopBounds &bounds, func::FuncOp target)
    : model(model), bounds(bounds), target(target), builder(target.getContext()) {}

LogicalResult LoopEmitter::emit() {
  builder.setInsertionPointToStart(&target.getBody().front());
  auto end = func::ReturnOp::create(builder, target.getLoc());
  builder.setInsertionPoint(end);
  getConstant(0);
  for (auto &stage : model.stages)
    if (!stage->attachStage && failed(emitStage(*stage)))
      return failure();
  for (auto [loop, maxSteps] : autoUnrolled)
    markUnrolled(loop, maxSteps);
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

scf::ForOp LoopEmitter::openLoop(const Axis *axis, ValueRange inits) {
  Location loc = NameLoc::get(builder.getStringAttr(axis->name), axis->loc);
  Value upper = materialize(bounds[axis].extent, loc);
  auto loop = scf::ForOp::create(builder, loc, getConstant(0), upper, getConstant(1), inits);
  loop->setAttr(schedule::kAxisAttr, schedule::AxisAttr::get(builder.getContext(), axis->name, axis->stage->name));
  if (axis->bind)
    loop->setAttr(schedule::kBindAttr, schedule::ThreadTagAttr::get(builder.getContext(), *axis->bind));
  if (axis->vectorize)
    loop->setAttr(schedule::kVectorizeAttr, builder.getUnitAttr());
  if (axis->unroll)
    loop->setAttr(schedule::kUnrollAttr, builder.getUnitAttr());
  if (axis->parallel)
    loop->setAttr(schedule::kParallelAttr, builder.getUnitAttr());
  if (axis->partition)
    loop->setAttr(schedule::kPartitionAttr, builder.getUnitAttr());
  if (axis->isOrdered)
    loop->setAttr(te::kScanAttr, builder.getUnitAttr());
  if (axis->autoUnroll)
    autoUnrolled.push_back({loop, *axis->autoUnroll});
  if (axis->cluster)
    loop->setAttr(schedule::kClusterAttr, builder.getI64IntegerAttr(axis->cluster));
  markKernel(*axis->stage, loop);
  loopValues[bounds[axis].dim] = loop.getInductionVar();
  if (inits.empty())
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    builder.setInsertionPointToStart(loop.getBody());
  return loop;
}

LogicalResult LoopEmitter::emitLoops(ArrayRef<const Axis *> loops, bool withAttached, Leaf leaf) {
  if (loops.empty())
    return leaf();
  const Axis *axis = loops.front();
  OpBuilder::InsertionGuard guard(builder);
  auto extent = dyn_cast<AffineConstantExpr>(bounds[axis].extent);
  // What a rolling buffer holds is kept from one iteration to the next.
  if (withAttached)
    for (const ScheduledStage *stage : axis->stage->attached)
      if (stage->attachAxis == axis && bounds[*stage].rollingDim && failed(allocate(*stage)))
        return failure();
  // One iteration needs no loop, unless it says something of the launch, of roles or of the copy engine: what is
  // computed at an outermost one is of the same kernel as the loops inside.
  auto isHere = [&](const ScheduledStage *stage) { return stage->attachAxis == axis; };
  bool isFilledByEngine = axis->pipelineDepth && llvm::any_of(axis->stage->attached, [&](const ScheduledStage *stage) {
                            return isHere(stage) && stage->copiedBy;
                          });
  bool keepsTogether = withAttached && isa<func::FuncOp>(builder.getInsertionBlock()->getParentOp()) &&
                       (bounds[*axis->stage].bufferAxis == axis || llvm::any_of(axis->stage->attached, isHere) ||
                        llvm::any_of(axis->stage->followers, isHere));
  if (!extent || extent.getValue() != 1 || axis->bind || axis->specialized || isFilledByEngine || keepsTogether) {
    scf::ForOp loop = openLoop(axis);
    if (axis->pipelineDepth && withAttached) {
      loop->setAttr(schedule::kPipelineAttr,
                    schedule::PipelineAttr::get(builder.getContext(), axis->pipelineDepth, axis->pipelineAsync));
      if (axis->specialized)
        loop->setAttr(schedule::kSpecializeAttr, axis->specialized);
      if (auto &rolling = axis->stage->rolling)
        loop->setAttr(schedule::kRollingAttr, builder.getStringAttr(rolling->first));
    }
  }
  if (withAttached)
    emitPrefetches(axis);
  if (withAttached && bounds[*axis->stage].bufferAxis == axis && failed(allocate(*axis->stage)))
    return failure();
  if (withAttached)
    for (const ScheduledStage *stage : axis->stage->attached)
      if (stage->attachAxis == axis && failed(emitStage(*stage)))
        return failure();
  if (failed(emitLoops(loops.drop_front(), withAttached, leaf)))
    return failure();
  if (withAttached)
    for (const ScheduledStage *stage : axis->stage->followers)
      if (stage->attachAxis == axis && failed(emitStage(*stage)))
        return failure();
  return success();
}

SmallVector<LoopEmitter::Predicate> LoopEmitter::getPredicates(const ScheduledStage &stage) {
  SmallVector<Predicate> predicates;
  auto extent = [&](unsigned dim) { return bounds.getExtent(dim); };
  auto add = [&](AffineExpr expr, AffineExpr bound, bool onReduction) {
    expr = simplify(expr);
    if (isProvablyLess(expr, bound, extent))
      return;
    for (const Predicate &known : predicates)
      if (known.expr == expr && known.bound == bound)
        return;
    predicates.push_back({expr, bound, onReduction});
  };
  // A split that does not divide runs over the end of its axis.
  std::function<void(const Axis *)> visit = [&](const Axis *axis) {
    const AxisBounds &made = bounds[axis];
    if (made.outer) {
      add(made.index, made.extent, axis->isReduce);
      visit(made.outer);
      visit(made.inner);
    } else if (made.fused && axis == made.fused->parts.front()) {
      visit(made.fused);
    }
  };
  for (const Axis *singleton : stage.singletons)
    visit(singleton);
  for (auto [i, root] : llvm::enumerate(stage.roots)) {
    visit(root);
    if (i >= stage.numSpatial)
      continue;
    // What the readers need may reach over the ends of the tensor.
    AffineExpr position = simplify(bounds[stage].mins[i] + bounds[root].index);
    add(position, stage.roots[i]->wholeExtent, false);
    if (!isProvablyNonNegative(position, extent))
      predicates.push_back({position, nullptr, false});
  }
  return predicates;
}

LogicalResult LoopEmitter::emitGuarded(const ScheduledStage &stage, bool withReduction, Leaf leaf) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = stage.getLoc();
  Value condition;
  for (const Predicate &predicate : getPredicates(stage)) {
    if (predicate.onReduction && !withReduction)
      continue;
    Value holds = arith::CmpIOp::create(
        builder, loc, predicate.bound ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge,
        materialize(predicate.expr, loc), predicate.bound ? materialize(predicate.bound, loc) : getConstant(0));
    condition = condition ? arith::AndIOp::create(builder, loc, condition, holds).getResult() : holds;
  }
  if (Value isNew = emitIsNew(stage))
    condition = condition ? arith::AndIOp::create(builder, loc, condition, isNew).getResult() : isNew;
  if (condition)
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false).thenBlock());
  return leaf();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

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
  }
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

LogicalResult LoopEmitter::emitStage(const ScheduledStage &stage) {
  if (!bounds[stage].bufferAxis && !bounds[stage].rollingDim && !stage.isUpdate && failed(allocate(stage)))
    return failure();
  // Stages in the steps of a scan read what any of its updates writes.
  for (const ScheduledStage *update : stage.updates)
    if (failed(allocate(*update)))
      return failure();
  if (stage.externOp)
    return emitExtern(stage);
  if (stage.isEmpty)
    return success();
  OpBuilder::InsertionGuard guard(builder);
  if (!stage.attachStage)
    openEnvThreads(stage);
  if (stage.tensorizeAt)
    return emitTensorized(stage);
  if (stage.numSpatial != stage.roots.size())
    return emitReduction(stage, getFirstReduce(bounds[stage].loops));
  return emitLoops(bounds[stage].loops, /*withAttached=*/true, [&] {
    return emitGuarded(stage, true, [&]() -> LogicalResult {
      auto values = emitBody(stage, {});
      if (failed(values))
        return failure();
      store(getResult(stage), *values, stage.getLoc());
      return success();
    });
  });
}

LogicalResult LoopEmitter::emitReduction(const ScheduledStage &stage, unsigned firstReduce) {
  ArrayRef<const Axis *> loops(bounds[stage].loops);
  if (llvm::any_of(loops.drop_front(firstReduce), [](const Axis *loop) { return loop->isReduce && loop->bind; }))
    return emitThreadReduction(stage, firstReduce);
  if (stage.decomposeAt)
    firstReduce = llvm::find(bounds[stage].loops, stage.decomposeAt) - bounds[stage].loops.begin();
  return emitLoops(loops.take_front(firstReduce), /*withAttached=*/true, [&]() -> LogicalResult {
    SmallVector<const Axis *> inner;
    for (const Axis *loop : loops.drop_front(firstReduce))
      if (!loop->isReduce)
        inner.push_back(loop);
    Destination accumulators = getAccumulators(stage, inner), result = getResult(stage);
    bool beside = accumulators.buffers != result.buffers;
    auto init = [&]() -> LogicalResult {
      auto identity = emitIdentity(stage);
      if (failed(identity))
        return failure();
      store(accumulators, *identity, stage.getLoc());
      return success();
    };
    auto update = [&]() -> LogicalResult {
      auto values = emitBody(stage, load(accumulators, stage.getLoc()));
      if (failed(values))
        return failure();
      store(accumulators, *values, stage.getLoc());
      return success();
    };
    // Every accumulator exists, so only a result needs its predicates to be set to the identity.
    if (failed(emitLoops(inner, false, [&] { return beside ? init() : emitGuarded(stage, false, init); })) ||
        failed(emitLoops(loops.drop_front(firstReduce), true, [&] { return emitGuarded(stage, true, update); })))
      return failure();
    if (!beside)
      return success();
    return emitLoops(inner, false, [&] {
      return emitGuarded(stage, false, [&] {
        store(result, load(accumulators, stage.getLoc()), stage.getLoc());
        return success();
      });
    });
  });
}

FailureOr<SmallVector<Value>> LoopEmitter::emitIdentity(const ScheduledStage &stage) {
  SmallVector<Value> identity;
  for (Value init : linalg::GenericOp(stage.op).getDpsInits()) {
    auto fill = init.getDefiningOp<linalg::FillOp>();
    TypedAttr value;
    if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&value)))
      return emitError(stage.getLoc()) << "stage '" << stage.name
                                       << "': expected a reduction that starts from linalg.fill with a constant";
    identity.push_back(arith::ConstantOp::create(builder, stage.getLoc(), value));
  }
  return identity;
}

FailureOr<SmallVector<Value>> LoopEmitter::emitBody(const ScheduledStage &stage, ValueRange carried) {
  linalg::GenericOp op = stage.op;
  SmallVector<AffineExpr> position; // of each root axis, in the whole tensor
  for (auto [i, root] : llvm::enumerate(stage.roots))
    position.push_back(i < stage.numSpatial ? simplify(bounds[stage].mins[i] + bounds[root].index)
                                            : bounds[root].index);

  IRMapping mapping;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument element = op.getMatchingBlockArgument(operand);
    if (element.use_empty())
      continue;
    if (!isa<RankedTensorType>(operand->get().getType()))
      return emitError(stage.getLoc()) << "stage '" << stage.name << "': expected operands that are tensors, got "
                                       << operand->get().getType();
    SmallVector<AffineExpr> indices;
    ArrayRef<AffineExpr> origin = getOrigin(operand->get());
    for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(operand).getResults())) {
      AffineExpr index = expr.replaceDims(position);
      indices.push_back(simplify(origin.empty() ? index : index - origin[d]));
    }
    mapping.map(element, memref::LoadOp::create(builder, element.getLoc(), getBuffer(operand->get()),
                                                place(model.getProducer(operand->get()), indices, stage.getLoc())));
  }
  for (auto [element, value] : llvm::zip(op.getRegionOutputArgs(), carried))
    mapping.map(element, value);

  // Extents that the body mentions, which stand at the top of the function.
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegion(), captured);
  for (Value value : captured)
    if (!isa<TensorType>(value.getType()))
      mapping.map(value, getCaptured(value));

  // Reads at computed indices and axes used as values are resolved in the copy.
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.getInsertionBlock();
  Operation *before =
      builder.getInsertionPoint() == block->begin() ? nullptr : &*std::prev(builder.getInsertionPoint());
  for (Operation &inner : op.getBody()->without_terminator())
    builder.clone(inner, mapping);
  SmallVector<Operation *> toResolve;
  auto end = builder.getInsertionPoint();
  for (auto it = before ? std::next(before->getIterator()) : block->begin(); it != end; ++it)
    it->walk([&](Operation *inner) {
      inner->removeAttr(te::kCombineAttr);
      if (isa<linalg::IndexOp, tensor::ExtractOp>(inner))
        toResolve.push_back(inner);
    });
  SmallVector<Value> yielded;
  for (Value value : op.getBody()->getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  for (Operation *inner : toResolve) {
    builder.setInsertionPoint(inner);
    Value replacement;
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      replacement = materialize(position[index.getDim()], inner->getLoc());
    } else {
      auto extract = cast<tensor::ExtractOp>(inner);
      // A scan reads what it wrote.
      auto own = llvm::find(op.getDpsInits(), extract.getTensor());
      bool isOwn = own != op.getDpsInits().end();
      const ScheduledStage *producer = isOwn ? &stage : model.getProducer(extract.getTensor());
      SmallVector<Value> indices(extract.getIndices());
      AffineExpr difference = builder.getAffineDimExpr(0) - builder.getAffineDimExpr(1);
      for (auto [index, min] :
           llvm::zip(indices, producer ? ArrayRef(bounds[*producer].origin) : ArrayRef<AffineExpr>()))
        if (min != builder.getAffineConstantExpr(0)) // as one expression with the index, which it may cancel in part
          index = affine::makeComposedAffineApply(builder, inner->getLoc(), difference,
                                                  {index, materialize(min, inner->getLoc())});
      Value buffer = isOwn ? buffers[&stage][own - op.getDpsInits().begin()] : getBuffer(extract.getTensor());
      indices = place(producer, ArrayRef<Value>(indices), inner->getLoc());
      replacement = memref::LoadOp::create(builder, inner->getLoc(), buffer, indices);
    }
    std::replace(yielded.begin(), yielded.end(), Value(inner->getResult(0)), replacement);
    inner->getResult(0).replaceAllUsesWith(replacement);
    inner->erase();
  }
  return yielded;
}
} // namespace tilewright
