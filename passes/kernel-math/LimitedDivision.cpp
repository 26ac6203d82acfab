//===- LimitedDivision.cpp - quotients of quantisation, by fma ------------===//
//
// A division of floats is a reciprocal, its corrections, and a branch to a slow path for numbers beside the range. The
// branches keep a compiler from computing elements beside each other. Quantisation divides by a constant, rounds, and
// limits the result to what the type has. What lies outside of the limits then need not be divided as it is, and three
// instructions give the quotient of what lies inside, rounded correctly.
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
  return limits;
}

/// q = fma(fma(-q0, c, x), 1 / c, q0) of q0 = x * (1 / c) is x / c rounded once, where nothing over- or underflows.
struct DivideWithinLimits : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    std::optional<double> divisor = getNumber(op.getRhs());
    if (!getElementTypeOrSelf(op.getType()).isF32() || !divisor)
      return rewriter.notifyMatchFailure(op, "not of f32 by a constant");
    double size = std::abs(*divisor);
    std::optional<Limits> limits = findLimits(op);
    if (!limits || !(size > 0x1p-60 && size < 0x1p60))
      return rewriter.notifyMatchFailure(op, "not limited and rounded afterwards");
    // Beyond twice as much, limits give the same for each number.
    double most = std::max(std::abs(*limits->least), std::abs(*limits->most)) + std::abs(limits->offset) + 1;
    if (!(most < 0x1p40))
      return rewriter.notifyMatchFailure(op, "limits as far away as others");
    MathBuilder m(rewriter, op.getLoc(), op.getType());
    Float x = minimum(maximum(Float{&m, op.getLhs()}, -2 * most * size), 2 * most * size);
    Float by = m.number(*divisor), inverse = m.number(1.0f / static_cast<float>(*divisor)), first = x * inverse;
    rewriter.replaceOp(op, fma(fma(-first, by, x), inverse, first).value);
    return success();
  }
};

} // namespace

void populateLimitedDivision(RewritePatternSet &patterns) { patterns.add<DivideWithinLimits>(patterns.getContext()); }

} // namespace tilewright::kernelmath
