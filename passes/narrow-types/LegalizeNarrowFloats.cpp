//===- LegalizeNarrowFloats.cpp - conversions of f8 as integer arithmetic -===//

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/narrow-types/Passes.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_LEGALIZENARROWFLOATS
#include "passes/narrow-types/Passes.h.inc"

namespace {

bool isF8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type)); }

/// Builds arithmetic on scalars, or on vectors of one shape.
struct Arith {
  ImplicitLocOpBuilder b;
  Type like;

  Arith(PatternRewriter &rewriter, Operation *op) : b(op->getLoc(), rewriter), like(op->getOperand(0).getType()) {}

  Type of(Type element) {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? vector.clone(element) : element;
  }
  Type i(unsigned bits) { return of(b.getIntegerType(bits)); }
  Type f16() { return of(b.getF16Type()); }
  Type f32() { return of(b.getF32Type()); }

  Value constant(Type type, TypedAttr element) {
    auto vector = dyn_cast<VectorType>(type);
    TypedAttr value = vector ? cast<TypedAttr>(DenseElementsAttr::get(vector, element)) : element;
    return arith::ConstantOp::create(b, value);
  }
  Value integer(Type type, int64_t value) {
    return constant(type, b.getIntegerAttr(getElementTypeOrSelf(type), value));
  }
  Value number(Type type, double value) { return constant(type, b.getFloatAttr(getElementTypeOrSelf(type), value)); }

  template <typename Op> Value binary(Value lhs, Value rhs) { return Op::create(b, lhs, rhs); }
  template <typename Op> Value binary(Value lhs, int64_t rhs) {
    return Op::create(b, lhs, integer(lhs.getType(), rhs));
  }
  template <typename Op> Value cast_(Type type, Value value) { return Op::create(b, type, value); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, int64_t rhs) {
    return arith::CmpIOp::create(b, predicate, lhs, integer(lhs.getType(), rhs));
  }
  Value select(Value condition, Value a, Value c) { return arith::SelectOp::create(b, condition, a, c); }

  /// An f32 as any other type that holds it, or the nearest there is.
  Value fromF32(Value value, Type type) {
    unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    if (bits == 32)
      return value;
    return bits > 32 ? cast_<arith::ExtFOp>(type, value) : cast_<arith::TruncFOp>(type, value);
  }

  /// An f64 as an f32 from which rounding to anything of 22 bits or fewer gives what rounding the f64 would: towards
  /// zero, with the last bit set where that was not exact.
  Value roundToOdd(Value wide) {
    Value near = cast_<arith::TruncFOp>(f32(), wide), back = cast_<arith::ExtFOp>(wide.getType(), near);
    Value isInexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, wide);
    auto magnitude = [&](Value value, Type type, int64_t mask) {
      return binary<arith::AndIOp>(cast_<arith::BitcastOp>(type, value), mask);
    };
    int64_t mask = std::numeric_limits<int64_t>::max();
    Value isAway =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude(back, i(64), mask), magnitude(wide, i(64), mask));
    Value bits = cast_<arith::BitcastOp>(i(32), near);
    Value truncated = select(isAway, binary<arith::SubIOp>(bits, 1), bits);
    Value odd = select(isInexact, binary<arith::OrIOp>(truncated, 1), bits);
    return cast_<arith::BitcastOp>(f32(), odd);
  }
};

/// From f8: its bits are moved to where an f16 has them.
struct ExpandExtFOfF8 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!isF8(op.getIn().getType()))
      return rewriter.notifyMatchFailure(op, "not from an f8 type");
    Arith a(rewriter, op);
    Value bits = a.cast_<arith::ExtUIOp>(a.i(16), a.cast_<arith::BitcastOp>(a.i(8), op.getIn()));
    Value result;
    if (isa<Float8E5M2Type>(getElementTypeOrSelf(op.getIn().getType()))) {
      // The upper half of an f16.
      result = a.cast_<arith::BitcastOp>(a.f16(), a.binary<arith::ShLIOp>(bits, 8));
      if (!getElementTypeOrSelf(op.getType()).isF16())
        result = a.fromF32(a.cast_<arith::ExtFOp>(a.f32(), result), op.getType());
    } else {
      // One bit less of exponent, whose bias is 8 less: as an f16 it is 2^-8 of its value, subnormal or not.
      Value magnitude = a.binary<arith::AndIOp>(bits, 0x7f);
      Value sign = a.binary<arith::ShLIOp>(a.binary<arith::AndIOp>(bits, 0x80), 8);
      Value isNaN = a.compare(arith::CmpIPredicate::eq, magnitude, 0x7f);
      Value moved = a.select(isNaN, a.integer(a.i(16), 0x7e00), a.binary<arith::ShLIOp>(magnitude, 7));
      Value scaled = a.cast_<arith::BitcastOp>(a.f16(), a.binary<arith::OrIOp>(sign, moved));
      Value wide = a.cast_<arith::ExtFOp>(a.f32(), scaled);
      result = a.fromF32(a.binary<arith::MulFOp>(wide, a.number(a.f32(), 256.0)), op.getType());
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// From bf16 to f64, of which `arith-expand` knows only the way to f32.
struct ExtBF16ThroughF32 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isBF16() || !getElementTypeOrSelf(op.getType()).isF64())
      return rewriter.notifyMatchFailure(op, "not from bf16 to f64");
    Arith a(rewriter, op);
    rewriter.replaceOp(op, a.fromF32(a.cast_<arith::ExtFOp>(a.f32(), op.getIn()), op.getType()));
    return success();
  }
};

