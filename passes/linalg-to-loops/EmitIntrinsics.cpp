//===- EmitIntrinsics.cpp - tiles that an intrinsic computes --------------===//
#include "dialects/Schedule/MatrixNests.h"
#include "dialects/TE/BufferAllocation.h"
#include "passes/linalg-to-loops/LoopEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tilewright {

/// Every place of the tile must be one of the tensor: an intrinsic does not leave out elements.
LogicalResult LoopEmitter::checkTileIsWhole(const ScheduledStage &stage, ArrayRef<const Axis *> tile) {
  schedule::TensorizeOp primitive = stage.tensorize;
  for (const Predicate &predicate : getPredicates(stage)) {
    bool isInTile = false;
    predicate.expr.walk([&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      isInTile |= dim && llvm::any_of(tile, [&](const Axis *loop) { return bounds[loop].dim == dim.getPosition(); });
    });
    if (isInTile)
      return emitError(primitive.getLoc()) << "tensorize of stage '" << stage.name << "' by '" << primitive.getName()
                                           << "': expected tiles that are whole, got tiles at the end of an axis that "
                                              "reach over it: split by numbers that "
                                              "divide the extents, or pad them";
  }
  return success();
}

SmallVector<Operation *> LoopEmitter::emitStatements(const ScheduledStage &stage,
                                                     llvm::iterator_range<Block::iterator> statements,
                                                     ArrayRef<TileArgument> arguments) {
  if (statements.empty())
    return {};
  Block &body = *statements.begin()->getBlock();
  IRMapping mapping;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(*body.getParent(), captured);
  for (Value value : captured)
    mapping.map(value, getCaptured(value));
  SmallVector<Operation *> clones, accesses;
  for (Operation &op : statements)
    clones.push_back(builder.clone(op, mapping));
  for (Operation *clone : clones)
    clone->walk([&](Operation *op) {
      if (isa<memref::LoadOp, memref::StoreOp>(op))
        accesses.push_back(op);
      if (auto axis = op->getAttrOfType<schedule::AxisAttr>(schedule::kAxisAttr))
        op->setAttr(schedule::kAxisAttr, schedule::AxisAttr::get(builder.getContext(), axis.getAxis(), stage.name));
      if (!allocatesBuffer(op))
        return;
      auto own = op->getAttrOfType<StringAttr>(te::kStageAttr);
      op->setAttr(te::kStageAttr, builder.getStringAttr(own ? stage.name + "." + own.getValue() : Twine(stage.name)));
    });
  OpBuilder::InsertionGuard guard(builder);
  AffineExpr sum = builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1);
  for (Operation *access : accesses) {
    auto load = dyn_cast<memref::LoadOp>(access);
    auto argument = dyn_cast<BlockArgument>(load ? load.getMemRef() : cast<memref::StoreOp>(access).getMemRef());
    if (!argument || argument.getOwner() != &body)
      continue;
    const TileArgument &given = arguments[argument.getArgNumber()];
    ValueRange own = load ? load.getIndices() : cast<memref::StoreOp>(access).getIndices();
    builder.setInsertionPoint(access);
    Location loc = access->getLoc();
    SmallVector<Value> indices;
    for (auto [base, moves] : llvm::zip(given.base, given.moves)) {
      std::optional<int64_t> constant = moves < 0 ? 0 : getConstantIntValue(own[moves]);
      if (constant)
        indices.push_back(materialize(base + *constant, loc));
      else if (base == builder.getAffineConstantExpr(0))
        indices.push_back(own[moves]);
      else
        indices.push_back(affine::makeComposedAffineApply(builder, loc, sum, {materialize(base, loc), own[moves]}));
    }
    Value buffer = getBuffer(given.tensor);
    indices = place(model.getProducer(given.tensor), indices, loc);
    Operation *made;
    if (load)
      made = memref::LoadOp::create(builder, loc, buffer, indices);
    else
      made = memref::StoreOp::create(builder, loc, cast<memref::StoreOp>(access).getValue(), buffer, indices);
    access->replaceAllUsesWith(made);
    if (auto clone = llvm::find(clones, access); clone != clones.end())
      *clone = made;
    access->erase();
  }
  // The tile was proven to be a matmul, whose last argument is the result.
  for (Operation *clone : clones)
    clone->walk([&](scf::ForOp loop) {
      if (loop->hasAttr(schedule::kInstructionAttr))
        schedule::markMatrixNest(loop, getBuffer(arguments.back().tensor));
    });
  return clones;
}

