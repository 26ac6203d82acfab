//===- CacheWrite.cpp - a stage computes into another memory --------------===//
//
// The new stage takes over the computation, the old one copies. Where the old one's spatial axes were split, fused or
// reordered before, the new stage has the loops that they make as its axes: its tensor lies in the order of the loops.
//
//===----------------------------------------------------------------------===//
#include "passes/te-to-te/Dataflow.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
namespace {

/// The spatial axes of a stage, and the loops that the schedule has made of them, each in terms of the others.
class SpatialLoops {
public:
  SpatialLoops(schedule::CacheWriteOp op, te::ComputeOp stage);

  bool isEmpty() const { return relations.empty() && !isReordered; }
  ArrayRef<Value> getLeaves() const { return leaves; }
  AffineExpr getExtent(Value axis) const { return axes.find(axis)->second.extent; }
  /// The axes, where the loops are the first dims.
  SmallVector<AffineExpr> getRootsOfLeaves();
  /// Where a split does not divide: the axis, which must stay under its extent. In terms of the loops.
  SmallVector<std::pair<AffineExpr, AffineExpr>> getPredicates() const;
  /// The loops, where the axes are the dims.
  SmallVector<AffineExpr> getLeavesOfRoots();

  SmallVector<Value> symbols;          // what the symbols of the expressions stand for
  SmallVector<Operation *> primitives; // which made and took the axes, in order

private:
  struct Axis {
    AffineExpr extent, index;
  };
  struct Relation {
    SmallVector<Value> above, below; // one split into two, or several fused into one
  };
  void split(Value axis, Value outer, Value inner, int64_t factor, int64_t nparts);

  MLIRContext *context;
  DenseMap<Value, Axis> axes;
  SmallVector<Value> roots, leaves;
  SmallVector<Relation> relations;
  bool isReordered = false;
};

SpatialLoops::SpatialLoops(schedule::CacheWriteOp op, te::ComputeOp stage) : context(op.getContext()) {
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    // The axes that a stage has later are others.
    if (other.hasTrait<schedule::ReplacesAxes>())
      continue;
    if (other.hasTrait<schedule::RootAxes>()) {
      if (schedule::stageName(other.getOperand(0)) != stage.getName())
        continue;
      primitives.push_back(&other);
      if (isa<schedule::SingletonOp>(other))
        axes[other.getResult(0)].extent = getAffineConstantExpr(1, context);
      if (!isa<schedule::AxesOp>(other))
        continue;
      llvm::append_range(roots, other.getResults());
      for (auto [axis, extent] : llvm::zip(roots, stage.getMixedExtents())) {
        auto constant = getConstantIntValue(extent);
        if (!constant)
          symbols.push_back(cast<Value>(extent));
        axes[axis].extent = constant ? getAffineConstantExpr(*constant, context) : getAffineSymbolExpr(symbols.size() - 1, context);
      }
      continue;
    }
    if (!(other.hasTrait<schedule::AxisTransform>() || isa<schedule::ReorderOp>(other)) ||
        schedule::stageName(schedule::axisStage(other.getOperand(0))) != stage.getName())
      continue;
    primitives.push_back(&other);
    if (auto splitOp = dyn_cast<schedule::SplitOp>(other)) {
      split(splitOp.getAxis(), splitOp.getOuter(), splitOp.getInner(), splitOp.getFactor().value_or(0),
            splitOp.getNparts().value_or(0));
    } else if (auto tile = dyn_cast<schedule::TileOp>(other)) {
      split(tile.getX(), tile.getXOuter(), tile.getXInner(), tile.getXFactor(), 0);
      split(tile.getY(), tile.getYOuter(), tile.getYInner(), tile.getYFactor(), 0);
    } else if (auto fuse = dyn_cast<schedule::FuseOp>(other)) {
      AffineExpr extent = getAffineConstantExpr(1, context);
      for (Value part : fuse.getAxes())
        extent = extent * axes[part].extent;
      axes[fuse.getFused()].extent = extent;
      relations.push_back({schedule::fusedParts(fuse), {fuse.getFused()}});
    } else {
      isReordered = true;
    }
  }
  for (Value loop : schedule::loopsBefore(op.getOf(), op))
    if (!schedule::isReduceAxis(loop))
      leaves.push_back(loop);
  // Reduction axes alone may have changed places.
  isReordered &= leaves != roots;
}

void SpatialLoops::split(Value axis, Value outer, Value inner, int64_t factor, int64_t nparts) {
  AffineExpr given = getAffineConstantExpr(factor ? factor : nparts, context);
  AffineExpr rest = axes[axis].extent.ceilDiv(given);
  axes[outer].extent = factor ? rest : given;
  axes[inner].extent = factor ? given : rest;
  relations.push_back({{axis}, {outer, inner}});
}

