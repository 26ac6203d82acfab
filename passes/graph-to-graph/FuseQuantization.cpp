//===- FuseQuantization.cpp - matmuls and convolutions of integers ---------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_FUSEQUANTIZATION
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

RankedTensorType quantizedTensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

bool hasOneElement(Value value) {
  auto type = quantizedTensorType(value);
  return type.hasStaticShape() && type.getNumElements() == 1;
}

bool isZero(Value value) { return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat()); }

/// An operand that was dequantised from 8 bits, with one scale, or one for each place along `axis`.
struct Quantized {
  graph::DequantizeOp op;

  static std::optional<Quantized> of(Value value, int64_t axis) {
    auto op = value.getDefiningOp<graph::DequantizeOp>();
    if (!op || getFloatName(quantizedTensorType(op).getElementType()).empty() || op.getBlock() != 0)
      return std::nullopt;
    Type element = quantizedTensorType(op.getX()).getElementType();
    if (!element.isInteger(8) && !(isa<Float8E4M3FNType>(element) && isZero(op.getZero())))
      return std::nullopt;
    if (!hasOneElement(op.getScale()) && (axis < 0 || int64_t(op.getAxis()) != axis))
      return std::nullopt;
    return Quantized{op};
  }

  bool isOfFloats() { return isa<FloatType>(quantizedTensorType(op.getX()).getElementType()); }
};

/// The type that products of such operands are accumulated in, and its name.
std::pair<Type, StringRef> getSumType(Quantized a) {
  MLIRContext *context = a.op.getContext();
  return a.isOfFloats() ? std::make_pair(Type(Float32Type::get(context)), StringRef("float32"))
                        : std::make_pair(Type(IntegerType::get(context, 32)), StringRef("int32"));
}

class Emitter {
public:
  Emitter(Location loc, PatternRewriter &rewriter) : loc(loc), rewriter(rewriter) {}

  Value cast(Value value, Type element) {
    if (quantizedTensorType(value).getElementType() == element)
      return value;
    StringRef name = getFloatName(element);
    return graph::CastOp::create(rewriter, loc, quantizedTensorType(value).clone(element), value,
                                 name.empty() ? "int32" : name, true);
  }

  /// A scale or a zero as a tensor that is broadcast along dimension `axis` of tensors of `rank` dimensions.
  Value spread(Value value, int64_t axis, int64_t rank) {
    auto type = quantizedTensorType(value);
    SmallVector<int64_t> shape;
    if (!hasOneElement(value)) {
      shape.assign(rank - axis, 1);
      shape[0] = type.getDimSize(0);
    }
    if (type.getShape() == ArrayRef(shape))
      return value;
    SmallVector<Attribute> extents;
    for (int64_t extent : shape)
      extents.push_back(rewriter.getI64IntegerAttr(extent));
    return graph::ReshapeOp::create(rewriter, loc, RankedTensorType::get(shape, type.getElementType()), value,
                                    rewriter.getArrayAttr(extents));
  }

  /// The integers less their zero: as they are where it is 0.
  Value shifted(Quantized from, int64_t axis) {
    Value x = from.op.getX(), zero = from.op.getZero();
    if (isZero(zero))
      return x;
    Type i32 = rewriter.getI32Type();
    Value wide = cast(x, i32);
    Value number = spread(cast(zero, i32), axis, quantizedTensorType(x).getRank());
    return graph::SubOp::create(rewriter, loc, wide.getType(), wide, number);
  }

  /// The sums as floats: times the scale of one operand and that of the other, whose axis is `axis` of the result. They
  /// are multiplied in float32 and rounded to `element` once.
  Value scaled(Value sums, Quantized a, Quantized b, int64_t axis, Type element) {
    int64_t rank = quantizedTensorType(sums).getRank();
    Value first = spread(a.op.getScale(), axis, rank), second = spread(b.op.getScale(), axis, rank);
    Value both = graph::MulOp::create(rewriter, loc, second.getType(), second, first);
    Value floats = cast(sums, rewriter.getF32Type());
    return cast(graph::MulOp::create(rewriter, loc, floats.getType(), floats, both), element);
  }

private:
  Location loc;
  PatternRewriter &rewriter;
};

