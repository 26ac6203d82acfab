//===- Power.cpp - x to the power of y ------------------------------------===//
#include "passes/kernel-math/Functions.h"

using namespace tilewright::kernelmath;

Float tilewright::kernelmath::pow(Float x, Float y) {
  MathBuilder &m = *x.m;
  Float a = abs(x);
  // |x|^y = e^(y log|x|), the exponent in twice the precision: its error becomes relative to the result.
  Pair log = logAsPair(a);
  Float high = select(a == 0.0, -kInfinity, select(a == kInfinity, a, log.high));
  Pair power = multiplyExactly(y, high);
  power.low = fma(y, log.low, power.low);
  double bound = m.isDouble() ? 760.0 : 110.0;
  Bool isInside = abs(power.high) < bound;
  Float result = expOfPair({minimum(maximum(power.high, -bound), bound), select(isInside, power.low, 0.0)});

  // 1 to any power, and a result of 1 that would be 0 times infinity.
  result = select(a == 1.0, 1.0, result);
  // Negative numbers have powers at integers alone, whose oddness is the sign; the largest numbers are even.
  Float half = y * 0.5;
  Bool isInteger = trunc(y) == y;
  Bool isOdd = isInteger & (trunc(half) != half);
  result = select(isOdd, copySign(result, x), result);
  Bool hasNone = (x < 0.0) & (x > -kInfinity) & (trunc(y) != y);
  result = select(hasNone, kNaN, result);
  // What is NaN makes NaN, but not to the power of 0 and not as a power of 1.
  result = select(isNaN(x) | isNaN(y), kNaN, result);
  return select((y == 0.0) | (x == 1.0), 1.0, result);
}