/// To f8 from f32: rounded to nearest even. Beyond the largest value, f8E5M2 has infinity; f8E4M3FN only NaN.
struct ExpandTruncFToF8 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!isF8(op.getType()))
      return rewriter.notifyMatchFailure(op, "not to an f8 type");
    if (op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) != arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op, "rounds other than to nearest even");
    Arith a(rewriter, op);
    bool hasInfinity = isa<Float8E5M2Type>(getElementTypeOrSelf(op.getType()));
    int64_t mantissa = hasInfinity ? 2 : 3, bias = hasInfinity ? 15 : 7;
    int64_t dropped = 23 - mantissa, minNormal = (127 + 1 - bias) << 23;

    unsigned width = getElementTypeOrSelf(op.getIn().getType()).getIntOrFloatBitWidth();
    Value wide = width == 64   ? a.roundToOdd(op.getIn())
                 : width == 32 ? op.getIn()
                               : a.cast_<arith::ExtFOp>(a.f32(), op.getIn());
    Value bits = a.cast_<arith::BitcastOp>(a.i(32), wide);
    Value magnitude = a.binary<arith::AndIOp>(bits, 0x7fffffff);
    Value sign = a.binary<arith::AndIOp>(a.binary<arith::ShRUIOp>(bits, 24), 0x80);

    // Half of what the last bit kept is worth, less one where that bit is even, carries into it.
    Value lastBit = a.binary<arith::AndIOp>(a.binary<arith::ShRUIOp>(magnitude, dropped), 1);
    Value rounded =
        a.binary<arith::AddIOp>(a.binary<arith::AddIOp>(magnitude, (int64_t(1) << (dropped - 1)) - 1), lastBit);
    Value normal = a.binary<arith::SubIOp>(a.binary<arith::ShRUIOp>(rounded, dropped), (127 - bias) << mantissa);
    // Adding a power of two whose last bit is worth the smallest subnormal rounds to subnormals.
    double power = std::ldexp(1.0, 1 - bias - mantissa + 23);
    Value sum = a.binary<arith::AddFOp>(a.cast_<arith::BitcastOp>(a.f32(), magnitude), a.number(a.f32(), power));
    Value subnormal = a.binary<arith::SubIOp>(a.cast_<arith::BitcastOp>(a.i(32), sum),
                                              a.cast_<arith::BitcastOp>(a.i(32), a.number(a.f32(), power)));
    Value code = a.select(a.compare(arith::CmpIPredicate::ult, magnitude, minNormal), subnormal, normal);
    // Infinity is 0x7c in f8E5M2; 0x7f is NaN in both.
    code = a.binary<arith::MinUIOp>(code, hasInfinity ? 0x7c : 0x7f);
    if (hasInfinity)
      code = a.select(a.compare(arith::CmpIPredicate::ugt, magnitude, 0x7f800000), a.integer(a.i(32), 0x7e), code);
    Value byte = a.cast_<arith::TruncIOp>(a.i(8), a.binary<arith::OrIOp>(sign, code));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), byte);
    return success();
  }
};

/// From f64 to f16 and bf16, which is a call of the compiler's own library on many processors.
struct TruncF64ThroughF32 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType()), to = getElementTypeOrSelf(op.getType());
    if (!from.isF64() || !(to.isF16() || to.isBF16()))
      return rewriter.notifyMatchFailure(op, "not from f64 to a type of 16 bits");
    Arith a(rewriter, op);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), a.roundToOdd(op.getIn()));
    return success();
  }
};

struct LegalizeNarrowFloats : impl::LegalizeNarrowFloatsBase<LegalizeNarrowFloats> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtFOfF8, ExtBF16ThroughF32, ExpandTruncFToF8>(&getContext());
    if (f64ThroughF32)
      patterns.add<TruncF64ThroughF32>(&getContext());
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
