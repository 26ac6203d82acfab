//===- QuantizeWeights.cpp - weights of matmuls in four bits --------------===//
#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/Passes.h"
#include "passes/graph-to-graph/Rewrites.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// What stands for 0 in four bits without a sign.
constexpr int64_t kZero = 8;

struct QuantizeWeights : impl::QuantizeWeightsBase<QuantizeWeights> {
  using QuantizeWeightsBase::QuantizeWeightsBase;

  void runOnOperation() override {
    SmallVector<graph::MatmulOp> found;
    getOperation()->walk([&](graph::MatmulOp op) { found.push_back(op); });
    for (graph::MatmulOp op : found)
      quantize(op);
  }

private:
  void quantize(graph::MatmulOp op) {
    auto transpose = op.getB().getDefiningOp<graph::TransposeOp>();
    auto weight = (transpose ? transpose.getX() : op.getB()).getDefiningOp<graph::WeightOp>();
    if (!weight || typeOfTensor(op.getB()).getRank() != 2)
      return;
    RankedTensorType type = typeOfTensor(weight);
    StringRef to = getFloatName(type.getElementType());
    int64_t axis = transpose ? transpose.getPermutation()[0] : 0;
    if (to.empty() || group < 2 || group % 2 || type.getDimSize(axis) % group)
      return;
    OpBuilder before(weight), builder(op);
    auto made = [&](StringRef suffix, Type stored, int64_t divisor) -> Value {
      SmallVector<int64_t> shape(type.getShape());
      shape[axis] /= divisor;
      std::string name = (weight.getName() + suffix + "." + Twine(axis)).str();
      auto one = graph::WeightOp::create(before, weight.getLoc(), RankedTensorType::get(shape, stored), name);
      one->setAttr(graph::kQuantizedFromAttr, weight.getNameAttr());
      one->setAttr(graph::kScaleAxisAttr, builder.getI64IntegerAttr(axis));
      one->setAttr(graph::kGroupAttr, builder.getI64IntegerAttr(group));
      return one;
    };
    Type byte = builder.getIntegerType(8, /*isSigned=*/false);
    Value packed = made(".int4", byte, 2), scale = made(".scale", builder.getF32Type(), group);
    Value zero = scalarOf(builder.getIntegerAttr(byte, kZero), op.getLoc(), builder);
    Value whole = graph::UnpackOp::create(builder, op.getLoc(), type.clone(byte), packed, axis);
    Value real = graph::DequantizeOp::create(builder, op.getLoc(), type, whole, scale, zero, axis, group, to);
    if (transpose)
      real = graph::TransposeOp::create(builder, transpose.getLoc(), transpose.getType(), real,
                                        transpose.getPermutation());
    op.getBMutable().assign(real);
    for (Operation *old : {transpose ? transpose.getOperation() : nullptr, weight.getOperation()})
      if (old && old->use_empty())
        old->erase();
  }
};

} // namespace
} // namespace tilewright
