//===- Quantization.cpp - quotients by fma, and rounding by a sum ---------===//
//
// A division of floats is a reciprocal, its corrections, and a branch to a slow path for numbers beside the range. The
// branches keep a compiler from computing elements beside each other. Quantisation divides by a constant, rounds, and
// limits the result to what the type has. What lies outside of the limits then need not be divided as it is, and three
// instructions give the quotient of what lies inside, rounded correctly.
//
// A GPU rounds and converts to integers in the unit for special functions, which has an eighth of the speed of sums. A
// sum with 1.5 2^23 has no bits left for a fraction: its last bits are the rounded number.
//
//===----------------------------------------------------------------------===//
#include "passes/kernel-math/Functions.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tilewright::kernelmath {

namespace {

/// What is done with a quotient: to it `offset` is added, and the sum lies between the limits, or is NaN.
struct Limits {
  double offset = 0.0;
  std::optional<double> least, most;
};

std::optional<double> getNumber(Value value) {
  APFloat number(0.0f);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  return number.convertToDouble();
}

/// What becomes an integer of few bits: round(`rounded`) + offset, between the limits.
struct Rounding {
  Value rounded;
  Limits limits;
};

/// The rounding whose result a conversion takes, if all of it is used there alone.
std::optional<Rounding> findRounding(Operation *conversion) {
  if (!isa<arith::FPToSIOp, arith::FPToUIOp>(conversion))
    return std::nullopt;
  unsigned width = getElementTypeOrSelf(conversion->getResult(0).getType()).getIntOrFloatBitWidth();
  bool isSigned = isa<arith::FPToSIOp>(conversion);
  double floor = isSigned ? -std::exp2(width - 1) : 0.0, ceiling = std::exp2(isSigned ? width - 1 : width) - 1;
  Value value = conversion->getOperand(0);
  if (width > 16 || !getElementTypeOrSelf(value.getType()).isF32())
    return std::nullopt;
  Limits limits;
  while (Operation *op = value.hasOneUse() ? value.getDefiningOp() : nullptr) {
    if (auto rounds = dyn_cast<math::RoundEvenOp>(op)) {
      if (!limits.least || !limits.most || *limits.least > *limits.most)
        return std::nullopt;
      return Rounding{rounds.getOperand(), limits};
    }
    bool isLimit = isa<arith::MaximumFOp, arith::MinimumFOp>(op), limited = limits.least && limits.most;
    if (!isLimit && !isa<arith::AddFOp>(op))
      return std::nullopt;
    std::optional<double> number = getNumber(op->getOperand(1));
    bool isInside = number && *number >= floor && *number <= ceiling && *number == std::floor(*number);
    // Limits come last, then one sum.
    if (!isInside || (isLimit ? limits.offset != 0.0 : !limited || limits.offset != 0.0))
      return std::nullopt;
    std::optional<double> &limit = isa<arith::MaximumFOp>(op) ? limits.least : limits.most;
    if (isLimit && limit)
      return std::nullopt;
    if (isLimit)
      limit = *number;
    else
      limits.offset = *number;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

/// Whether a quotient too near to 0 to be exact makes no other number: it is rounded to an integer or to 8 bits.
bool isRounded(Operation *user) {
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(user))
    return true;
  return isa<arith::TruncFOp>(user) && getElementTypeOrSelf(user->getResult(0).getType()).getIntOrFloatBitWidth() == 8;
}

std::optional<Limits> findLimits(arith::DivFOp op) {
  Limits limits;
  Value value = op.getResult();
  while (value.hasOneUse()) {
    Operation *user = *value.getUsers().begin();
    if (isRounded(user))
      break;
    bool isLimit = isa<arith::MaximumFOp, arith::MinimumFOp>(user);
    if (isLimit || isa<arith::AddFOp>(user)) {
      std::optional<double> number = getNumber(user->getOperand(user->getOperand(0) == value ? 1 : 0));
      if (!number || (!isLimit && (limits.least || limits.most)))
        return std::nullopt;
      if (!isLimit)
        limits.offset += *number;
      else
        (isa<arith::MaximumFOp>(user) ? limits.least : limits.most) = *number;
    } else if (!isa<math::RoundEvenOp>(user)) {
      return std::nullopt;
    }
    value = user->getResult(0);
  }
  if (!limits.least || !limits.most || !llvm::all_of(value.getUsers(), isRounded))
    return std::nullopt;
  if (value.hasOneUse() && findRounding(*value.getUsers().begin()))
    return std::nullopt; // RoundBySum has the quotient
  return limits;
}

/// q = fma(fma(-q0, c, x), 1 / c, q0) of q0 = x * (1 / c) is x / c rounded once, where nothing over- or underflows.
Float divide(Float x, double divisor) {
  Float by = x.m->number(divisor), inverse = x.m->number(1.0f / static_cast<float>(divisor)), first = x * inverse;
  return fma(fma(-first, by, x), inverse, first);
}

/// The number that quantisation divides by, if products give the quotient.
std::optional<double> getDivisor(arith::DivFOp op) {
  std::optional<double> divisor = getNumber(op.getRhs());
  bool isModerate = divisor && std::abs(*divisor) > 0x1p-60 && std::abs(*divisor) < 0x1p60;
  return isModerate && getElementTypeOrSelf(op.getType()).isF32() ? divisor : std::nullopt;
}

struct DivideWithinLimits : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    std::optional<double> divisor = getDivisor(op);
    std::optional<Limits> limits = findLimits(op);
    if (!divisor || !limits)
      return rewriter.notifyMatchFailure(op, "not of f32 by a constant, limited and rounded afterwards");
    // Beyond twice as much, limits give the same for each number.
    double most = std::max(std::abs(*limits->least), std::abs(*limits->most)) + std::abs(limits->offset) + 1;
    if (!(most < 0x1p40))
      return rewriter.notifyMatchFailure(op, "limits as far away as others");
    MathBuilder m(rewriter, op.getLoc(), op.getType());
    double bound = 2 * most * std::abs(*divisor);
    rewriter.replaceOp(op, divide(minimum(maximum(Float{&m, op.getLhs()}, -bound), bound), *divisor).value);
    return success();
  }
};

