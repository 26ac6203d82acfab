//===- GraphOps.cpp - verifiers of the graph dialect ----------------------===//
#include "dialects/Graph/Graph.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/GraphOps.cpp.inc"

static RankedTensorType getTensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

RankedTensorType tilewright::graph::getTypeOfDimensions(RankedTensorType type, ArrayRef<int64_t> dimensions) {
  auto extents = dyn_cast_or_null<ExtentsAttr>(type.getEncoding());
  auto shape = llvm::map_to_vector(dimensions, [&](int64_t d) { return type.getDimSize(d); });
  Attribute encoding;
  if (extents)
    encoding = ExtentsAttr::get(type.getContext(),
                                llvm::map_to_vector(dimensions, [&](int64_t d) { return extents.getNames()[d]; }));
  return RankedTensorType::get(shape, type.getElementType(), encoding);
}

/// What dimension `d` of `type` is: a number or the text of a symbolic extent.
static std::string getExtentText(RankedTensorType type, int64_t d) {
  if (!type.isDynamicDim(d))
    return std::to_string(type.getDimSize(d));
  auto extents = dyn_cast_or_null<ExtentsAttr>(type.getEncoding());
  return extents ? extents.getNames()[d].getValue().str() : "?";
}

/// Checks that `result` has the shape of the operands broadcast together. Of symbolic extents only numbers can be
/// wrong.
static LogicalResult verifyBroadcast(Operation *op, RankedTensorType result, ValueRange operands) {
  int64_t rank = 0;
  for (Value operand : operands)
    rank = std::max(rank, getTensorType(operand).getRank());
  if (result.getRank() != rank)
    return op->emitOpError() << "expected a result of rank " << rank << ", got " << result;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    auto type = getTensorType(operand);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      int64_t at = d + rank - type.getRank();
      if (type.getDimSize(d) == 1 || type.isDynamicDim(d) || result.isDynamicDim(at) ||
          type.getDimSize(d) == result.getDimSize(at))
        continue;
      return op->emitOpError() << "operand " << i << ", dimension " << d << ": expected 1 or "
                               << getExtentText(result, at) << ", got " << type.getDimSize(d);
    }
  }
  return success();
}

static LogicalResult verifyBinary(Operation *op) {
  Type a = getTensorType(op->getOperand(0)).getElementType(), b = getTensorType(op->getOperand(1)).getElementType();
  if (a != b)
    return op->emitOpError() << "expected operands of one element type, got " << a << " and " << b;
  auto result = getTensorType(op->getResult(0));
  if (result.getElementType() != a && !result.getElementType().isInteger(1))
    return op->emitOpError() << "expected a result of element type " << a << ", got " << result.getElementType();
  return verifyBroadcast(op, result, op->getOperands());
}

#define VERIFY_BINARY(OP)                                                                                              \
  LogicalResult OP::verify() { return verifyBinary(*this); }
VERIFY_BINARY(AddOp)
VERIFY_BINARY(SubOp)
VERIFY_BINARY(MulOp)
VERIFY_BINARY(DivOp)
VERIFY_BINARY(PowOp)
VERIFY_BINARY(ModOp)
VERIFY_BINARY(FmodOp)
VERIFY_BINARY(MinOp)
VERIFY_BINARY(MaxOp)
VERIFY_BINARY(Atan2Op)
VERIFY_BINARY(AndOp)
VERIFY_BINARY(OrOp)
VERIFY_BINARY(XorOp)
VERIFY_BINARY(ShiftLeftOp)
VERIFY_BINARY(ShiftRightOp)
VERIFY_BINARY(EqualOp)
VERIFY_BINARY(NotEqualOp)
VERIFY_BINARY(LessOp)
VERIFY_BINARY(LessEqualOp)
VERIFY_BINARY(GreaterOp)
VERIFY_BINARY(GreaterEqualOp)
#undef VERIFY_BINARY

LogicalResult WhereOp::verify() {
  Type a = getTensorType(getA()).getElementType(), b = getTensorType(getB()).getElementType();
  if (a != b)
    return emitOpError() << "expected values of one element type, got " << a << " and " << b;
  return verifyBroadcast(*this, getTensorType(getResult()), getOperands());
}

