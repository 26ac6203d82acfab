//===- CacheWrite.cpp - a stage computes into another memory --------------===//
//
// The new stage takes over the computation, the old one copies. Where the old one's spatial axes were split, fused or
// reordered before, the new stage has the loops that they make as its axes: its tensor lies in the order of the loops.
//
//===----------------------------------------------------------------------===//
#include "passes/te-to-te/LoopRelations.h"

using namespace mlir;

namespace tilewright {
namespace {

/// The spatial axes of a stage, and the loops that the schedule has made of them.
class SpatialLoops : public LoopRelations {
public:
  explicit SpatialLoops(MLIRContext *context) : LoopRelations(context) {}
  LogicalResult read(schedule::CacheWriteOp op, te::ComputeOp stage);

  bool isEmpty() const { return relations.empty() && !isReordered; }
  ArrayRef<Value> getLeaves() const { return leaves; }
  /// The axes, where the loops are the first dims.
  SmallVector<AffineExpr> getRootsOfLeaves();
  /// The loops, where the axes are the dims.
  SmallVector<AffineExpr> getLeavesOfRoots();

private:
  SmallVector<Value> leaves;
  bool isReordered = false;
};

LogicalResult SpatialLoops::read(schedule::CacheWriteOp op, te::ComputeOp stage) {
  if (failed(LoopRelations::read(op, stage, /*reduce=*/false)))
    return failure();
  for (Value loop : schedule::loopsBefore(op.getOf(), op))
    if (!schedule::isReduceAxis(loop))
      leaves.push_back(loop);
  assert(llvm::all_of(leaves, [&](Value leaf) { return axes.contains(leaf); }) &&
         "fuse's verifier keeps spatial axes apart");
  // Reduction axes alone may have changed places.
  isReordered = llvm::any_of(primitives, llvm::IsaPred<schedule::ReorderOp>) && leaves != roots;
  return success();
}

SmallVector<AffineExpr> SpatialLoops::getRootsOfLeaves() {
  for (auto [position, leaf] : llvm::enumerate(leaves))
    axes[leaf].index = getAffineDimExpr(position, context);
  indexRoots();
  return getRootIndices();
}

SmallVector<AffineExpr> SpatialLoops::getLeavesOfRoots() {
  for (auto &[axis, known] : axes) // of singletons
    known.index = getAffineConstantExpr(0, context);
  for (auto [position, root] : llvm::enumerate(roots))
    axes[root].index = getAffineDimExpr(position, context);
  for (Relation &relation : relations) {
    if (relation.isSplit) {
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
    list.extents.push_back(loops.materialize(builder, loc, loops.getExtent(leaf), {}));
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
  // Beyond the end of a split there is no element: what stands there nobody reads.
  SmallVector<TypedAttr> outside;
  for (auto [position, type] : llvm::enumerate(stage.getResultTypes()))
    outside.push_back(stage.getNumReduce() ? stage.getIdentities()[position]
                                           : builder.getZeroAttr(getElementTypeOrSelf(type)));
  loops.yieldBody(builder, loc, stage, places, outside);
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
  FailureOr<te::ComputeOp> found = dataflow.findStage(op, op.getOf());
  if (failed(found))
    return failure();
  te::ComputeOp stage = *found;
  if (stage.getScan())
    return op.emitOpError() << "expected a stage whose elements can be kept elsewhere, got the scan '"
                            << stage.getName() << "', which reads its own";
  std::string name = stage.getName().str();
  SpatialLoops loops(op.getContext());
  if (failed(loops.read(op, stage)))
    return failure();
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
      return old->emitOpError() << "expected the axes of stage '" << name
                                << "' to be named anew after its cache_write, got "
                                << "a use of those that it had before";
    old->erase();
  }
  return success();
}
} // namespace tilewright
