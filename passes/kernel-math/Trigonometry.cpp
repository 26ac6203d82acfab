//===- Trigonometry.cpp - sines, cosines, tangents ------------------------===//
#include "passes/kernel-math/Functions.h"

using namespace mlir;
using namespace tilewright::kernelmath;

namespace {
/// x = quadrant pi / 2 + angle, the quadrant modulo 4 and |angle| at most pi / 4, or hardly more.
struct ReducedAngle {
  Pair angle;
  Int quadrant;
};

struct ProductOfWords {
  Int low, high;
};
} // namespace

/// Of numbers up to 2^16 and 2^30: pi / 2 in three parts is subtracted so often that the product is exact.
static ReducedAngle reduceModerate(Float x) {
  MathBuilder &m = *x.m;
  Float n = roundToEven(x * m.part(kTwoOverPi, 0));
  Float rest = fma(-n, m.part(kHalfPi, 0), x); // exact: what cancels is all that has no place
  Pair middle = multiplyExactly(n, m.part(kHalfPi, 1));
  Pair sum = addExactly(rest, -middle.high);
  Float low = fma(-n, m.part(kHalfPi, 2), sum.low - middle.low);
  return {addToLarger(sum.high, low), toInt(n)};
}

static ProductOfWords multiplyWords(Int x, Int y) {
  auto op = arith::MulUIExtendedOp::create(x.m->b, x.value, y.value);
  return {{x.m, op.getLow()}, {x.m, op.getHigh()}};
}

/// Three words of the bits of 2 / pi behind the point, from bit number `start` on, where -1 is the first before it.
static SmallVector<Int> bitsOfTwoOverPi(Int start) {
  MathBuilder &m = *start.m;
  unsigned width = m.width();
  SmallVector<Int> words;
  for (uint64_t word : kBitsOfTwoOverPi) {
    if (m.isDouble()) {
      words.push_back(m.integer(word));
    } else {
      words.push_back(m.integer(word >> 32));
      words.push_back(m.integer(word & 0xffffffff));
    }
  }
  // f32 has exponents for a few of the words; 64 zeros stand in front.
  if (!m.isDouble())
    words.resize(12);
  Int position = start + 64, word = position >> llvm::Log2_32(width), shift = position & (width - 1);
  // The words move to the front by the bits of the number of the first, the highest bit first.
  for (unsigned step = words.size() > 16 ? 16 : 8; step; step /= 2) {
    Bool moves = (word & step) != 0;
    size_t needed = std::min<size_t>(words.size(), 4 + step - 1);
    for (size_t i = 0; i < needed; ++i)
      words[i] = i + step < words.size() ? select(moves, words[i + step], words[i]) : words[i];
    words.resize(needed);
  }
  SmallVector<Int> result;
  for (int i = 0; i < 3; ++i)
    result.push_back((words[i] << shift) | ((words[i + 1] >> 1) >> ((width - 1) - shift)));
  return result;
}

/// Of large numbers, by Payne and Hanek: x = M 2^E, and of M 2^E 2 / pi the integer part modulo 4 and the fraction need
/// no more than three words of the bits of 2 / pi, from those on that count 2 when times 2^E.
static ReducedAngle reduceLarge(Float x) {
  MathBuilder &m = *x.m;
  int64_t width = m.width(), precision = m.precision(), fraction = m.fraction();
  Int bits = bitsOf(x);
  Int mantissa = (bits & ((int64_t(1) << fraction) - 1)) | (int64_t(1) << fraction);
  Int exponent = (bits >> fraction) - (m.bias() + fraction);
  SmallVector<Int> words = bitsOfTwoOverPi(exponent - 2);

  // The product modulo 2^(3 width), without its last word: a fixed point number of which 2 bits are integer.
  ProductOfWords last = multiplyWords(words[2], mantissa), middle = multiplyWords(words[1], mantissa);
  Int low = middle.low + last.high;
  Int high = words[0] * mantissa + middle.high + fromBool(isBelowUnsigned(low, last.high));
  Int quadrant = (high + (int64_t(1) << (width - 3))) >> (width - 2);
  // The fraction, of -1/2 to 1/2, in quarters of turns.
  high = (high << 2) | (low >> (width - 2));
  low = low << 2;
  Bool negative = isNegative(high);
  Int complement = (high.m->integer(-1) - high) + fromBool(low == 0);
  high = select(negative, complement, high);
  low = select(negative, 0 - low, low);
  // As two floats, each exact.
  int64_t mask = (int64_t(1) << (width - precision)) - 1;
  Float upper = toFloatUnsigned(high - (high & mask)) * std::ldexp(1.0, -width);
  Float lower = toFloatUnsigned(((high & mask) << precision) | (low >> (width - precision))) *
                std::ldexp(1.0, -width - precision);
  Pair angle = addToLarger(upper, lower) * m.pair(kHalfPi);
  return {{select(negative, -angle.high, angle.high), select(negative, -angle.low, angle.low)}, quadrant};
}