LogicalResult ReshapeOp::verify() {
  auto from = getTensorType(getX()), to = getTensorType(getResult());
  if (getShape().size() != size_t(to.getRank()))
    return emitOpError() << "expected a shape of " << to.getRank() << " extents, got " << getShape().size();
  if (from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() != to.getNumElements())
    return emitOpError() << "expected a shape of " << from.getNumElements() << " elements, got " << to.getNumElements();
  return success();
}

LogicalResult TransposeOp::verify() {
  auto from = getTensorType(getX()), to = getTensorType(getResult());
  SmallVector<int64_t> sorted(getPermutation());
  llvm::sort(sorted);
  if (int64_t(sorted.size()) != from.getRank() || !llvm::equal(sorted, llvm::seq<int64_t>(0, from.getRank())))
    return emitOpError() << "expected a permutation of " << from.getRank() << " dimensions, got [" << getPermutation()
                         << "]";
  for (auto [d, source] : llvm::enumerate(getPermutation()))
    if (to.getRank() != from.getRank() || to.getDimSize(d) != from.getDimSize(source))
      return emitOpError() << "dimension " << d << ": expected " << getExtentText(from, source) << ", got " << to;
  return success();
}

LogicalResult ConcatOp::verify() {
  auto to = getTensorType(getResult());
  if (getInputs().empty())
    return emitOpError("expected at least one operand");
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) >= to.getRank())
    return emitOpError() << "expected an axis from 0 to " << to.getRank() - 1 << ", got " << int64_t(getAxis());
  int64_t sum = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    auto type = getTensorType(input);
    if (type.getRank() != to.getRank())
      return emitOpError() << "operand " << i << ": expected rank " << to.getRank() << ", got " << type.getRank();
    if (type.isDynamicDim(getAxis()))
      return success();
    sum += type.getDimSize(getAxis());
  }
  if (!to.isDynamicDim(getAxis()) && to.getDimSize(getAxis()) != sum)
    return emitOpError() << "dimension " << getAxis() << ": expected " << sum << ", got " << to.getDimSize(getAxis());
  return success();
}

LogicalResult SliceOp::verify() {
  size_t rank = getTensorType(getX()).getRank();
  if (getStarts().size() != rank || getSteps().size() != rank || getSizes().size() != rank)
    return emitOpError() << "expected " << rank << " starts, steps and sizes, got " << getStarts().size() << ", "
                         << getSteps().size() << " and " << getSizes().size();
  return success();
}

LogicalResult GatherOp::verify() {
  auto from = getTensorType(getX());
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) >= from.getRank())
    return emitOpError() << "expected an axis from 0 to " << from.getRank() - 1 << ", got " << int64_t(getAxis());
  return success();
}

static LogicalResult verifyReduction(Operation *op, RankedTensorType from, ArrayRef<int64_t> axes, bool keepdims,
                                     RankedTensorType to) {
  for (int64_t axis : axes)
    if (axis < 0 || axis >= from.getRank())
      return op->emitOpError() << "expected axes from 0 to " << from.getRank() - 1 << ", got " << axis;
  int64_t rank = from.getRank() - (keepdims ? 0 : int64_t(axes.size()));
  if (to.getRank() != rank)
    return op->emitOpError() << "expected a result of rank " << rank << ", got " << to;
  return success();
}

LogicalResult ReduceSumOp::verify() {
  return verifyReduction(*this, getTensorType(getX()), getAxes(), getKeepdims(), getTensorType(getResult()));
}
LogicalResult ReduceProdOp::verify() {
  return verifyReduction(*this, getTensorType(getX()), getAxes(), getKeepdims(), getTensorType(getResult()));
}
LogicalResult ReduceMaxOp::verify() {
  return verifyReduction(*this, getTensorType(getX()), getAxes(), getKeepdims(), getTensorType(getResult()));
}
LogicalResult ReduceMinOp::verify() {
  return verifyReduction(*this, getTensorType(getX()), getAxes(), getKeepdims(), getTensorType(getResult()));
}

