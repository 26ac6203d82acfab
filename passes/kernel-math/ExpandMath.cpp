//===- ExpandMath.cpp - functions of math as arithmetic -------------------===//
//
// Libdevice is not linked. Of f32, a GPU's unit for special functions has 2^x; everything else is arithmetic. The
// formulas are in Functions.h.
//
//===----------------------------------------------------------------------===//
#include "passes/kernel-math/Functions.h"
#include "passes/kernel-math/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_EXPANDMATH
#include "passes/kernel-math/Passes.h.inc"

namespace {
using kernelmath::Float;
using kernelmath::MathBuilder;

bool isSupported(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || element.isF64();
}

/// Ops of math on f16 and bf16 are those of f32, rounded.
struct ComputeInF32 : RewritePattern {
  explicit ComputeInF32(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<math::MathDialect>(op->getDialect()) && !isa<arith::RemFOp>(op))
      return rewriter.notifyMatchFailure(op, "not an op of math");
    auto isNarrow = [](Type type) {
      Type element = getElementTypeOrSelf(type);
      return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
    };
    if (isa<math::FmaOp>(op) && getElementTypeOrSelf(op->getResult(0).getType()).isF16())
      return rewriter.notifyMatchFailure(op, "an instruction on f16, which rounds once");
    if (llvm::none_of(op->getOperandTypes(), isNarrow))
      return rewriter.notifyMatchFailure(op, "not on narrow floats");
    auto widen = [&](Type type) -> Type {
      auto vector = dyn_cast<VectorType>(type);
      return isNarrow(type) ? vector ? Type(vector.clone(rewriter.getF32Type())) : rewriter.getF32Type() : type;
    };
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(
          isNarrow(operand.getType())
              ? arith::ExtFOp::create(rewriter, op->getLoc(), widen(operand.getType()), operand).getResult()
              : operand);
    for (Type type : op->getResultTypes())
      state.addTypes(widen(type));
    state.addAttributes(op->getAttrs());
    Operation *wide = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [type, result] : llvm::zip(op->getResultTypes(), wide->getResults()))
      results.push_back(isNarrow(type) ? arith::TruncFOp::create(rewriter, op->getLoc(), type, result).getResult()
                                       : result);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Replaces an `Op` by what `function` builds of its operands.
template <typename Op, auto function> struct Expand : OpRewritePattern<Op> {
  Expand(MLIRContext *context, bool hasUnit = true, PatternBenefit benefit = 1)
      : OpRewritePattern<Op>(context, benefit), hasUnit(hasUnit) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op->getOperand(0).getType();
    if (!isSupported(type))
      return rewriter.notifyMatchFailure(op, "not on f32 or f64");
    MathBuilder m(rewriter, op.getLoc(), type, hasUnit);
    if (isa<math::Exp2Op>(op) && m.hasExp2())
      return rewriter.notifyMatchFailure(op, "2^x of f32 is an instruction");
    if constexpr (std::is_invocable_v<decltype(function), Float, Float>)
      rewriter.replaceOp(op, function(Float{&m, op->getOperand(0)}, Float{&m, op->getOperand(1)}).value);
    else
      rewriter.replaceOp(op, function(Float{&m, op->getOperand(0)}).value);
    return success();
  }

  bool hasUnit;
};

/// The square root and the division are both rounded correctly.
Float rsqrt(Float x) { return 1.0 / sqrt(x); }
kernelmath::Bool isNaN(Float x) { return kernelmath::isNaN(x); }
kernelmath::Bool isInf(Float x) { return abs(x) == kernelmath::kInfinity; }
kernelmath::Bool isFinite(Float x) { return abs(x) < kernelmath::kInfinity; }

/// Whether all that is done with a value is to add it to, or to subtract it from or from it, constants of at least 1.
bool isTermBesideOne(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (!isa<arith::AddFOp, arith::SubFOp>(user))
      return false;
    APFloat other(0.0f);
    Value beside = user->getOperand(0) == value ? user->getOperand(1) : user->getOperand(0);
    return matchPattern(beside, m_ConstantFloat(&other)) && std::abs(other.convertToDouble()) >= 1;
  });
}

struct ExpandErfOfTerm : OpRewritePattern<math::ErfOp> {
  ExpandErfOfTerm(MLIRContext *context, bool hasUnit, PatternBenefit benefit)
      : OpRewritePattern(context, benefit), hasUnit(hasUnit) {}

  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() || !isTermBesideOne(op))
      return rewriter.notifyMatchFailure(op, "not on f32, or for more than a sum with 1");
    MathBuilder m(rewriter, op.getLoc(), op.getType(), hasUnit);
    rewriter.replaceOp(op, kernelmath::erfOfTerm(Float{&m, op.getOperand()}).value);
    return success();
  }

  bool hasUnit;
};

