//===- RaiseAttention.cpp - matmuls around a softmax become attention ------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_RAISEATTENTION
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// The number that a constant has everywhere.
std::optional<double> getNumber(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

/// The type of a transposed tensor.
RankedTensorType getTransposedType(RankedTensorType type, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> names;
  auto extents = dyn_cast_or_null<graph::ExtentsAttr>(type.getEncoding());
  for (int64_t d : permutation) {
    shape.push_back(type.getDimSize(d));
    if (extents)
      names.push_back(extents.getNames()[d]);
  }
  Attribute encoding;
  if (extents)
    encoding = graph::ExtentsAttr::get(type.getContext(), names);
  return RankedTensorType::get(shape, type.getElementType(), encoding);
}

/// `value` with its last two dimensions swapped; two transposes become one, or none.
Value swapLast(Value value, PatternRewriter &rewriter) {
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, typeOfTensor(value).getRank()));
  if (auto before = value.getDefiningOp<graph::TransposeOp>()) {
    permutation = llvm::to_vector(before.getPermutation());
    value = before.getX();
  }
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  return graph::TransposeOp::create(rewriter, value.getLoc(), getTransposedType(typeOfTensor(value), permutation),
                                    value, permutation);
}

struct AttentionOfMatmuls : OpRewritePattern<graph::MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::MatmulOp op, PatternRewriter &rewriter) const override {
    auto softmax = op.getA().getDefiningOp<graph::SoftmaxOp>();
    if (!softmax || !softmax->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no softmax that it alone reads");
    if (softmax.getAxis() != typeOfTensor(softmax.getX()).getRank() - 1)
      return rewriter.notifyMatchFailure(op, "the softmax is not along the last axis");
    double scale = 1;
    Value mask, value = softmax.getX();
    Type scores = value.getType();
    graph::MatmulOp product;
    // From the softmax upwards: a mask that is added, then factors, then the matmul.
    while (value.hasOneUse() && value.getType() == scores && value.getDefiningOp()) {
      Operation *made = value.getDefiningOp();
      if ((product = dyn_cast<graph::MatmulOp>(made)))
        break;
      if (isa<graph::AddOp>(made) && !mask && scale == 1) {
        bool isFirst = made->getOperand(0).getType() == scores && leadsToMatmul(made->getOperand(0));
        value = made->getOperand(isFirst ? 0 : 1);
        mask = made->getOperand(isFirst ? 1 : 0);
        continue;
      }
      bool isProduct = isa<graph::MulOp>(made);
      if (!isProduct && !isa<graph::DivOp>(made))
        break;
      if (auto number = getNumber(made->getOperand(1))) {
        scale = isProduct ? scale * *number : scale / *number;
        value = made->getOperand(0);
      } else if (auto number = isProduct ? getNumber(made->getOperand(0)) : std::nullopt) {
        scale *= *number;
        value = made->getOperand(1);
      } else
        break;
    }
    if (!product || !product->hasOneUse() || product.getType() != scores)
      return rewriter.notifyMatchFailure(op, "no matmul before the softmax but for a mask and factors");
    Value q = product.getA(), keys = product.getB(), v = op.getB();
    auto type = typeOfTensor(q), keyType = typeOfTensor(keys), valueType = typeOfTensor(v);
    int64_t rank = type.getRank();
    if (keyType.getRank() != rank || valueType.getRank() != rank)
      return rewriter.notifyMatchFailure(op, "operands of several ranks");
    Type element = type.getElementType();
    for (Type other : {keyType.getElementType(), valueType.getElementType(), typeOfTensor(op).getElementType(),
                       cast<RankedTensorType>(scores).getElementType()})
      if (other != element)
        return rewriter.notifyMatchFailure(op, "operands of several element types");
    auto extents = [](RankedTensorType type, int64_t d) {
      auto names = dyn_cast_or_null<graph::ExtentsAttr>(type.getEncoding());
      return std::pair(type.getDimSize(d), names ? names.getNames()[d].getValue() : StringRef());
    };
    for (int64_t d = 0; d < rank - 2; ++d)
      if (extents(type, d) != extents(keyType, d) || extents(type, d) != extents(valueType, d))
        return rewriter.notifyMatchFailure(op, "operands whose leading extents are broadcast");
    if (!std::isfinite(scale))
      return rewriter.notifyMatchFailure(op, "a factor that is not finite");
    rewriter.replaceOpWithNewOp<graph::AttentionOp>(
        op, op.getType(), q, swapLast(keys, rewriter), v, mask, rewriter.getF64FloatAttr(scale),
        rewriter.getI64IntegerAttr(-1), rewriter.getI64IntegerAttr(-1), rewriter.getI64IntegerAttr(0),
        rewriter.getF64FloatAttr(0), product.getAcc() == "tf32" ? product.getAccAttr() : StringAttr());
    return success();
  }

