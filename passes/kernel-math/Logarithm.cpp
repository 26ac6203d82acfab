//===- Logarithm.cpp - logarithms and what is made of them ----------------===//
#include "passes/kernel-math/Functions.h"

#include "llvm/Support/MathExtras.h"

using namespace tilewright::kernelmath;

namespace {
/// x = m 2^k with m in [low, 2 low).
struct Split {
  Float m, k;
};
} // namespace

/// Splits a positive number; what it gives for others is of no use.
static Split split(Float x, double low) {
  MathBuilder &m = *x.m;
  // A subnormal has no exponent of its own.
  double least = m.isDouble() ? 0x1p-1022 : 0x1p-126, factor = m.isDouble() ? 0x1p+53 : 0x1p+24;
  Bool isSmall = x < least;
  Int bits = bitsOf(select(isSmall, x * factor, x));
  Int exponent = (bits - bitsOf(m.number(low))) & -(int64_t(1) << m.fraction());
  Float k = toFloat(shiftSigned(exponent, m.fraction()));
  k = k + select(isSmall, -static_cast<double>(m.precision()), m.number(0.0));
  return {fromBits(bits - exponent), k};
}

/// `result` where x is positive and finite. Infinity and NaN stay, 0 has the logarithm -infinity, what is below it
/// none.
static Float finish(Float result, Float x) {
  result = select(x < kInfinity, result, x);
  result = select(x == 0.0, -kInfinity, result);
  return select(x < 0.0, kNaN, result);
}

/// log(1 + f + correction) + k ln(2), of 1 + f in [sqrt(1/2), sqrt(2)) and a correction that is tiny beside f or 1.
static Float logOfOnePlus(Float f, Float k, Float correction) {
  MathBuilder &m = *f.m;
  // With s = f / (2 + f), log(1 + f) is 2 atanh(s) = f - (f^2 / 2 - s (f^2 / 2 + R)).
  Float s = f / (2.0 + f), z = s * s;
  Float half = f * f * 0.5;
  Float below = fma(-s, fma(z, m.polynomial(z, kLog), half), half);
  below = fma(-k, m.part(kLn2, 1), below) - correction;
  return fma(k, m.part(kLn2, 0), f - below);
}

/// The logarithm of f32 to the base that `scale` makes of e, with `log2` that of 2: the exponent times `log2` plus
/// `scale` times the logarithm of a mantissa in [2/3, 4/3), a polynomial.
static Float logOfSingle(Float x, double scale, double log2) {
  MathBuilder &b = *x.m;
  auto [mantissa, k] = split(x, 0x1.555556p-1);
  Float m = mantissa - 1.0, s = m * m;
  static constexpr double even[] = {-0x1.0ae000p-3, -0x1.f1988ap-4, -0x1.55b36ep-3, -0x1.fffe02p-3};
  static constexpr double odd[] = {0x1.208000p-3, 0x1.1e5740p-3, 0x1.99d8b2p-3};
  Float r = fma(b.polynomial(s, {odd, odd}), m, b.polynomial(s, {even, even}));
  r = fma(r, m, b.number(0x1.5554fap-2));
  r = fma(r, m, b.number(-0.5));
  r = fma(r, s, m);
  if (scale != 1.0) {
    // The factor in two parts, as its error would show beside that of the polynomial.
    double high = static_cast<float>(scale);
    r = fma(r, b.number(high), r * (scale - high));
  }
  double high = static_cast<float>(log2);
  return finish(fma(k, b.number(high), fma(k, b.number(log2 - high), r)), x);
}

Pair tilewright::kernelmath::logAsPair(Float x) {
  MathBuilder &b = *x.m;
  auto [m, k] = split(x, 0x1.6a09e667f3bcdp-1);
  // s = (m - 1) / (m + 1), in twice the precision.
  Float above = m - 1.0;
  Pair under = addExactly(m, b.number(1.0));
  Float high = above / under.high;
  Float rest = fma(-high, under.low, fma(-high, under.high, above));
  Pair s = addToLarger(high, rest / under.high);
  // log(m) = 2 s (1 + z / 3 + z^2 P(z)) with z = s^2.
  Pair z = s * s;
  Pair term = z * b.pair(kThird);
  Pair tail = addToLarger(term.high, z.high * z.high * b.polynomial(z.high, kLogTail));
  term = {tail.high, tail.low + term.low};
  Pair twice = {s.high + s.high, s.low + s.low};
  Pair product = twice * term;
  Pair log = addToLarger(twice.high, product.high);
  log = addToLarger(log.high, log.low + (twice.low + product.low));
  Pair ln2 = b.pair(kLn2);
  Pair whole = multiplyExactly(k, ln2.high);
  Pair sum = addToLarger(whole.high, log.high);
  return addToLarger(sum.high, sum.low + fma(k, ln2.low, whole.low + log.low));
}

/// The logarithm to another base, of f64.
static Float logToBase(Float x, const Constant &factor) {
  Pair result = logAsPair(x) * x.m->pair(factor);
  return finish(result.high + result.low, x);
}

Float tilewright::kernelmath::log(Float x) {
  if (!x.m->isDouble())
    return logOfSingle(x, 1.0, llvm::numbers::ln2);
  auto [m, k] = split(x, 0x1.6a09e667f3bcdp-1);
  return finish(logOfOnePlus(m - 1.0, k, x.m->number(0.0)), x);
}

Float tilewright::kernelmath::log2(Float x) {
  return x.m->isDouble() ? logToBase(x, kLog2e) : logOfSingle(x, llvm::numbers::log2e, 1.0);
}

Float tilewright::kernelmath::log10(Float x) {
  if (x.m->isDouble())
    return logToBase(x, kLog10e);
  return logOfSingle(x, 1.0 / llvm::numbers::ln10, llvm::numbers::ln2 / llvm::numbers::ln10);
}

Float tilewright::kernelmath::log1p(Float x) {
  MathBuilder &b = *x.m;
  // 1 + x = u + rest exactly, and log(u + rest) = log(u) + rest / u but for what is below the last place.
  Pair u = addExactly(b.number(1.0), x);
  auto [m, k] = split(u.high, 0x1.6a09e667f3bcdp-1);
  Float result = finish(logOfOnePlus(m - 1.0, k, u.low / u.high), u.high);
  return select(x == 0.0, x, result);
}

/// Beyond this the square of x is all that counts in x^2 + 1, and log(2 x) is what the inverses come to.
static double bigOf(MathBuilder &m) { return m.isDouble() ? 0x1p+54 : 0x1p+26; }

/// log(1 + t), or log(2 x) where `isBig`.
static Float finishInverse(Bool isBig, Float x, Float t) {
  MathBuilder &m = *x.m;
  Float result = log1p(select(isBig, x, t));
  return result + select(isBig, m.part(kLn2, 0), m.number(0.0));
}

Float tilewright::kernelmath::asinh(Float x) {
  Float a = abs(x), square = a * a;
  Float t = a + square / (1.0 + sqrt(1.0 + square));
  return copySign(finishInverse(a >= bigOf(*x.m), a, t), x);
}

Float tilewright::kernelmath::acosh(Float x) {
  Float t = x - 1.0;
  Float root = sqrt(fma(t, t, t + t));
  return select(x >= 1.0, finishInverse(x >= bigOf(*x.m), x, t + root), kNaN);
}

Float tilewright::kernelmath::atanh(Float x) {
  Float a = abs(x);
  return copySign(log1p((a + a) / (1.0 - a)) * 0.5, x);
}
