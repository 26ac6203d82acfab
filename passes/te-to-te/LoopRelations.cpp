//===- LoopRelations.cpp - what the schedule has made of a stage's axes ----===//
#include "passes/te-to-te/LoopRelations.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

LogicalResult LoopRelations::read(Operation *op, te::ComputeOp stage, bool reduce) {
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    if (other.hasTrait<schedule::RootAxes>()) {
      if (schedule::stageName(other.getOperand(0)) != stage.getName())
        continue;
      primitives.push_back(&other);
      if (isa<schedule::SingletonOp>(other))
        axes[other.getResult(0)].extent = getAffineConstantExpr(1, context);
      else if (failed(addRoots(&other, stage, reduce)))
        return failure();
    } else if ((other.hasTrait<schedule::AxisTransform>() || isa<schedule::ReorderOp>(other)) &&
               schedule::stageName(schedule::axisStage(other.getOperand(0))) == stage.getName()) {
      primitives.push_back(&other);
      if (auto splitOp = dyn_cast<schedule::SplitOp>(other))
        if (StringRef name = splitOp.getFactorSymbol().value_or(splitOp.getNpartsSymbol().value_or("")); !name.empty())
          return op->emitOpError() << "expected the loops of stage '" << stage.getName()
                                   << "' to be split by numbers, got '" << schedule::axisName(splitOp.getAxis())
                                   << "' split by '" << name << "': split it afterwards";
      addPrimitive(&other);
    }
  }
  return success();
}

LogicalResult LoopRelations::addRoots(Operation *op, te::ComputeOp stage, bool reduce) {
  bool isReduce = isa<schedule::ReduceAxesOp>(op);
  unsigned expected = isReduce ? stage.getNumReduce() : stage.getNumSpatial();
  if (op->getNumResults() != expected)
    return op->emitOpError() << "expected " << expected << (isReduce ? " reduction axes" : " spatial axes")
                             << " of stage '" << stage.getName() << "', got " << op->getNumResults();
  if (isReduce != reduce)
    return success();
  if (!roots.empty())
    return op->emitOpError() << "expected the axes of stage '" << stage.getName()
                             << "' to be named once, got them named again";
  llvm::append_range(roots, op->getResults());
  SmallVector<OpFoldResult> extents = stage.getMixedExtents();
  for (auto [axis, extent] : llvm::zip(roots, ArrayRef(extents).drop_front(reduce ? stage.getNumSpatial() : 0))) {
    auto constant = getConstantIntValue(extent);
    if (!constant)
      symbols.push_back(cast<Value>(extent));
    axes[axis].extent =
        constant ? getAffineConstantExpr(*constant, context) : getAffineSymbolExpr(symbols.size() - 1, context);
  }
  return success();
}

void LoopRelations::addPrimitive(Operation *op) {
  if (auto splitOp = dyn_cast<schedule::SplitOp>(op)) {
    split(splitOp.getAxis(), splitOp.getOuter(), splitOp.getInner(), splitOp.getFactor().value_or(0),
          splitOp.getNparts().value_or(0));
  } else if (auto tile = dyn_cast<schedule::TileOp>(op)) {
    split(tile.getX(), tile.getXOuter(), tile.getXInner(), tile.getXFactor(), 0);
    split(tile.getY(), tile.getYOuter(), tile.getYInner(), tile.getYFactor(), 0);
  } else if (auto fuse = dyn_cast<schedule::FuseOp>(op)) {
    SmallVector<Value> parts = schedule::fusedParts(fuse);
    // Of the axes of the other kind nothing is asked.
    if (parts.empty() || !llvm::all_of(parts, [&](Value part) { return axes.contains(part); }))
      return;
    AffineExpr extent = getAffineConstantExpr(1, context);
    for (Value part : parts)
      extent = extent * axes[part].extent;
    axes[fuse.getFused()].extent = extent;
    relations.push_back({parts, {fuse.getFused()}, /*isSplit=*/false});
  }
}

