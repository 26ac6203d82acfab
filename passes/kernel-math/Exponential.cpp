//===- Exponential.cpp - powers of e and what is made of them -------------===//
#include "passes/kernel-math/Functions.h"

using namespace mlir;
using namespace tilewright::kernelmath;

/// 2^n of an integral n that a normal number holds.
static Float powerOf2(Int n) { return fromBits((n + n.m->bias()) << n.m->fraction()); }

static Float scale(Float p, Int n) {
  // In two steps, as 2^n alone may be beyond the range where the product is not.
  Int half = shiftSigned(n, 1);
  return p * powerOf2(half) * powerOf2(n - half);
}

Float tilewright::kernelmath::scale(Float p, Float n) { return ::scale(p, toInt(n)); }

namespace {
/// x = n ln(2) + r with |r| <= ln(2) / 2, and e^r - 1.
struct Reduced {
  Float n, power;
};
} // namespace

/// x - n ln(2).
static Float rest(Float x, Float n) {
  Pair ln2 = x.m->pair(kLn2);
  return fma(-n, ln2.low, fma(-n, ln2.high, x));
}

/// e^r - 1 of a small r.
static Float powerOf(Float r) { return fma(r * r, r.m->polynomial(r, kExp), r); }

static Reduced reduce(Pair x) {
  Float n = roundToEven(x.high * x.high.m->part(kLog2e, 0));
  return {n, powerOf(rest(x.high, n) + x.low)};
}

Float tilewright::kernelmath::expOfPair(Pair x, int exponent) {
  auto [n, power] = reduce(x);
  return scale(1.0 + power, n + exponent);
}

/// Beyond these bounds e^x is 0 or infinity, halved or not.
static Float clamp(Float x) {
  bool isDouble = x.m->isDouble();
  return minimum(maximum(x, isDouble ? -760.0 : -110.0), isDouble ? 720.0 : 92.0);
}

Float tilewright::kernelmath::exp(Float x) {
  MathBuilder &m = *x.m;
  if (!m.hasExp2()) {
    // A sum that has no bits left for a fraction has n as its last bits.
    x = clamp(x);
    Float shift = m.number(m.isDouble() ? 0x1.8p52 : 0x1.8p23);
    Float sum = x * m.part(kLog2e, 0) + shift;
    // What 1 + r loses is added to the rest of the polynomial.
    Float r = rest(x, sum - shift);
    Pair first = addToLarger(m.number(1.0), r);
    return ::scale(first.high + fma(r * r, m.polynomial(r, kExp), first.low), bitsOf(sum) - bitsOf(shift));
  }
  // e^x = 2^n 2^f, where n is the nearest integer that a normal number's exponent can be, and f is x log2(e) - n with
  // both parts of log2(e): in [-1/2, 1/2], or as far beyond as x is. A sum that has no bits left for a fraction rounds
  // to n, and has n with the bias as its last bits.
  Pair log2e = m.pair(kLog2e);
  double shift = 0x1.8p23 + m.bias();
  Float sum = minimum(maximum(x * log2e.high, -126.0), 127.0) + shift;
  Float f = fma(x, log2e.low, fma(x, log2e.high, -(sum - shift)));
  return exp2OfNormal(f) * fromBits(bitsOf(sum) << m.fraction());
}

Float tilewright::kernelmath::exp2(Float x) {
  MathBuilder &m = *x.m;
  if (m.hasExp2())
    return exp2OfUnit(x);
  if (!m.isDouble()) {
    // Twice the precision rounds once, also to subnormal numbers.
    MathBuilder wide(m.b, m.b.getLoc(), m.of(m.b.getF64Type()), /*hasUnit=*/false);
    Float y{&wide, wide.make<arith::ExtFOp>(wide.floatType(), x.value)};
    y = minimum(maximum(y, -160.0), 130.0);
    Float n = roundToEven(y), r = (y - n) * wide.part(kLn2, 0);
    Float result = fma(r * r, wide.polynomial(r, {kExp32, kExp32}), r + 1.0) * powerOf2(toInt(n));
    return {&m, m.make<arith::TruncFOp>(m.floatType(), result.value)};
  }
  x = minimum(maximum(x, -1080.0), 1030.0);
  Float n = roundToEven(x);
  return scale(1.0 + powerOf((x - n) * m.part(kLn2, 0)), n);
}

Float tilewright::kernelmath::exp2OfNormal(Float x) {
  MathBuilder &m = *x.m;
  if (m.hasExp2())
    return {&m, m.make<math::Exp2Op>(x.value, arith::FastMathFlags::afn)};
  // 2^-127 has the bits of 0.
  x = minimum(maximum(x, -127.0), 127.0);
  Float n = roundToEven(x);
  return (1.0 + powerOf((x - n) * m.part(kLn2, 0))) * powerOf2(toInt(n));
}