SmallVector<AffineExpr> SpatialLoops::getRootsOfLeaves() {
  for (auto [position, leaf] : llvm::enumerate(leaves))
    axes[leaf].index = getAffineDimExpr(position, context);
  for (Relation &relation : llvm::reverse(relations)) {
    if (relation.below.size() == 2) {
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
  return llvm::map_to_vector(roots, [&](Value root) { return axes.find(root)->second.index; });
}

SmallVector<std::pair<AffineExpr, AffineExpr>> SpatialLoops::getPredicates() const {
  SmallVector<std::pair<AffineExpr, AffineExpr>> predicates;
  AffineExpr zero = getAffineConstantExpr(0, context);
  for (const Relation &relation : relations) {
    if (relation.below.size() != 2)
      continue;
    const Axis &whole = axes.find(relation.above[0])->second;
    AffineExpr product = getExtent(relation.below[0]) * getExtent(relation.below[1]);
    if (simplifyAffineExpr(product - whole.extent, 0, symbols.size()) != zero)
      predicates.push_back({whole.index, whole.extent});
  }
  return predicates;
}

SmallVector<AffineExpr> SpatialLoops::getLeavesOfRoots() {
  for (auto &[axis, known] : axes) // of singletons
    known.index = getAffineConstantExpr(0, context);
  for (auto [position, root] : llvm::enumerate(roots))
    axes[root].index = getAffineDimExpr(position, context);
  for (Relation &relation : relations) {
    if (relation.below.size() == 2) {
      AffineExpr index = axes[relation.above[0]].index, inner = getExtent(relation.below[1]);
      axes[relation.below[0]].index = index.floorDiv(inner);
      axes[relation.below[1]].index = index % inner;
      continue;
    }
    AffineExpr index = getAffineConstantExpr(0, context);
    for (Value part : relation.above)
      index = index * axes[part].extent + axes[part].index;
    axes[relation.below[0]].index = index;
  }
  return llvm::map_to_vector(leaves, [&](Value leaf) { return axes.find(leaf)->second.index; });
}

/// Builds one cache_write in the order of the loops.
class Relayout {
public:
  Relayout(schedule::CacheWriteOp op, te::ComputeOp stage, SpatialLoops &loops)
      : op(op), stage(stage), loops(loops), builder(stage), loc(op.getLoc()) {}
  void rewrite() {
    te::ComputeOp copy = createCopy(createCached());
    stage.replaceAllUsesWith(copy.getResults());
    stage.erase();
  }

private:
  te::ComputeOp createCached();
  void createElement(te::ComputeOp cached);
  te::ComputeOp createCopy(te::ComputeOp cached);
  OpFoldResult materialize(AffineExpr expr, ValueRange dims) {
    SmallVector<OpFoldResult> operands(dims.begin(), dims.end());
    llvm::append_range(operands, loops.symbols);
    return affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(dims.size(), loops.symbols.size(), expr), operands);
  }

  schedule::CacheWriteOp op;
  te::ComputeOp stage;
  SpatialLoops &loops;
  OpBuilder builder;
  Location loc;
};

te::ComputeOp Relayout::createCached() {
  AxisList list;
  SmallVector<int64_t> shape;
  for (Value leaf : loops.getLeaves()) {
    list.spatial.push_back(builder.getStringAttr(schedule::axisName(leaf) + ".c"));
    list.extents.push_back(materialize(loops.getExtent(leaf), {}));
    shape.push_back(getConstantIntValue(list.extents.back()).value_or(ShapedType::kDynamic));
  }
  llvm::append_range(list.reduce, stage.getReduceAxes());
  llvm::append_range(list.extents, ArrayRef(stage.getMixedExtents()).drop_front(stage.getNumSpatial()));
  SmallVector<Type> types;
  for (Type type : stage.getResultTypes())
    types.push_back(RankedTensorType::get(shape, getElementTypeOrSelf(type)));
  te::ComputeOp cached = createCompute(builder, stage.getLoc(), op.getName(), stage, types, list);
  createElement(cached);
  return cached;
}

void Relayout::createElement(te::ComputeOp cached) {
  OpBuilder::InsertionGuard guard(builder);
  Block &block = cached.getBody().front();
  builder.setInsertionPointToEnd(&block);
  SmallVector<AffineExpr> places = loops.getRootsOfLeaves();
  for (unsigned position = loops.getLeaves().size(); position < block.getNumArguments(); ++position)
    places.push_back(builder.getAffineDimExpr(position));
  AxisPlaces at{AffineMap::get(block.getNumArguments(), loops.symbols.size(), places, builder.getContext()),
                SmallVector<Value>(block.getArguments())};
  llvm::append_range(at.operands, loops.symbols);
  Value inside;
  for (auto [index, extent] : loops.getPredicates()) {
    auto value = [&](AffineExpr expr) {
      return getValueOrCreateConstantIndexOp(builder, loc, materialize(expr, block.getArguments()));
    };
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, value(index), value(extent));
    inside = inside ? arith::AndIOp::create(builder, loc, inside, holds).getResult() : holds;
  }
  if (!inside) {
    te::YieldOp::create(builder, loc, cloneBodyAt(builder, stage.getLoc(), stage, at));
    return;
  }
  // Beyond the end of a split there is no element: what stands there nobody reads.
  SmallVector<TypedAttr> outside;
  for (auto [position, type] : llvm::enumerate(stage.getResultTypes()))
    outside.push_back(stage.getNumReduce() ? stage.getIdentities()[position] : builder.getZeroAttr(getElementTypeOrSelf(type)));
  SmallVector<Type> types = llvm::map_to_vector(outside, [](TypedAttr value) { return value.getType(); });
  auto guarded = scf::IfOp::create(builder, loc, types, inside, /*withElseRegion=*/true);
  te::YieldOp::create(builder, loc, guarded.getResults());
  builder.setInsertionPointToStart(guarded.thenBlock());
  scf::YieldOp::create(builder, loc, cloneBodyAt(builder, stage.getLoc(), stage, at));
  builder.setInsertionPointToStart(guarded.elseBlock());
  SmallVector<Value> zeros;
  for (TypedAttr value : outside)
    zeros.push_back(arith::ConstantOp::create(builder, loc, value));
  scf::YieldOp::create(builder, loc, zeros);
}

