//===- InverseTrigonometry.cpp - angles of sines, cosines and tangents ----===//
#include "passes/kernel-math/Functions.h"

using namespace tilewright::kernelmath;

namespace {
/// asin(|x|) = s + tail where |x| <= 1/2; otherwise acos(|x|) = 2 (s + tail).
struct HalfAngle {
  Bool isFar;
  Float s, tail;
};
} // namespace

static HalfAngle halfAngle(Float a) {
  MathBuilder &m = *a.m;
  Bool isFar = a > 0.5;
  // acos(a) = 2 asin(sqrt((1 - a) / 2)).
  Float z = select(isFar, (1.0 - a) * 0.5, a * a);
  Float s = select(isFar, sqrt(z), a);
  Float tail = s * z * m.polynomial(z, kAsin);
  // What the square root rounded away.
  Bool hasRest = isFar & (z > 0.0);
  Float rest = select(hasRest, fma(-s, s, z) / (s + s), m.number(0.0));
  return {isFar, s, tail + rest};
}

Float tilewright::kernelmath::asin(Float x) {
  Pair halfPi = x.m->pair(kHalfPi);
  auto [isFar, s, tail] = halfAngle(abs(x));
  Pair sum = addToLarger(s + s, tail + tail - halfPi.low);
  Float far = (halfPi.high - sum.high) - sum.low;
  return copySign(select(isFar, far, s + tail), x);
}

Float tilewright::kernelmath::acos(Float x) {
  Pair halfPi = x.m->pair(kHalfPi);
  auto [isFar, s, tail] = halfAngle(abs(x));
  Float near = halfPi.high - (x - (halfPi.low - copySign(tail, x)));
  Float above = s + tail;
  Float below = halfPi.high - (s + (tail - halfPi.low));
  Float far = select(x < 0.0, below, above);
  return select(isFar, far + far, near);
}

/// The angle of the point (x, y) of the first quadrant.
static Float angle(Float y, Float x) {
  MathBuilder &m = *x.m;
  // Of y / x or x / y the one that is at most 1, and beyond tan(pi / 8) the tangent of what it is more than pi / 4.
  Bool isSteep = x < y;
  Float above = select(isSteep, x, y), under = select(isSteep, y, x);
  Float factor = select(under > (m.isDouble() ? 0x1p+1000 : 0x1p+120), 0.25, m.number(1.0));
  above = above * factor;
  under = under * factor;
  Bool isWide = under * 0x1.a8279ap-2 < above;
  Float q = select(isWide, above - under, above) / select(isWide, above + under, under);
  q = select(under == 0.0, 0.0, q);
  Float z = q * q;
  Float tail = q * z * m.polynomial(z, kAtan);
  Pair halfPi = m.pair(kHalfPi);
  Float zero = m.number(0.0);
  Float high = select(isWide, halfPi.high * 0.5, select(isSteep, halfPi.high, zero));
  Float low = select(isWide, halfPi.low * 0.5, select(isSteep, halfPi.low, zero));
  q = select(isSteep, -q, q);
  tail = select(isSteep, -tail, tail);
  return high + (q + (tail + low));
}

Float tilewright::kernelmath::atan(Float x) { return copySign(angle(abs(x), x.m->number(1.0)), x); }

Float tilewright::kernelmath::atan2(Float y, Float x) {
  MathBuilder &m = *x.m;
  Float a = abs(x), b = abs(y);
  // Two infinities count as equal.
  Bool areInfinite = (a == kInfinity) & (b == kInfinity);
  Float result = angle(select(areInfinite, 1.0, b), select(areInfinite, 1.0, a));
  Pair halfPi = m.pair(kHalfPi);
  Float left = (halfPi.high + halfPi.high - result) + (halfPi.low + halfPi.low);
  result = select(copySign(m.number(1.0), x) < 0.0, left, result);
  return select(isNaN(x) | isNaN(y), kNaN, copySign(result, y));
}