  /// Whether factors alone stand between a value and a matmul.
  static bool leadsToMatmul(Value value) {
    while (Operation *made = value.getDefiningOp()) {
      if (isa<graph::MatmulOp>(made))
        return true;
      if (!isa<graph::MulOp, graph::DivOp>(made))
        return false;
      bool isSecond = isa<graph::MulOp>(made) && getNumber(made->getOperand(0)).has_value();
      value = made->getOperand(isSecond ? 1 : 0);
    }
    return false;
  }
};

/// The type of a tensor with bools in place of its elements.
RankedTensorType getBoolType(Value value) {
  RankedTensorType type = typeOfTensor(value);
  return RankedTensorType::get(type.getShape(), IntegerType::get(type.getContext(), 1), type.getEncoding());
}

/// The bools of which a mask is 0 where they are true, and -inf where they are false. Operators that move or cast the
/// mask's elements are created again for the bools. Null where the mask is something else; nothing is created then.
Value getBools(Value mask, PatternRewriter &rewriter) {
  Operation *made = mask.getDefiningOp();
  if (!made)
    return {};
  if (auto where = dyn_cast<graph::WhereOp>(made)) {
    auto seen = getNumber(where.getA()), unseen = getNumber(where.getB());
    bool isInverted = seen && std::isinf(*seen);
    if (isInverted)
      std::swap(seen, unseen);
    if (!seen || !unseen || *seen != 0 || !std::isinf(*unseen) || *unseen > 0 ||
        where.getCondition().getType() != getBoolType(mask))
      return {};
    Value condition = where.getCondition();
    if (!isInverted)
      return condition;
    return graph::NotOp::create(rewriter, made->getLoc(), TypeRange(getBoolType(mask)), ValueRange(condition), {});
  }
  if (!isa<graph::CastOp, graph::ReshapeOp, graph::ExpandOp, graph::TransposeOp>(made) ||
      !isa<FloatType>(typeOfTensor(made->getOperand(0)).getElementType()))
    return {};
  Value bools = getBools(made->getOperand(0), rewriter);
  if (!bools || isa<graph::CastOp>(made))
    return bools;
  IRMapping mapping;
  mapping.map(made->getOperand(0), bools);
  Operation *moved = rewriter.clone(*made, mapping);
  moved->getResult(0).setType(getBoolType(mask));
  return moved->getResult(0);
}

struct MaskOfBools : OpRewritePattern<graph::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::AttentionOp op, PatternRewriter &rewriter) const override {
    if (!op.getMask() || !isa<FloatType>(typeOfTensor(op.getMask()).getElementType()))
      return rewriter.notifyMatchFailure(op, "no mask of floats");
    Value bools = getBools(op.getMask(), rewriter);
    if (!bools)
      return rewriter.notifyMatchFailure(op, "a mask that is not made of bools");
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().assign(bools); });
    return success();
  }
};

struct RaiseAttention : impl::RaiseAttentionBase<RaiseAttention> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AttentionOfMatmuls, MaskOfBools>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
