//===- ApplyRfactor.cpp - one reduction becomes two -----------------------===//
//
// rfactor keeps one loop of a reduction as an axis of a new stage, which reduces over the other loops; the old stage
// then reduces over that axis alone. The loops that the axis is of one make with become axes of the expression itself.
//
//===----------------------------------------------------------------------===//
#include "passes/te-to-te/LoopRelations.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {
namespace {

/// The reduction axes of a stage as the schedule has split and fused them.
class ReductionLoops : public LoopRelations {
public:
  explicit ReductionLoops(MLIRContext *context) : LoopRelations(context) {}
  LogicalResult read(schedule::RfactorOp op, te::ComputeOp stage);

  /// What the axes of the factored stage are, spatial axes left out: the axis itself, then those it is to reduce over.
  ArrayRef<Value> getFactoredAxes() const { return factored.getArrayRef(); }
  /// Gives each of the factored axes its place among dims, and so every other its value.
  void assignDims(ArrayRef<unsigned> positions);

private:
  /// Keeps of the relations those that touch the factored axis's loops.
  void findFactoredAxes(schedule::RfactorOp op);

  llvm::SmallSetVector<Value, 8> touched, factored;
};

LogicalResult ReductionLoops::read(schedule::RfactorOp op, te::ComputeOp stage) {
  if (failed(LoopRelations::read(op, stage, /*reduce=*/true)))
    return failure();
  assert(axes.contains(op.getAxis()) && "rfactor's verifier takes reduction axes of its stage alone");
  findFactoredAxes(op);
  return success();
}

void ReductionLoops::findFactoredAxes(schedule::RfactorOp op) {
  touched.insert(op.getAxis());
  auto isTouched = [&](Value axis) { return touched.contains(axis); };
  for (size_t before = 0; before != touched.size();) {
    before = touched.size();
    for (Relation &relation : relations)
      if (llvm::any_of(relation.above, isTouched) || llvm::any_of(relation.below, isTouched)) {
        touched.insert(relation.above.begin(), relation.above.end());
        touched.insert(relation.below.begin(), relation.below.end());
      }
  }
  llvm::erase_if(relations, [&](Relation &relation) { return !isTouched(relation.below[0]); });
  factored.insert(op.getAxis());
  for (Value root : roots)
    if (!isTouched(root))
      factored.insert(root);
  for (Value loop : schedule::loopsBefore(op.getOf(), op))
    if (isTouched(loop))
      factored.insert(loop);
}

void ReductionLoops::assignDims(ArrayRef<unsigned> positions) {
  for (auto [axis, position] : llvm::zip_equal(factored, positions)) {
    // An axis of one element has one place.
    bool isOne = axes[axis].extent == getAffineConstantExpr(1, context);
    axes[axis].index = isOne ? getAffineConstantExpr(0, context) : getAffineDimExpr(position, context);
  }
  indexRoots();
}

} // namespace

te::ComputeOp createCompute(OpBuilder &builder, Location loc, StringRef name, te::ComputeOp like, TypeRange types,
                            const AxisList &axes) {
  SmallVector<int64_t> staticExtents;
  SmallVector<Value> dynamicExtents;
  dispatchIndexOpFoldResults(axes.extents, dynamicExtents, staticExtents);
  bool reduces = !axes.reduce.empty();
  auto compute = te::ComputeOp::create(
      builder, loc, types, builder.getStringAttr(name), builder.getArrayAttr(axes.spatial),
      builder.getArrayAttr(axes.reduce), builder.getDenseI64ArrayAttr(staticExtents), dynamicExtents,
      reduces ? like.getReducerAttr() : nullptr, reduces ? like.getIdentityAttr() : nullptr,
      reduces ? like.getIsUnsignedAttr() : nullptr, /*scan=*/UnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&compute.getBody());
  for (size_t i = 0; i < axes.extents.size(); ++i)
    block->addArgument(builder.getIndexType(), loc);
  IRMapping mapping;
  if (reduces)
    like.getCombiner().cloneInto(&compute.getCombiner(), mapping);
  return compute;
}

namespace {
/// Builds one rfactor.
class Factoring {
public:
  Factoring(schedule::RfactorOp op, te::ComputeOp stage)
      : op(op), stage(stage), loops(op.getContext()), builder(stage), factorAxis(op.getFactorAxis()) {}
  LogicalResult rewrite();
  ArrayRef<Operation *> getOldPrimitives() const { return loops.primitives; }

private:
  te::ComputeOp createFactored();
  void createElement(te::ComputeOp factored);
  te::ComputeOp createRest(te::ComputeOp factored);

