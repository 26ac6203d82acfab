//===- LoopEmitter.cpp - loops, predicates and leaves ---------------------===//
#include "passes/linalg-to-loops/LoopEmitter.h"
#include "passes/Repair.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tilewright {

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
  // One iteration needs no loop, unless it says something of the launch, of roles or of TMA: what is
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
        loop->setAttr(schedule::kRollingAttr, schedule::RollingAttr::get(builder.getContext(), rolling->first));
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
  if (stage.getReduceAdd())
    emitZeros(stage);
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
  if (firstReduce == loops.size())
    return emitLoops(loops, /*withAttached=*/true, [&] {
      return emitGuarded(stage, true, [&]() -> LogicalResult {
        auto values = emitAddend(stage);
        if (failed(values))
          return failure();
        store(getResult(stage), *values, stage.getLoc());
        return success();
      });
    });
  if (stage.decomposeAt)
    firstReduce = llvm::find(bounds[stage].loops, stage.decomposeAt) - bounds[stage].loops.begin();
  return emitLoops(loops.take_front(firstReduce), /*withAttached=*/true, [&]() -> LogicalResult {
    SmallVector<const Axis *> inner;
    for (const Axis *loop : loops.drop_front(firstReduce))
      if (!loop->isReduce)
        inner.push_back(loop);
    Destination accumulators = getAccumulators(stage, inner), result = getResult(stage);
    bool beside = accumulators.buffers != result.buffers;
    if (const Axis *blocks = stage.getReduceAdd(); blocks && !beside)
      return emitError(blocks->loc) << "bind: expected loops of constant extents, without an index, over at most "
                                    << kMaxAccumulators << " elements inside the reduction of stage '" << stage.name
                                    << "' for reduce_add, as a thread has its sums in registers";
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
