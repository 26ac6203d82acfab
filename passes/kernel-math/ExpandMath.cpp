//===- ExpandMath.cpp - functions of math from what a GPU has -------------===//
//
// Libdevice is not linked. Of f32, the unit for special functions has 2^x; everything else is arithmetic around it, or a
// polynomial.
//
//===----------------------------------------------------------------------===//
#include "passes/PassSupport.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_EXPANDMATH
#include "passes/kernel-math/Passes.h.inc"

namespace {

/// Builds arithmetic on scalars, or on vectors of one shape. Nothing of it may be contracted, so it has no flags.
struct FloatArith {
  ImplicitLocOpBuilder b;
  Type like;

  FloatArith(PatternRewriter &rewriter, Operation *op) : b(op->getLoc(), rewriter), like(op->getOperand(0).getType()) {}

  Type of(Type element) {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? vector.clone(element) : element;
  }
  Type f32() { return of(b.getF32Type()); }
  Type i32() { return of(b.getI32Type()); }

  Value constant(Type type, TypedAttr element) {
    auto vector = dyn_cast<VectorType>(type);
    TypedAttr value = vector ? cast<TypedAttr>(DenseElementsAttr::get(vector, element)) : element;
    return arith::ConstantOp::create(b, value);
  }
  Value number(double value) { return constant(like, b.getFloatAttr(getElementTypeOrSelf(like), value)); }
  Value integer(int32_t value) { return constant(i32(), b.getI32IntegerAttr(value)); }

  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
  Value neg(Value x) { return arith::NegFOp::create(b, x); }
  Value bitcast(Type type, Value x) { return arith::BitcastOp::create(b, type, x); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, condition, x, y); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) { return arith::CmpFOp::create(b, predicate, x, y); }

  /// A polynomial in `x`, the coefficient of the highest power first.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, number(coefficient));
    return sum;
  }

  /// e^x = 2^n 2^f, where n is an integer and f, in [0, 1], is x log2(e) - n with both parts of log2(e).
  Value exp(Value x) {
    // Beyond these bounds the result is 0 or infinity already, but f would be NaN for an infinite x.
    x = arith::MaximumFOp::create(b, x, number(-110.0));
    x = arith::MinimumFOp::create(b, x, number(90.0));
    Value log2e = number(0x1.715476p+0);
    Value n = math::FloorOp::create(b, mul(x, log2e));
    Value f = fma(x, log2e, neg(n));
    f = fma(x, number(0x1.4ae0c0p-26), f);
    return mul(math::Exp2Op::create(b, f), math::Exp2Op::create(b, n));
  }

  /// The logarithm to the base that `scale` makes of e, with `log2` that of 2: the exponent times `log2` plus `scale`
  /// times the logarithm of a mantissa in [2/3, 4/3), a polynomial.
  Value log(Value x, double scale, double log2) {
    // A subnormal has no exponent of its own.
    Value isSmall = compare(arith::CmpFPredicate::OLT, x, number(0x1p-126));
    Value a = select(isSmall, mul(x, number(0x1p+23)), x);
    Value bits = bitcast(i32(), a);
    Value e = arith::SubIOp::create(b, bits, integer(0x3f2aaaab));
    e = arith::AndIOp::create(b, e, integer(static_cast<int32_t>(0xff800000)));
    Value m = sub(bitcast(f32(), arith::SubIOp::create(b, bits, e)), number(1.0));
    Value exponent = fma(arith::SIToFPOp::create(b, f32(), e), number(0x1p-23),
                         select(isSmall, number(-23.0), number(0.0)));
    Value s = mul(m, m);
    Value even = polynomial(s, {-0x1.0ae000p-3, -0x1.f1988ap-4, -0x1.55b36ep-3, -0x1.fffe02p-3});
    Value odd = polynomial(s, {0x1.208000p-3, 0x1.1e5740p-3, 0x1.99d8b2p-3});
    Value r = fma(odd, m, even);
    r = fma(r, m, number(0x1.5554fap-2));
    r = fma(r, m, number(-0.5));
    r = fma(r, s, m);
    if (scale != 1.0) {
      // The factor in two parts, as its error would show beside that of the polynomial.
      double high = static_cast<float>(scale);
      r = fma(r, number(high), mul(r, number(scale - high)));
    }
    double high = static_cast<float>(log2);
    r = fma(exponent, number(high), fma(exponent, number(log2 - high), r));
    // Infinity and NaN stay, 0 has the logarithm -infinity, what is below it none.
    double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    r = select(compare(arith::CmpFPredicate::ULT, x, number(infinity)), r, x);
    r = select(compare(arith::CmpFPredicate::OEQ, x, number(0.0)), number(-infinity), r);
    return select(compare(arith::CmpFPredicate::UGE, x, number(0.0)), r, number(nan));
  }

  /// 1 - 2 / (e^2|x| + 1), with the sign of x. Near 0 that would cancel: a polynomial.
  Value tanh(Value x) {
    Value magnitude = math::AbsFOp::create(b, x);
    Value power = exp(add(magnitude, magnitude));
    Value large = sub(number(1.0), div(number(2.0), add(power, number(1.0))));
    large = math::CopySignOp::create(b, large, x);
    Value s = mul(x, x);
    Value p = polynomial(s, {0x1.01e104p-6, -0x1.ac795cp-5, 0x1.10b282p-3, -0x1.5553dap-2});
    Value small = fma(mul(p, s), x, x);
    return select(compare(arith::CmpFPredicate::OLT, magnitude, number(0.6)), small, large);
  }
};