LogicalResult MatmulOp::verify() {
  auto a = getTensorType(getA()), b = getTensorType(getB());
  if (a.getRank() < 2 || b.getRank() < 2)
    return emitOpError() << "expected operands of rank 2 at least, got " << a << " and " << b;
  int64_t columns = a.getDimSize(a.getRank() - 1), rows = b.getDimSize(b.getRank() - 2);
  if (!ShapedType::isDynamic(columns) && !ShapedType::isDynamic(rows) && columns != rows)
    return emitOpError() << "expected as many rows of b as columns of a, " << columns << ", got " << rows;
  return success();
}

/// Checks the queries, keys and values of attention.
static LogicalResult verifyAttention(Operation *op, RankedTensorType q, RankedTensorType k, RankedTensorType v) {
  if (q.getRank() < 2 || q.getRank() != k.getRank() || q.getRank() != v.getRank())
    return op->emitOpError() << "expected q, k and v of one rank, 2 at least, got " << q << ", " << k << " and " << v;
  if (q.getElementType() != k.getElementType() || q.getElementType() != v.getElementType())
    return op->emitOpError() << "expected q, k and v of one element type, got " << q.getElementType() << ", "
                             << k.getElementType() << " and " << v.getElementType();
  int64_t row = q.getRank() - 2, column = row + 1;
  auto differ = [](int64_t a, int64_t b) { return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b; };
  if (differ(q.getDimSize(column), k.getDimSize(column)))
    return op->emitOpError() << "expected q and k of one width, got " << q.getDimSize(column) << " and "
                             << k.getDimSize(column);
  if (differ(k.getDimSize(row), v.getDimSize(row)))
    return op->emitOpError() << "expected as many keys as values, got " << k.getDimSize(row) << " and "
                             << v.getDimSize(row);
  return success();
}

LogicalResult AttentionOp::verify() {
  return verifyAttention(*this, getTensorType(getQ()), getTensorType(getK()), getTensorType(getV()));
}

/// Checks that there is a logarithm for each query of the result.
static LogicalResult verifyLogarithms(Operation *op, RankedTensorType result, RankedTensorType logarithms) {
  if (result.getRank() < 2 || logarithms.getShape() != result.getShape().drop_back())
    return op->emitOpError() << "expected a logarithm for each row of the result, got " << logarithms << " for "
                             << result;
  return success();
}

/// Checks what stands behind the operands that attention always has: a mask, and the seed of dropout.
template <typename Op> static LogicalResult verifyOthers(Op op) {
  size_t most = op.getDropoutP() ? 2 : 1;
  if (op.getOthers().size() > most)
    return op.emitOpError() << "expected a mask" << (most > 1 ? " and a seed" : "") << " at most, got "
                            << op.getOthers().size() << " operands";
  if (!op.getDropoutP())
    return success();
  double p = op.getDropoutP()->convertToDouble();
  if (!(p > 0 && p < 1))
    return op.emitOpError() << "expected a dropout_p between 0 and 1, got " << p;
  auto seed = op.getSeed() ? getTensorType(op.getSeed()) : RankedTensorType();
  if (!seed || seed.getRank() != 0 || !seed.getElementType().isSignlessInteger(32))
    return op.emitOpError() << "expected a seed of i32 as the last operand, for its dropout_p" << (seed ? ", got " : "")
                            << seed;
  return success();
}

LogicalResult AttentionWithLogarithmsOp::verify() {
  if (failed(verifyAttention(*this, getTensorType(getQ()), getTensorType(getK()), getTensorType(getV()))) ||
      failed(verifyOthers(*this)))
    return failure();
  return verifyLogarithms(*this, getTensorType(getResult()), getTensorType(getLogarithms()));
}

LogicalResult AttentionGradientsOp::verify() {
  auto result = getTensorType(getResult());
  if (failed(verifyAttention(*this, getTensorType(getQ()), getTensorType(getK()), getTensorType(getV()))) ||
      failed(verifyLogarithms(*this, result, getTensorType(getLogarithms()))) || failed(verifyOthers(*this)))
    return failure();
  if (getHead().getType() != result)
    return emitOpError() << "expected a head of the result's type, got " << getHead().getType() << " and " << result;
  SmallVector<Value> inputs{getQ(), getK(), getV()};
  if (Value mask = getMask(); mask && isa<FloatType>(getTensorType(mask).getElementType()))
    inputs.push_back(mask);
  int64_t last = -1, count = inputs.size();
  for (int64_t one : getWanted()) {
    if (one <= last || one >= count)
      return emitOpError() << "expected wanted of ascending numbers below " << count << ", got " << one << " behind "
                           << last;
    last = one;
  }
  if (getWanted().empty() || getWanted().size() != getNumResults())
    return emitOpError() << "expected a result for each that is wanted, and one at least, got " << getNumResults()
                         << " for " << getWanted().size();
  for (auto [one, gradient] : llvm::zip(getWanted(), getGradients()))
    if (gradient.getType() != inputs[one].getType())
      return emitOpError() << "expected a gradient of its operand's type, got " << gradient.getType() << " and "
                           << inputs[one].getType();
  return success();
}