/// A value and the positive number that it is multiplied by.
struct Multiple {
  Value of;
  double by;
};

/// `value` as a multiple of what it is a product or a quotient of; of itself where it is neither.
Multiple multipleOf(Value value) {
  APFloat number(0.0f);
  Operation *op = value.getDefiningOp();
  if (op && isa<arith::MulFOp, arith::DivFOp>(op) && matchPattern(op->getOperand(1), m_ConstantFloat(&number)))
    if (double by = number.convertToDouble(); by > 0x1p-20 && by < 0x1p20)
      return {op->getOperand(0), isa<arith::MulFOp>(op) ? by : 1 / by};
  return {value, 1.0};
}

/// gelu: a product of x and 1 + erf(c x) needs neither of its factors.
struct ExpandProductWithErf : OpRewritePattern<math::ErfOp> {
  ExpandProductWithErf(MLIRContext *context, bool hasUnit, PatternBenefit benefit)
      : OpRewritePattern(context, benefit), hasUnit(hasUnit) {}

  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    auto sum = op->hasOneUse() ? dyn_cast<arith::AddFOp>(*op->user_begin()) : nullptr;
    auto product = sum && sum->hasOneUse() ? dyn_cast<arith::MulFOp>(*sum->user_begin()) : nullptr;
    if (!product || !getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not on f32, or for more than a product with a sum");
    if (!matchPattern(sum.getLhs(), m_OneFloat()) && !matchPattern(sum.getRhs(), m_OneFloat()))
      return rewriter.notifyMatchFailure(op, "not for a sum with 1");
    Value factor = product.getLhs() == sum.getResult() ? product.getRhs() : product.getLhs();
    Multiple z = multipleOf(op.getOperand());
    Multiple x = factor == z.of ? Multiple{factor, 1.0} : multipleOf(factor);
    if (x.of != z.of)
      return rewriter.notifyMatchFailure(op, "not for a product with what erf is of");
    MathBuilder m(rewriter, op.getLoc(), op.getType(), hasUnit);
    Float result = kernelmath::productWithErf({&m, x.of}, x.by, {&m, op.getOperand()}, z.by);
    rewriter.replaceOp(product, result.value);
    rewriter.eraseOp(sum);
    rewriter.eraseOp(op);
    return success();
  }

  bool hasUnit;
};

/// Beside 1, a power of 2 that is subnormal is 0 once it is rounded.
struct ApproximateTerm : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &rewriter) const override {
    if (arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return rewriter.notifyMatchFailure(op, "approximate already");
    if (!getElementTypeOrSelf(op.getType()).isF32() || !isTermBesideOne(op))
      return rewriter.notifyMatchFailure(op, "not on f32, or for more than a sum with 1");
    rewriter.modifyOpInPlace(op, [&] { op.setFastmath(op.getFastmath() | arith::FastMathFlags::afn); });
    return success();
  }
};

/// Powers with an exponent that is known and small are products.
struct ExpandKnownPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    FloatAttr attr;
    DenseElementsAttr splat;
    if (!matchPattern(op.getRhs(), m_Constant(&attr))) {
      if (!matchPattern(op.getRhs(), m_Constant(&splat)) || !splat.isSplat())
        return rewriter.notifyMatchFailure(op, "not by a constant");
      attr = splat.getSplatValue<FloatAttr>();
    }
    if (!isSupported(op.getType()))
      return rewriter.notifyMatchFailure(op, "not on f32 or f64");
    MathBuilder m(rewriter, op.getLoc(), op.getType());
    Float x{&m, op.getLhs()};
    double exponent = attr.getValueAsDouble();
    if (exponent == 1.0)
      rewriter.replaceOp(op, op.getLhs());
    else if (exponent == 2.0)
      rewriter.replaceOp(op, (x * x).value);
    else if (exponent == 3.0)
      rewriter.replaceOp(op, (x * x * x).value);
    else if (exponent == -1.0)
      rewriter.replaceOp(op, (1.0 / x).value);
    else
      return rewriter.notifyMatchFailure(op, "by a constant that is neither -1, 1, 2 nor 3");
    return success();
  }
};

/// What takes a loop is done lane by lane.
template <typename Op> struct UnrollLanes : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.isScalable())
      return rewriter.notifyMatchFailure(op, "not on vectors of one dimension");
    SmallVector<Value> lanes;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value lhs = vector::ExtractOp::create(rewriter, op.getLoc(), op.getLhs(), i);
      Value rhs = vector::ExtractOp::create(rewriter, op.getLoc(), op.getRhs(), i);
      lanes.push_back(Op::create(rewriter, op.getLoc(), lhs, rhs));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, lanes);
    return success();
  }
};