/// The identity of a reduction, where its intrinsic sets the elements in the first iteration, and there is none.
LogicalResult LoopEmitter::emitIdentityWithoutIterations(const ScheduledStage &stage, ArrayRef<const Axis *> around,
                                                         ArrayRef<const Axis *> tile) {
  Location loc = stage.getLoc();
  SmallVector<const Axis *> spatial;
  Value isNothing;
  for (const Axis *loop : around) {
    AffineExpr extent = bounds[loop].extent;
    if (!loop->isReduce) {
      spatial.push_back(loop);
    } else if (!isa<AffineConstantExpr>(extent)) {
      Value none =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, materialize(extent, loc), getConstant(0));
      isNothing = isNothing ? arith::OrIOp::create(builder, loc, isNothing, none).getResult() : none;
    }
  }
  if (!isNothing)
    return success();
  llvm::copy_if(tile, std::back_inserter(spatial), [](const Axis *loop) { return !loop->isReduce; });
  auto nothing = scf::IfOp::create(builder, loc, isNothing, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(nothing.thenBlock());
  return emitLoops(spatial, /*withAttached=*/false, [&] {
    return emitGuarded(stage, false, [&]() -> LogicalResult {
      auto identity = emitIdentity(stage);
      if (failed(identity))
        return failure();
      store(getResult(stage), *identity, loc);
      return success();
    });
  });
}

LogicalResult LoopEmitter::emitTensorized(const ScheduledStage &stage) {
  auto matched = matchTile(model, bounds, stage);
  if (failed(matched))
    return failure();
  ArrayRef<const Axis *> loops(bounds[stage].loops);
  unsigned position = llvm::find(loops, stage.tensorizeAt) - loops.begin();
  ArrayRef<const Axis *> around = loops.take_front(position), tile = loops.drop_front(position);
  if (failed(checkTileIsWhole(stage, tile)))
    return failure();
  // In the description inputs come before results, and so do the arguments of what computes it.
  SmallVector<TileArgument> arguments;
  for (TileArgument &argument : matched->arguments) {
    // A tensor's elements, where its buffer has them.
    if (const ScheduledStage *producer = model.getProducer(argument.tensor); producer && producer != &stage)
      for (auto [base, origin] : llvm::zip(argument.base, bounds[*producer].origin))
        base = simplify(base - origin);
    arguments.push_back(argument);
  }
  auto call = [&](func::FuncOp function) {
    return [&, function]() mutable -> LogicalResult {
      emitStatements(stage, function.getBody().front().without_terminator(), arguments);
      return success();
    };
  };
  auto guarded = [&](bool withReduction, Leaf leaf) { return emitGuarded(stage, withReduction, leaf); };
  if (stage.numSpatial == stage.roots.size() || (matched->isWholeReduction && matched->body))
    return emitLoops(around, /*withAttached=*/true, [&] { return guarded(true, call(matched->body)); });
  unsigned firstReduce = std::min(getFirstReduce(bounds[stage].loops), position);
  return emitLoops(around.take_front(firstReduce), /*withAttached=*/true, [&]() -> LogicalResult {
    SmallVector<const Axis *> spatial, reduce;
    for (const Axis *loop : around.drop_front(firstReduce))
      (loop->isReduce ? reduce : spatial).push_back(loop);
    if (matched->reset && failed(emitLoops(spatial, false, [&] { return guarded(false, call(matched->reset)); })))
      return failure();
    if (!matched->reset && failed(emitIdentityWithoutIterations(stage, around.drop_front(firstReduce), tile)))
      return failure();
    return emitLoops(around.drop_front(firstReduce), /*withAttached=*/true, [&] {
      return guarded(true, [&]() -> LogicalResult {
        if (matched->reset)
          return call(matched->update)();
        // The first part of the reduction is computed as if it were the whole, the others are added.
        Location loc = stage.getLoc();
        Value isFirst;
        for (const Axis *loop : reduce) {
          auto extent = dyn_cast<AffineConstantExpr>(bounds[loop].extent);
          if (extent && extent.getValue() == 1)
            continue;
          Value here = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                             materialize(bounds[loop].index, loc), getConstant(0));
          isFirst = isFirst ? arith::AndIOp::create(builder, loc, isFirst, here).getResult() : here;
        }
        if (!isFirst)
          return call(matched->body)();
        auto choice = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/true);
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(choice.thenBlock());
        if (failed(call(matched->body)()))
          return failure();
        builder.setInsertionPointToStart(choice.elseBlock());
        return call(matched->update)();
      });
    });
  });
}
} // namespace tilewright