te::ComputeOp Relayout::createCopy(te::ComputeOp cached) {
  AxisList list;
  llvm::append_range(list.spatial, stage.getAxes());
  list.extents = stage.getMixedExtents();
  list.extents.truncate(stage.getNumSpatial());
  te::ComputeOp copy = createCompute(builder, stage.getLoc(), stage.getName(), stage, stage.getResultTypes(), list);
  OpBuilder::InsertionGuard guard(builder);
  Block &block = copy.getBody().front();
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> indices(block.getArguments());
  llvm::append_range(indices, loops.symbols);
  auto map = AffineMapAttr::get(simplifyAffineMap(
      AffineMap::get(block.getNumArguments(), loops.symbols.size(), loops.getLeavesOfRoots(), builder.getContext())));
  SmallVector<Value> elements;
  for (Value tensor : cached.getResults())
    elements.push_back(te::ReadOp::create(builder, loc, getElementTypeOrSelf(tensor.getType()), tensor, indices, map));
  te::YieldOp::create(builder, loc, elements);
  return copy;
}
} // namespace

LogicalResult applyCacheWrite(schedule::CacheWriteOp op, Dataflow &dataflow) {
  if (failed(checkIsFree(op, dataflow)))
    return failure();
  te::ComputeOp stage = dataflow.getStage(schedule::stageName(op.getOf()));
  if (!stage)
    return op.emitOpError() << "expected the name of a stage, got '" << schedule::stageName(op.getOf()) << "'";
  if (stage.getScan())
    return op.emitOpError() << "expected a stage whose elements can be kept elsewhere, got the scan '" << stage.getName()
                            << "', which reads its own";
  std::string name = stage.getName().str();
  SpatialLoops loops(op, stage);
  if (loops.isEmpty()) {
    OpBuilder builder(stage->getContext());
    builder.setInsertionPointAfter(stage);
    te::ComputeOp copy = createCopy(builder, stage.getLoc(), stage.getName(), stage.getResults(), stage.getAxes());
    stage->replaceUsesWithIf(copy->getResults(), [&](OpOperand &use) { return !copy->isAncestor(use.getOwner()); });
    stage.setName(op.getName());
  } else {
    Relayout(op, stage, loops).rewrite();
  }
  replaceByStage(op, op.getName(), op.getScopeAttr());
  // The stage has other axes now.
  for (Operation *old : llvm::reverse(loops.primitives)) {
    if (!old->use_empty())
      return old->emitOpError() << "expected the axes of stage '" << name << "' to be named anew after its cache_write, got "
                                << "a use of those that it had before";
    old->erase();
  }
  return success();
}
} // namespace tilewright