/// e^x - 1, of an x that is not near the largest: 2^n (e^r - 1) + (2^n - 1).
static Float expm1OfModerate(Float x) {
  auto [n, power] = reduce({x, x.m->number(0.0)});
  Float scale = powerOf2(toInt(n));
  return fma(power, scale, scale - 1.0);
}

Float tilewright::kernelmath::expm1(Float x) {
  Float low = maximum(minimum(x, 1.0), -50.0);
  Float result = select(x > 1.0, exp(x) - 1.0, expm1OfModerate(low));
  return select(x == 0.0, x, result);
}

Float tilewright::kernelmath::sinh(Float x) {
  Float a = abs(x);
  Float e = expm1OfModerate(minimum(a, 1.0));
  Float small = (e + e / (e + 1.0)) * 0.5;
  Float half = expOfPair({clamp(a), x.m->number(0.0)}, -1);
  return copySign(select(a < 1.0, small, half - 0.25 / half), x);
}

Float tilewright::kernelmath::cosh(Float x) {
  Float half = expOfPair({clamp(abs(x)), x.m->number(0.0)}, -1);
  return half + 0.25 / half;
}

Float tilewright::kernelmath::tanh(Float x) {
  MathBuilder &m = *x.m;
  Float a = abs(x);
  if (m.isDouble()) {
    Float e = expm1OfModerate(minimum(a + a, 50.0));
    return copySign(e / (e + 2.0), x);
  }
  // 1 - 2 / (e^2|x| + 1). Near 0 that would cancel: a polynomial.
  Float large = 1.0 - 2.0 / (exp(a + a) + 1.0);
  static constexpr double coefficients[] = {0x1.01e104p-6, -0x1.ac795cp-5, 0x1.10b282p-3, -0x1.5553dap-2};
  Float s = x * x;
  Float small = fma(m.polynomial(s, {coefficients, coefficients}) * s, x, x);
  return copySign(select(a < 0.6, small, large), x);
}

Float tilewright::kernelmath::erf(Float x) {
  MathBuilder &m = *x.m;
  Float a = abs(x);
  Float small = fma(x, m.polynomial(x * x, kErf), x);
  // 1 - erfc; past the bound that is 1.
  Float far = minimum(a, m.isDouble() ? 6.0 : 4.0);
  if (!m.isDouble()) {
    // log2(erfc x) where 1 <= x <= 4, which spares the division.
    static constexpr double coefficients[] = {0x1.f83154e0c6095p-13, -0x1.0502bda2a7500p-8, 0x1.f3186cc205678p-6,
                                              -0x1.2c53ddc90aeb3p-3, -0x1.d892e3b066320p-1, -0x1.9feaddf0ad8e7p+0,
                                              -0x1.ad847e6c81d80p-11};
    Float large = 1.0 - exp2OfNormal(m.polynomial(far, {coefficients, coefficients}));
    return select(a < 1.0, small, copySign(large, x));
  }
  Float t = 1.0 / fma(far, m.number(0.5), m.number(1.0));
  Float large = 1.0 - exp(-(far * far)) * m.polynomial(t, kErfc);
  return select(a < 1.0, small, copySign(large, x));
}

/// log2(erfc a) / a where 0 <= a <= 4: what 1 - erfc loses of a small number does not count.
static Float slopeOfErfc(Float a) {
  static constexpr double coefficients[] = {-0x1.7c7edcp-15, 0x1.d32610p-12, -0x1.8672c2p-10, -0x1.9620f6p-11,
                                            0x1.cee886p-6,   -0x1.301720p-3, -0x1.d63aacp-1,  -0x1.a0be9ep+0};
  return a.m->polynomial(a, {coefficients, coefficients});
}

Float tilewright::kernelmath::erfOfTerm(Float x) {
  Float a = minimum(abs(x), 4.0);
  return copySign(1.0 - exp2OfNormal(slopeOfErfc(a) * a), x);
}

Float tilewright::kernelmath::productWithErf(Float x, double factor, Float z, double slope) {
  // factor x (1 + erf z) = max(2 factor x, 0) - factor |x| erfc |z|, where factor |x| is |z| factor / slope. Past 4,
  // the power goes on to 0 with |z|, and takes an |x| that is infinite with it.
  Float a = minimum(abs(z), 4.0), twice = 2 * factor == 1.0 ? x : x * (2 * factor);
  Float power = exp2OfNormal(fma(slopeOfErfc(a), abs(z), x.m->number(std::log2(factor / slope))));
  return fma(-a, power, maximum(twice, 0.0));
}
