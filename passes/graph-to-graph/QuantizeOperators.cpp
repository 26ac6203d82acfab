//===- QuantizeOperators.cpp - calibrated operators in QDQ form ------------===//
#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/Passes.h"
#include "passes/graph-to-graph/TensorTypes.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_QUANTIZEOPERATORS
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

class OperatorQuantizer {
public:
  OperatorQuantizer(Operation *op, bool perChannel, bool isOfFloats)
      : op(op), perChannel(perChannel), isOfFloats(isOfFloats), builder(op), f32(builder.getF32Type()) {
    narrow = isOfFloats ? Type(Float8E4M3FNType::get(op->getContext())) : builder.getI8Type();
  }

  void run(double magnitude) {
    Value weight = op->getOperand(1);
    auto transpose = weight.getDefiningOp<graph::TransposeOp>();
    auto from = (transpose ? transpose.getX() : weight).getDefiningOp<graph::WeightOp>();
    auto type = cast<RankedTensorType>(weight.getType());
    bool isMatmul = isa<graph::MatmulOp>(op);
    Type element = type.getElementType();
    to = getFloatName(element);
    bool isOfOneType = typeOfTensor(op->getOperand(0)).getElementType() == element &&
                       !getFloatName(typeOfTensor(op->getResult(0)).getElementType()).empty();
    if (!from || to.empty() || !isOfOneType || (isMatmul && type.getRank() != 2) || !std::isfinite(magnitude) ||
        !(magnitude > 0))
      return;
    int64_t axis = isMatmul ? 1 : 0;
    if (transpose)
      axis = transpose.getPermutation()[axis];
    zero = constant(narrow, builder.getZeroAttr(narrow));
    op->setOperand(0, roundTrip(op->getOperand(0), magnitude));
    Value made = dequantized(from, perChannel ? axis : -1);
    if (transpose)
      made = graph::TransposeOp::create(builder, transpose.getLoc(), type, made, transpose.getPermutation());
    op->setOperand(1, made);
    for (Operation *old : {transpose ? transpose.getOperation() : nullptr, from.getOperation()})
      if (old && old->use_empty())
        old->erase();
  }

private:
  Value constant(Type element, Attribute number) {
    auto type = RankedTensorType::get({}, element);
    return graph::ConstantOp::create(builder, op->getLoc(), type, DenseElementsAttr::get(type, number));
  }

  Value roundTrip(Value x, double magnitude) {
    auto type = cast<RankedTensorType>(x.getType());
    double most = 127; // the largest integer, or float of 8 bits
    if (isOfFloats)
      most = APFloat::getLargest(APFloat::Float8E4M3FN()).convertToDouble();
    Value scale = constant(f32, builder.getF32FloatAttr(float(magnitude / most)));
    Value q = graph::QuantizeOp::create(builder, op->getLoc(), type.clone(narrow), x, scale, zero, 0, 0, getName());
    return graph::DequantizeOp::create(builder, op->getLoc(), type, q, scale, zero, 0, 0, to);
  }

  StringRef getName() const { return isOfFloats ? "float8_e4m3fn" : "int8"; }

  /// The weight from its numbers of 8 bits and their scales, which are weights of their own.
  Value dequantized(graph::WeightOp from, int64_t axis) {
    auto type = cast<RankedTensorType>(from.getType());
    OpBuilder before(from);
    // One weight may be read with scales along different axes.
    std::string place = axis < 0 ? "" : "." + std::to_string(axis);
    auto weight = [&](StringRef suffix, RankedTensorType made) -> Value {
      auto one = graph::WeightOp::create(before, from.getLoc(), made, (from.getName() + suffix + place).str());
      one->setAttr(graph::kQuantizedFromAttr, from.getNameAttr());
      one->setAttr(graph::kScaleAxisAttr, builder.getI64IntegerAttr(axis));
      return one;
    };
    SmallVector<int64_t> scales;
    if (axis >= 0)
      scales.push_back(type.getDimSize(axis));
    Value numbers = weight(isOfFloats ? ".float8" : ".int8", type.clone(narrow));
    Value scale = weight(".scale", RankedTensorType::get(scales, f32));
    return graph::DequantizeOp::create(builder, op->getLoc(), type, numbers, scale, zero, std::max<int64_t>(axis, 0), 0,
                                       to);
  }

  Operation *op;
  bool perChannel, isOfFloats;
  OpBuilder builder;
  Type f32, narrow;
  Value zero;
  StringRef to; // the name of the type of the operands
};

struct QuantizeOperators : impl::QuantizeOperatorsBase<QuantizeOperators> {
  using QuantizeOperatorsBase::QuantizeOperatorsBase;
  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation()->walk([&](Operation *op) {
      if (op->hasAttr(graph::kMagnitudeAttr))
        found.push_back(op);
    });
    for (Operation *op : found) {
      auto magnitude = cast<FloatAttr>(op->removeAttr(graph::kMagnitudeAttr));
      OperatorQuantizer(op, perChannel, float8).run(magnitude.getValueAsDouble());
    }
  }
};

} // namespace
} // namespace tilewright