void LoopRelations::split(Value axis, Value outer, Value inner, int64_t factor, int64_t nparts) {
  auto found = axes.find(axis);
  if (found == axes.end())
    return;
  AffineExpr given = getAffineConstantExpr(factor ? factor : nparts, context);
  AffineExpr rest = found->second.extent.ceilDiv(given);
  axes[outer].extent = factor ? rest : given;
  axes[inner].extent = factor ? given : rest;
  relations.push_back({{axis}, {outer, inner}, /*isSplit=*/true});
}

void LoopRelations::indexRoots() {
  for (Relation &relation : llvm::reverse(relations)) {
    if (relation.isSplit) {
      Axis &outer = axes[relation.below[0]], &inner = axes[relation.below[1]];
      axes[relation.above[0]].index = outer.index * inner.extent + inner.index;
      continue;
    }
    // From the fastest part to the slowest.
    AffineExpr index = axes[relation.below[0]].index;
    for (Value part : llvm::reverse(relation.above)) {
      bool isFirst = part == relation.above.front();
      axes[part].index = isFirst ? index : index % axes[part].extent;
      index = index.floorDiv(axes[part].extent);
    }
  }
}

SmallVector<AffineExpr> LoopRelations::getRootIndices() const {
  return llvm::map_to_vector(roots, [&](Value root) { return axes.find(root)->second.index; });
}

SmallVector<std::pair<AffineExpr, AffineExpr>> LoopRelations::getPredicates() const {
  SmallVector<std::pair<AffineExpr, AffineExpr>> predicates;
  AffineExpr zero = getAffineConstantExpr(0, context);
  for (const Relation &relation : relations) {
    if (!relation.isSplit)
      continue;
    const Axis &whole = axes.find(relation.above[0])->second;
    AffineExpr product = getExtent(relation.below[0]) * getExtent(relation.below[1]);
    if (simplifyAffineExpr(product - whole.extent, 0, symbols.size()) != zero)
      predicates.push_back({whole.index, whole.extent});
  }
  return predicates;
}

OpFoldResult LoopRelations::materialize(OpBuilder &builder, Location loc, AffineExpr expr, ValueRange dims) const {
  SmallVector<OpFoldResult> operands(dims.begin(), dims.end());
  llvm::append_range(operands, symbols);
  return affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(dims.size(), symbols.size(), expr),
                                               operands);
}

void LoopRelations::yieldBody(OpBuilder &builder, Location loc, te::ComputeOp stage, ArrayRef<AffineExpr> places,
                              ArrayRef<TypedAttr> outside) const {
  Block &block = *builder.getInsertionBlock();
  AxisPlaces at{AffineMap::get(block.getNumArguments(), symbols.size(), places, context),
                SmallVector<Value>(block.getArguments())};
  llvm::append_range(at.operands, symbols);
  Value inside;
  for (auto [index, extent] : getPredicates()) {
    auto value = [&](AffineExpr expr) {
      return getValueOrCreateConstantIndexOp(builder, loc, materialize(builder, loc, expr, block.getArguments()));
    };
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, value(index), value(extent));
    inside = inside ? arith::AndIOp::create(builder, loc, inside, holds).getResult() : holds;
  }
  if (!inside) {
    te::YieldOp::create(builder, loc, cloneBodyAt(builder, stage.getLoc(), stage, at));
    return;
  }
  SmallVector<Type> types = llvm::map_to_vector(outside, [](TypedAttr value) { return value.getType(); });
  auto guarded = scf::IfOp::create(builder, loc, types, inside, /*withElseRegion=*/true);
  te::YieldOp::create(builder, loc, guarded.getResults());
  builder.setInsertionPointToStart(guarded.thenBlock());
  scf::YieldOp::create(builder, loc, cloneBodyAt(builder, stage.getLoc(), stage, at));
  builder.setInsertionPointToStart(guarded.elseBlock());
  SmallVector<Value> others = llvm::map_to_vector(
      outside, [&](TypedAttr value) -> Value { return arith::ConstantOp::create(builder, loc, value); });
  scf::YieldOp::create(builder, loc, others);
}

} // namespace tilewright