/// Of any number that is not negative. The hard way is taken only where a lane needs it.
static ReducedAngle reduce(Float x) {
  MathBuilder &m = *x.m;
  ReducedAngle moderate = reduceModerate(x);
  Bool isLarge = x > (m.isDouble() ? 0x1p+30 : 0x1p+16);
  Value any = isLarge.value;
  if (isa<VectorType>(any.getType()))
    any = vector::ReductionOp::create(m.b, vector::CombiningKind::OR, any);
  auto choose =
      scf::IfOp::create(m.b, TypeRange{m.floatType(), m.floatType(), m.intType()}, any, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(m.b);
    m.b.setInsertionPointToStart(choose.thenBlock());
    ReducedAngle large = reduceLarge(x);
    scf::YieldOp::create(m.b, ValueRange{select(isLarge, large.angle.high, moderate.angle.high).value,
                                         select(isLarge, large.angle.low, moderate.angle.low).value,
                                         select(isLarge, large.quadrant, moderate.quadrant).value});
    m.b.setInsertionPointToStart(choose.elseBlock());
    scf::YieldOp::create(m.b, ValueRange{moderate.angle.high.value, moderate.angle.low.value, moderate.quadrant.value});
  }
  return {{{&m, choose.getResult(0)}, {&m, choose.getResult(1)}}, {&m, choose.getResult(2)}};
}

static Float sineOf(Pair angle) {
  Float x = angle.high, z = x * x;
  Float tail = fma(x * z, x.m->polynomial(z, kSin), fma(angle.low * -0.5, z, angle.low));
  return x + tail;
}

static Float cosineOf(Pair angle) {
  Float x = angle.high, z = x * x, half = z * 0.5;
  Float whole = 1.0 - half;
  Float tail = fma(z * z, x.m->polynomial(z, kCos), -(x * angle.low));
  return whole + (((1.0 - whole) - half) + tail);
}

/// `x` with its sign flipped where bit 1 of `number` is set.
static Float flipSign(Float x, Int number) {
  Int sign = (number & 2) << (x.m->width() - 2);
  return fromBits(binary<arith::XOrIOp>(bitsOf(x), sign));
}

static Float sineOfQuadrant(Pair angle, Int quadrant) {
  return flipSign(select((quadrant & 1) != 0, cosineOf(angle), sineOf(angle)), quadrant);
}

Float tilewright::kernelmath::sin(Float x) {
  auto [angle, quadrant] = reduce(abs(x));
  Float result = sineOfQuadrant(angle, quadrant);
  result = select(x < 0.0, -result, select(x == 0.0, x, result));
  return select(abs(x) < kInfinity, result, kNaN);
}

Float tilewright::kernelmath::cos(Float x) {
  auto [angle, quadrant] = reduce(abs(x));
  return select(abs(x) < kInfinity, sineOfQuadrant(angle, quadrant + 1), kNaN);
}

Float tilewright::kernelmath::tan(Float x) {
  auto [angle, quadrant] = reduce(abs(x));
  Bool isOdd = (quadrant & 1) != 0;
  Float sine = sineOf(angle), cosine = cosineOf(angle);
  Float result = select(isOdd, -cosine, sine) / select(isOdd, sine, cosine);
  result = select(x < 0.0, -result, select(x == 0.0, x, result));
  return select(abs(x) < kInfinity, result, kNaN);
}