/// The last bits of a sum with 1.5 2^23 are an integer of up to 16 bits, rounded to even. NaN becomes 0: its bits are
/// beyond those of all sums, as unsigned numbers.
template <typename Conversion> struct RoundBySum : OpRewritePattern<Conversion> {
  using OpRewritePattern<Conversion>::OpRewritePattern;

  LogicalResult matchAndRewrite(Conversion op, PatternRewriter &rewriter) const override {
    std::optional<Rounding> found = findRounding(op);
    if (!found)
      return rewriter.notifyMatchFailure(op, "not of what is rounded, then limited");
    Value value = found->rounded;
    auto division = value.getDefiningOp<arith::DivFOp>();
    std::optional<double> divisor = division && value.hasOneUse() ? getDivisor(division) : std::nullopt;
    if (divisor)
      value = division.getLhs();
    MathBuilder m(rewriter, op.getLoc(), value.getType());
    // What is limited before it is divided and rounded needs no limits afterwards.
    double by = divisor.value_or(1.0), offset = found->limits.offset;
    auto [least, most] = std::minmax({(*found->limits.least - offset) * by, (*found->limits.most - offset) * by});
    Float x = minimum(maximum(Float{&m, value}, least), most);
    // An even part of the offset leaves what a tie is rounded to.
    double even = 2 * std::ceil(offset / 2);
    Int bits = bitsOf((divisor ? divide(x, by) : x) + (0x1.8p23 + even));
    if (offset != even)
      bits = bits - 1; // which no NaN is near enough to 0 for
    Int limited = binary<arith::MinUIOp>(bits, m.integer(kBitsBeyondSums));
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), limited.value);
    return success();
  }

private:
  /// 1.5 2^23 + 2^16, whose last 16 bits are 0.
  static constexpr int64_t kBitsBeyondSums = 0x4b410000;
};

} // namespace

void populateQuantization(RewritePatternSet &patterns) {
  patterns.add<DivideWithinLimits, RoundBySum<arith::FPToSIOp>, RoundBySum<arith::FPToUIOp>>(patterns.getContext());
}

} // namespace tilewright::kernelmath
