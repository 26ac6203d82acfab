//===- PadEinsum.cpp - sums of products over longer axes ------------------===//
//
// The tensors that a sum of products reads are copied, with zeros beyond the ends of its axes. The sum over longer axes
// then has what it had, and zeros added; the old stage copies the elements that there are.
//
//===----------------------------------------------------------------------===//
#include "passes/te-to-te/Dataflow.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {
namespace {

class EinsumPadding {
public:
  EinsumPadding(schedule::PadEinsumOp op, te::ComputeOp stage) : op(op), stage(stage), builder(stage) {}
  LogicalResult apply();

private:
  InFlightDiagnostic error() { return op.emitOpError() << "stage '" << stage.getName() << "': "; }
  LogicalResult check();
  LogicalResult checkProduct(Value value);
  /// The axes that a read has as its indices, one a dimension.
  std::optional<SmallVector<unsigned>> getAxes(te::ReadOp read);
  te::ComputeOp createPadded(te::ReadOp read, StringRef name);
  te::ComputeOp createSum(StringRef name);
  te::ComputeOp createCopy(te::ComputeOp sum);
  bool grows(unsigned axis) const { return longer[axis] != extents[axis]; }
  static std::string getText(OpFoldResult extent) {
    auto number = getConstantIntValue(extent);
    return number ? std::to_string(*number) : "a multiple";
  }
  /// A type of the elements with these extents.
  static RankedTensorType getType(ArrayRef<OpFoldResult> shape, Type element);

  schedule::PadEinsumOp op;
  te::ComputeOp stage;
  OpBuilder builder;
  SmallVector<OpFoldResult> extents, longer; // of each axis
  SmallVector<te::ReadOp> reads;             // one a tensor
  DenseMap<Value, te::ComputeOp> padded;
};

RankedTensorType EinsumPadding::getType(ArrayRef<OpFoldResult> shape, Type element) {
  return RankedTensorType::get(
      llvm::map_to_vector(
          shape, [](OpFoldResult extent) { return getConstantIntValue(extent).value_or(ShapedType::kDynamic); }),
      element);
}

std::optional<SmallVector<unsigned>> EinsumPadding::getAxes(te::ReadOp read) {
  SmallVector<unsigned> axes;
  for (AffineExpr index : read.getMap().getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    auto axis = dim ? dyn_cast<BlockArgument>(read.getIndices()[dim.getPosition()]) : BlockArgument();
    if (!axis || axis.getOwner() != &stage.getBody().front() || llvm::is_contained(axes, axis.getArgNumber()))
      return std::nullopt;
    axes.push_back(axis.getArgNumber());
  }
  return axes;
}

/// A product of elements, each converted perhaps: it is 0 where one of them is, unless another is no number.
LogicalResult EinsumPadding::checkProduct(Value value) {
  Operation *made = value.getDefiningOp();
  if (auto read = dyn_cast_or_null<te::ReadOp>(made)) {
    auto axes = getAxes(read);
    if (!axes) {
      InFlightDiagnostic diag = error() << "expected reads at axes, each once, got other indices";
      diag.attachNote(read.getLoc()) << "read here";
      return diag;
    }
    for (te::ReadOp known : reads)
      if (known.getTensor() == read.getTensor())
        return *getAxes(known) == *axes
                   ? success()
                   : error() << "expected each tensor to be read at one place, got a tensor read at two";
    // Zeros of all factors, so that none that is infinite meets one.
    for (unsigned axis = stage.getNumSpatial(); axis < stage.getNumAxes(); ++axis)
      if (grows(axis) && !llvm::is_contained(*axes, axis))
        return error() << "expected all that is multiplied to have the reduction axis '" << stage.getAxisName(axis)
                       << "', which grows from " << getText(extents[axis]) << " to " << getText(longer[axis])
                       << ", got an operand without";
    reads.push_back(read);
    return success();
  }
  if (!made || !isa<arith::MulFOp, arith::MulIOp, arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
                    arith::SIToFPOp, arith::UIToFPOp>(made))
    return error() << "expected a contraction of elements, got "
                   << (made ? "'" + made->getName().getStringRef().str() + "'" : std::string("an axis"));
  for (Value operand : made->getOperands())
    if (failed(checkProduct(operand)))
      return failure();
  return success();
}

LogicalResult EinsumPadding::check() {
  if (!stage.getNumReduce() || stage.getReducer() != te::ReducerKind::Sum)
    return error() << "expected a contraction, got " << (stage.getNumReduce() ? "another reduction" : "no reduction");
  ArrayRef<int64_t> padding = op.getPadding();
  if (padding.size() != stage.getNumAxes())
    return error() << "expected a number for each axis, " << stage.getNumAxes() << ", got " << padding.size();
  AffineExpr extent = builder.getAffineSymbolExpr(0);
  for (auto [had, number] : llvm::zip(stage.getMixedExtents(), padding)) {
    extents.push_back(had);
    // The same value of an extent that is a multiple, or is to be one of 1.
    auto known = getConstantIntValue(had);
    bool isMultiple = number == 1 || (known && *known % number == 0);
    longer.push_back(isMultiple ? had
                                : affine::makeComposedFoldedAffineApply(builder, op.getLoc(),
                                                                        extent.ceilDiv(number) * number, {had}));
  }
  if (failed(checkProduct(cast<te::YieldOp>(stage.getBody().front().getTerminator()).getValues()[0])))
    return failure();
  if (reads.size() + 1 != op.getNames().size())
    return error() << "expected " << reads.size() + 1 << " names, of a stage for each tensor read and of the sum, got "
                   << op.getNames().size();
  return success();
}

te::ComputeOp EinsumPadding::createPadded(te::ReadOp read, StringRef name) {
  Location loc = op.getLoc();
  SmallVector<unsigned> places = *getAxes(read);
  AxisList axes;
  for (unsigned axis : places) {
    axes.spatial.push_back(builder.getStringAttr(stage.getAxisName(axis)));
    axes.extents.push_back(longer[axis]);
  }
  Type element = read.getElement().getType();
  te::ComputeOp made = createCompute(builder, loc, name, stage, getType(axes.extents, element), axes);
  OpBuilder::InsertionGuard guard(builder);
  Block &block = made.getBody().front();
  builder.setInsertionPointToEnd(&block);
  Value inside;
  for (auto [argument, axis] : llvm::zip(block.getArguments(), places)) {
    if (!grows(axis))
      continue;
    Value end = getValueOrCreateConstantIndexOp(builder, loc, extents[axis]);
    Value here = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, argument, end);
    inside = inside ? arith::AndIOp::create(builder, loc, inside, here).getResult() : here;
  }
  auto identity = AffineMapAttr::get(builder.getMultiDimIdentityMap(places.size()));
  auto createRead = [&] {
    return te::ReadOp::create(builder, loc, element, read.getTensor(), block.getArguments(), identity).getResult();
  };
  if (!inside) {
    te::YieldOp::create(builder, loc, createRead());
    return made;
  }
  auto choice = scf::IfOp::create(builder, loc, element, inside, /*withElseRegion=*/true);
  te::YieldOp::create(builder, loc, choice.getResults());
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, createRead());
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element)).getResult());
  return made;
}