struct ExpandRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32() && !op.getType().isF64())
      return rewriter.notifyMatchFailure(op, "not on scalars of f32 or f64");
    MathBuilder m(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, kernelmath::fmod({&m, op.getLhs()}, {&m, op.getRhs()}).value);
    return success();
  }
};

/// Squares and multiplies; modulo 2^bits, as all arithmetic on integers.
struct ExpandIntegerPower : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<IntegerType>(op.getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "not on integers");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, rewriter.getIntegerAttr(type, value));
    };
    auto equals = [&](Value x, Value y) -> Value { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y); };
    Value zero = constant(0), one = constant(1), minusOne = constant(-1), base = op.getLhs(), exponent = op.getRhs();
    // Below 0, only 1 and -1 have powers that are no fractions; the others are rounded towards 0. It is as if those
    // were raised to the lowest bit of the exponent, of which oddness is all that counts.
    Value isBelow = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, exponent, zero);
    Value isUnit = arith::OrIOp::create(b, equals(base, one), equals(base, minusOne));
    Value start = arith::SelectOp::create(b, isBelow, arith::SelectOp::create(b, isUnit, one, zero), one);
    Value count = arith::SelectOp::create(b, isBelow, arith::AndIOp::create(b, exponent, one), exponent);
    auto loop = scf::WhileOp::create(
        b, TypeRange{type, type, type}, ValueRange{start, base, count},
        [&](OpBuilder &, Location, ValueRange state) {
          Value goesOn = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, state[2], zero);
          scf::ConditionOp::create(b, goesOn, state);
        },
        [&](OpBuilder &, Location, ValueRange state) {
          Value isOdd = equals(arith::AndIOp::create(b, state[2], one), one);
          Value product = arith::MulIOp::create(b, state[0], state[1]);
          Value result = arith::SelectOp::create(b, isOdd, product, state[0]);
          Value square = arith::MulIOp::create(b, state[1], state[1]);
          scf::YieldOp::create(b, ValueRange{result, square, arith::ShRUIOp::create(b, state[2], one)});
        });
    rewriter.replaceOp(op, loop.getResult(0));
    return success();
  }
};

struct ExpandMath : impl::ExpandMathBase<ExpandMath> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    namespace f = kernelmath;
    bool hasUnit = !onProcessor;
    patterns.add<UnrollLanes<math::IPowIOp>, ExpandIntegerPower>(context);
    patterns.add<ExpandKnownPower>(context, /*benefit=*/2);
    // C libraries compute one element at a time, and are off by 8 units and more next to multiples of pi / 2.
    patterns.add<Expand<math::IsNaNOp, isNaN>, Expand<math::IsInfOp, isInf>, Expand<math::IsFiniteOp, isFinite>,
                 Expand<math::ErfOp, f::erf>, Expand<math::AsinhOp, f::asinh>, Expand<math::AcoshOp, f::acosh>,
                 Expand<math::AtanhOp, f::atanh>, Expand<math::Log1pOp, f::log1p>, Expand<math::ExpM1Op, f::expm1>,
                 Expand<math::ExpOp, f::exp>, Expand<math::Exp2Op, f::exp2>, Expand<math::SinhOp, f::sinh>,
                 Expand<math::CoshOp, f::cosh>, Expand<math::TanhOp, f::tanh>, Expand<math::LogOp, f::log>,
                 Expand<math::Log2Op, f::log2>, Expand<math::Log10Op, f::log10>, Expand<math::SinOp, f::sin>,
                 Expand<math::CosOp, f::cos>, Expand<math::TanOp, f::tan>, Expand<math::AsinOp, f::asin>,
                 Expand<math::AcosOp, f::acos>, Expand<math::AtanOp, f::atan>, Expand<math::Atan2Op, f::atan2>,
                 Expand<math::PowFOp, f::pow>>(context, hasUnit);
    patterns.add<ExpandErfOfTerm>(context, hasUnit, /*benefit=*/2);
    patterns.add<ExpandProductWithErf>(context, hasUnit, /*benefit=*/3);
    if (!onProcessor) {
      f::populateQuantization(patterns);
      patterns.add<ComputeInF32, UnrollLanes<arith::RemFOp>, ExpandRemainder, Expand<math::RsqrtOp, rsqrt>>(context);
      patterns.add<ApproximateTerm>(context, /*benefit=*/2);
    }
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