/// The functions of `Op` on f16 and bf16 are those of f32, rounded.
template <typename Op>
struct ComputeInF32 : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF16() && !element.isBF16())
      return rewriter.notifyMatchFailure(op, "not on a type of 16 bits");
    FloatArith a(rewriter, op);
    Value wide = arith::ExtFOp::create(a.b, a.f32(), op.getOperand());
    Value result = Op::create(a.b, wide, op.getFastmathAttr());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), result);
    return success();
  }
};

/// Replaces an `Op` on f32 by what `expand` builds.
template <typename Op, auto expand>
struct ExpandF32 : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not on f32");
    FloatArith a(rewriter, op);
    rewriter.replaceOp(op, expand(a, op.getOperand()));
    return success();
  }
};

/// The square root and the division are both rounded correctly, also on f64.
struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::RsqrtOp op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "not on f32 or f64");
    FloatArith a(rewriter, op);
    rewriter.replaceOp(op, a.div(a.number(1.0), math::SqrtOp::create(a.b, op.getOperand())));
    return success();
  }
};

Value expandExp(FloatArith &a, Value x) { return a.exp(x); }
Value expandTanh(FloatArith &a, Value x) { return a.tanh(x); }
Value expandLog(FloatArith &a, Value x) { return a.log(x, 1.0, llvm::numbers::ln2); }
Value expandLog2(FloatArith &a, Value x) { return a.log(x, llvm::numbers::log2e, 1.0); }
Value expandLog10(FloatArith &a, Value x) {
  return a.log(x, 1.0 / llvm::numbers::ln10, llvm::numbers::ln2 / llvm::numbers::ln10);
}

struct ExpandMath : impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<ComputeInF32<math::ExpOp>, ComputeInF32<math::LogOp>, ComputeInF32<math::Log2Op>,
                 ComputeInF32<math::Log10Op>, ComputeInF32<math::TanhOp>, ComputeInF32<math::RsqrtOp>,
                 ExpandF32<math::ExpOp, expandExp>, ExpandF32<math::LogOp, expandLog>,
                 ExpandF32<math::Log2Op, expandLog2>, ExpandF32<math::Log10Op, expandLog10>,
                 ExpandF32<math::TanhOp, expandTanh>, ExpandRsqrt>(context);
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