te::ComputeOp EinsumPadding::createSum(StringRef name) {
  AxisList axes;
  llvm::append_range(axes.spatial, stage.getAxes());
  llvm::append_range(axes.reduce, stage.getReduceAxes());
  llvm::append_range(axes.extents, longer);
  auto type =
      getType(ArrayRef(longer).take_front(stage.getNumSpatial()), getElementTypeOrSelf(stage.getResult(0).getType()));
  te::ComputeOp sum = createCompute(builder, stage.getLoc(), name, stage, type, axes);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&sum.getBody().front());
  IRMapping mapping;
  mapping.map(stage.getBody().getArguments(), sum.getBody().getArguments());
  for (auto &[tensor, copy] : padded)
    mapping.map(tensor, copy.getResult(0));
  for (Operation &inner : stage.getBody().front())
    builder.clone(inner, mapping);
  return sum;
}

te::ComputeOp EinsumPadding::createCopy(te::ComputeOp sum) {
  AxisList axes;
  llvm::append_range(axes.spatial, stage.getAxes());
  llvm::append_range(axes.extents, ArrayRef(extents).take_front(stage.getNumSpatial()));
  te::ComputeOp copy = createCompute(builder, stage.getLoc(), stage.getName(), stage, stage.getResultTypes(), axes);
  OpBuilder::InsertionGuard guard(builder);
  Block &block = copy.getBody().front();
  builder.setInsertionPointToEnd(&block);
  Value element = te::ReadOp::create(builder, stage.getLoc(), getElementTypeOrSelf(copy.getResult(0).getType()),
                                     sum.getResult(0), block.getArguments(),
                                     AffineMapAttr::get(builder.getMultiDimIdentityMap(block.getNumArguments())));
  te::YieldOp::create(builder, stage.getLoc(), element);
  return copy;
}

LogicalResult EinsumPadding::apply() {
  if (failed(check()))
    return failure();
  SmallVector<StringRef> names;
  for (auto name : op.getNames().getAsRange<StringAttr>())
    names.push_back(name.getValue());
  for (auto [read, name] : llvm::zip(reads, names))
    padded[read.getTensor()] = createPadded(read, name);
  te::ComputeOp copy = createCopy(createSum(names.back()));
  stage->replaceAllUsesWith(copy->getResults());
  stage.erase();
  OpBuilder handles(op);
  for (auto [result, name] : llvm::zip(op.getStages(), names))
    result.replaceAllUsesWith(schedule::StageOp::create(handles, op.getLoc(), handles.getStringAttr(name)));
  op.erase();
  return success();
}
} // namespace

LogicalResult applyPadEinsum(schedule::PadEinsumOp op, Dataflow &dataflow) {
  for (auto name : op.getNames().getAsRange<StringAttr>())
    if (dataflow.getTensor(name.getValue()))
      return op.emitOpError() << "expected names of their own, got '" << name.getValue()
                              << "', which another tensor has";
  FailureOr<te::ComputeOp> stage = dataflow.findStage(op, op.getOf());
  return failed(stage) ? failure() : EinsumPadding(op, *stage).apply();
}
} // namespace tilewright