  schedule::RfactorOp op;
  te::ComputeOp stage;
  ReductionLoops loops;
  OpBuilder builder;
  unsigned factorAxis;
  OpFoldResult factorExtent;
};

te::ComputeOp Factoring::createFactored() {
  AxisList axes;
  llvm::append_range(axes.spatial, stage.getAxes());
  axes.extents = stage.getMixedExtents();
  axes.extents.truncate(stage.getNumSpatial());
  for (Value axis : loops.getFactoredAxes()) {
    Attribute name = builder.getStringAttr(schedule::axisName(axis));
    OpFoldResult extent = loops.materialize(builder, op.getLoc(), loops.getExtent(axis), {});
    if (axis != op.getAxis()) {
      axes.reduce.push_back(name);
      axes.extents.push_back(extent);
      continue;
    }
    axes.spatial.insert(axes.spatial.begin() + factorAxis, name);
    axes.extents.insert(axes.extents.begin() + factorAxis, extent);
    factorExtent = extent;
  }
  SmallVector<Type> types;
  for (Type type : stage.getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape.insert(shape.begin() + factorAxis, getConstantIntValue(factorExtent).value_or(ShapedType::kDynamic));
    types.push_back(RankedTensorType::get(shape, tensor.getElementType()));
  }
  te::ComputeOp factored = createCompute(builder, op.getLoc(), op.getName(), stage, types, axes);
  createElement(factored);
  return factored;
}

void Factoring::createElement(te::ComputeOp factored) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&factored.getBody().front());
  unsigned numSpatial = stage.getNumSpatial();
  SmallVector<unsigned> positions{factorAxis};
  for (unsigned i = 1; i < loops.getFactoredAxes().size(); ++i)
    positions.push_back(numSpatial + i);
  loops.assignDims(positions);
  SmallVector<AffineExpr> places;
  for (unsigned i = 0; i < numSpatial; ++i)
    places.push_back(builder.getAffineDimExpr(i < factorAxis ? i : i + 1));
  llvm::append_range(places, loops.getRootIndices());
  // The iterations beyond the end of a split reduce what changes nothing.
  loops.yieldBody(builder, stage.getLoc(), stage, places, stage.getIdentities());
}

te::ComputeOp Factoring::createRest(te::ComputeOp factored) {
  Location loc = stage.getLoc();
  AxisList axes;
  llvm::append_range(axes.spatial, stage.getAxes());
  axes.reduce.push_back(builder.getStringAttr(schedule::axisName(op.getAxis())));
  axes.extents = stage.getMixedExtents();
  axes.extents.truncate(stage.getNumSpatial());
  axes.extents.push_back(factorExtent);
  te::ComputeOp rest = createCompute(builder, loc, stage.getName(), stage, stage.getResultTypes(), axes);
  OpBuilder::InsertionGuard guard(builder);
  Block &block = rest.getBody().front();
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> indices(block.getArguments().drop_back());
  indices.insert(indices.begin() + factorAxis, block.getArguments().back());
  auto identity = AffineMapAttr::get(builder.getMultiDimIdentityMap(indices.size()));
  SmallVector<Value> elements;
  for (Value tensor : factored.getResults())
    elements.push_back(te::ReadOp::create(builder, loc, cast<RankedTensorType>(tensor.getType()).getElementType(),
                                          tensor, indices, identity));
  te::YieldOp::create(builder, loc, elements);
  return rest;
}

LogicalResult Factoring::rewrite() {
  if (failed(loops.read(op, stage)))
    return failure();
  te::ComputeOp rest = createRest(createFactored());
  stage.replaceAllUsesWith(rest.getResults());
  stage.erase();
  return success();
}
} // namespace

LogicalResult applyRfactor(schedule::RfactorOp op, Dataflow &dataflow) {
  if (failed(checkIsFree(op, dataflow)))
    return failure();
  FailureOr<te::ComputeOp> found = dataflow.findStage(op, op.getOf());
  if (failed(found))
    return failure();
  te::ComputeOp stage = *found;
  StringRef name = stage.getName();
  if (op.getFactorAxis() > stage.getNumSpatial())
    return op.emitOpError() << "expected a factor_axis from 0 to " << stage.getNumSpatial() << ", got "
                            << op.getFactorAxis();
  Factoring factoring(op, stage);
  if (failed(factoring.rewrite()))
    return failure();
  OpBuilder builder(op);
  auto handle = schedule::StageOp::create(builder, op.getLoc(), builder.getStringAttr(op.getName()));
  op.getStage().replaceAllUsesWith(handle);
  op.erase();
  // The stage has other axes now.
  for (Operation *old : llvm::reverse(factoring.getOldPrimitives())) {
    if (!old->use_empty())
      return old->emitOpError() << "expected the axes of stage '" << name
                                << "' to be named anew after its rfactor, got "
                                << "a use of those that it had before";
    old->erase();
  }
  return success();
}
} // namespace tilewright