/// Checks the operands of an operator of quantisation.
static LogicalResult verifyQuantization(Operation *op, RankedTensorType x, RankedTensorType scale,
                                        RankedTensorType zero, int64_t axis, int64_t block) {
  bool isOneZero = zero.hasStaticShape() && zero.getNumElements() == 1;
  if (!isOneZero && scale.getShape() != zero.getShape())
    return op->emitOpError() << "expected a zero of one element or of the shape of scale, got " << scale << " and "
                             << zero;
  if (scale.hasStaticShape() && scale.getNumElements() == 1)
    return success();
  if (axis < 0 || axis >= x.getRank())
    return op->emitOpError() << "expected an axis below " << x.getRank() << ", got " << axis;
  if (scale.getRank() != (block ? x.getRank() : 1))
    return op->emitOpError() << "expected scales of " << (block ? "the rank of x" : "one dimension") << ", got "
                             << scale;
  int64_t wanted = x.getDimSize(axis), got = scale.getDimSize(block ? axis : 0);
  if (ShapedType::isDynamic(wanted) || ShapedType::isDynamic(got))
    return success();
  if (block)
    wanted = (wanted + block - 1) / block;
  if (got != wanted)
    return op->emitOpError() << "expected " << wanted << " scales along axis " << axis << ", got " << got;
  return success();
}

LogicalResult QuantizeOp::verify() {
  return verifyQuantization(*this, getTensorType(getX()), getTensorType(getScale()), getTensorType(getZero()),
                            getAxis(), getBlock());
}

LogicalResult DequantizeOp::verify() {
  return verifyQuantization(*this, getTensorType(getX()), getTensorType(getScale()), getTensorType(getZero()),
                            getAxis(), getBlock());
}

LogicalResult ConvOp::verify() {
  auto x = getTensorType(getX()), w = getTensorType(getW());
  if (x.getRank() != w.getRank() || x.getRank() < 3)
    return emitOpError() << "expected x and w of one rank, 3 at least, got " << x << " and " << w;
  size_t spatial = x.getRank() - 2;
  for (auto [name, numbers] : {std::make_pair("strides", getStrides()), std::make_pair("before", getBefore()),
                               std::make_pair("after", getAfter()), std::make_pair("dilations", getDilations())})
    if (numbers.size() != spatial)
      return emitOpError() << name << ": expected one number a spatial dimension, " << spatial << ", got "
                           << numbers.size();
  int64_t channels = x.getDimSize(1), each = w.getDimSize(1), groups = getGroups();
  if (!ShapedType::isDynamic(channels) && !ShapedType::isDynamic(each) && channels != each * groups)
    return emitOpError() << "expected x to have " << each * groups << " channels, got " << channels;
  return success();
}

LogicalResult GroupOp::verify() {
  Block &body = getBody().front();
  auto yield = body.empty() ? nullptr : dyn_cast<YieldOp>(body.back());
  if (!yield)
    return emitOpError("expected to end with graph.yield");
  if (!llvm::equal(yield.getOperandTypes(), getResultTypes()))
    return emitOpError() << "expected results of the types that are yielded, (" << yield.getOperandTypes() << "), got ("
                         << getResultTypes() << ")";
  if (getEnds() && getEnds()->size() != getNumResults())
    return emitOpError() << "ends: expected one text a result, " << getNumResults() << ", got " << getEnds()->size();
  if (getOffsets() && getOffsets()->size() != getNumResults())
    return emitOpError() << "offsets: expected one number a result, " << getNumResults() << ", got "
                         << getOffsets()->size();
  return getLibrary() ? verifyLibrary(*this) : success();
}
