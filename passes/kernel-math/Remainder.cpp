//===- Remainder.cpp - fmod, exactly --------------------------------------===//
#include "passes/kernel-math/Functions.h"

using namespace mlir;
using namespace tilewright::kernelmath;

namespace {
/// |x| = mantissa 2^(exponent - bias - fraction), with the exponent of the smallest normal numbers for subnormals.
struct Parts {
  Int mantissa, exponent;
};
} // namespace

static Parts partsOf(Float magnitude) {
  MathBuilder &m = *magnitude.m;
  int64_t hidden = int64_t(1) << m.fraction();
  Int bits = bitsOf(magnitude), exponent = bits >> m.fraction(), fraction = bits & (hidden - 1);
  Bool isSubnormal = exponent == 0;
  return {select(isSubnormal, fraction, fraction | hidden), select(isSubnormal, m.integer(1), exponent)};
}

static Int remainder(Int x, Int y) { return binary<arith::RemUIOp>(x, y); }
static Int smaller(Int x, Int y) { return binary<arith::MinSIOp>(x, y); }

/// (mantissa 2^count) modulo `divisor`, by long division, so many bits at a time as fit a word.
static Int divideLong(Int mantissa, Int count, Int divisor) {
  MathBuilder &m = *mantissa.m;
  Type type = m.intType();
  Int first = remainder(mantissa, divisor);
  auto loop = scf::WhileOp::create(
      m.b, TypeRange{type, type}, ValueRange{first.value, count.value},
      [&](OpBuilder &, Location, ValueRange state) {
        Bool goesOn = compare(arith::CmpIPredicate::sgt, Int{&m, state[1]}, m.integer(0));
        scf::ConditionOp::create(m.b, goesOn.value, state);
      },
      [&](OpBuilder &, Location, ValueRange state) {
        Int rest{&m, state[0]}, left{&m, state[1]};
        Int step = smaller(left, m.integer(m.width() - m.precision()));
        scf::YieldOp::create(m.b, ValueRange{remainder(rest << step, divisor).value, (left - step).value});
      });
  return {&m, loop.getResult(0)};
}

Float tilewright::kernelmath::fmod(Float x, Float y) {
  MathBuilder &m = *x.m;
  Float a = abs(x), b = abs(y);
  // Where there is nothing to divide, 1 by 1 is.
  Bool divides = (b <= a) & (b > 0.0) & (a < kInfinity);
  Parts dividend = partsOf(select(divides, a, 1.0)), divisor = partsOf(select(divides, b, 1.0));
  // No divisor is 0; this says so.
  Int by = binary<arith::MaxUIOp>(divisor.mantissa, m.integer(1));
  Int rest = divideLong(dividend.mantissa, dividend.exponent - divisor.exponent, by);
  Float least = toFloat(divisor.exponent - (m.bias() + m.fraction()));
  Float result = select(divides, scale(toFloat(rest), least), a);
  Bool hasNone = isNaN(x) | isNaN(y) | (a == kInfinity) | (b == 0.0);
  return select(hasNone, kNaN, copySign(result, x));
}