bool areKnown(Quantized a, Quantized b) {
  // Scales are reshaped, which needs their extents as numbers.
  return a.isOfFloats() == b.isOfFloats() && quantizedTensorType(a.op.getScale()).hasStaticShape() &&
         quantizedTensorType(b.op.getScale()).hasStaticShape();
}

struct MatmulOfIntegers : OpRewritePattern<graph::MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::MatmulOp op, PatternRewriter &rewriter) const override {
    auto a = Quantized::of(op.getA(), -1);
    auto b = Quantized::of(op.getB(), quantizedTensorType(op.getB()).getRank() - 1);
    auto type = quantizedTensorType(op);
    if (!a || !b || !areKnown(*a, *b) || getFloatName(type.getElementType()).empty())
      return rewriter.notifyMatchFailure(op, "operands that are not both dequantised from 8 bits");
    Emitter emitter(op.getLoc(), rewriter);
    Value x = emitter.shifted(*a, 0);
    Value w = emitter.shifted(*b, quantizedTensorType(op.getB()).getRank() - 1);
    auto [sum, name] = getSumType(*a);
    Value sums = graph::MatmulOp::create(rewriter, op.getLoc(), type.clone(sum), x, w, name, name);
    rewriter.replaceOp(op, emitter.scaled(sums, *a, *b, type.getRank() - 1, type.getElementType()));
    return success();
  }
};

struct ConvolutionOfIntegers : OpRewritePattern<graph::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ConvOp op, PatternRewriter &rewriter) const override {
    auto x = Quantized::of(op.getX(), -1), w = Quantized::of(op.getW(), 0);
    auto type = quantizedTensorType(op);
    if (!x || !w || !areKnown(*x, *w) || getFloatName(type.getElementType()).empty())
      return rewriter.notifyMatchFailure(op, "operands that are not both dequantised from 8 bits");
    Emitter emitter(op.getLoc(), rewriter);
    Value image = emitter.shifted(*x, 0), filters = emitter.shifted(*w, 0);
    auto [sum, name] = getSumType(*x);
    Value sums = graph::ConvOp::create(rewriter, op.getLoc(), type.clone(sum), image, filters, op.getStrides(),
                                       op.getBefore(), op.getAfter(), op.getDilations(), op.getGroups(), name, name);
    rewriter.replaceOp(op, emitter.scaled(sums, *x, *w, 1, type.getElementType()));
    return success();
  }
};

/// Of what was dequantised, a transpose is one of the integers.
struct TransposeOfIntegers : OpRewritePattern<graph::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::TransposeOp op, PatternRewriter &rewriter) const override {
    auto from = op.getX().getDefiningOp<graph::DequantizeOp>();
    if (!from || !from->hasOneUse())
      return rewriter.notifyMatchFailure(op, "nothing dequantised that it alone reads");
    bool isOne = hasOneElement(from.getScale());
    if (!isOne && (from.getBlock() || quantizedTensorType(from.getScale()).getRank() != 1))
      return rewriter.notifyMatchFailure(op, "scales of blocks");
    ArrayRef<int64_t> permutation = op.getPermutation();
    int64_t axis = isOne ? 0 : llvm::find(permutation, int64_t(from.getAxis())) - permutation.begin();
    auto type = quantizedTensorType(op).clone(quantizedTensorType(from.getX()).getElementType());
    Value moved = graph::TransposeOp::create(rewriter, op.getLoc(), type, from.getX(), permutation);
    rewriter.replaceOpWithNewOp<graph::DequantizeOp>(op, op.getType(), moved, from.getScale(), from.getZero(), axis, 0,
                                                     from.getTo());
    return success();
  }
};

struct FuseQuantization : impl::FuseQuantizationBase<FuseQuantization> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MatmulOfIntegers, ConvolutionOfIntegers, TransposeOfIntegers>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
