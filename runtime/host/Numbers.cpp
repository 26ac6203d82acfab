//===- Numbers.cpp - numbers as arguments of tvm-ffi's ABI ----------------===//
#include "runtime/host/Numbers.h"
#include "runtime/host/Reals.h"

#include <cmath>

using namespace tilewright::host;

namespace {

enum : int32_t { codeInt = 0, codeUInt = 1, codeFloat = 2, codeBFloat = 4, codeBool = 6 };

int32_t codeOf(int32_t dtype) { return dtype & 0xff; }
int32_t bitsOf(int32_t dtype) { return dtype >> 8 & 0xff; }

/// Of a float format: the bits of its fraction, and the exponent of its greatest numbers.
struct Format {
  int32_t fraction, exponent;
};

Format formatOf(int32_t dtype) {
  if (codeOf(dtype) == codeBFloat)
    return {7, 127};
  return bitsOf(dtype) == 16 ? Format{10, 15} : bitsOf(dtype) == 32 ? Format{23, 127} : Format{52, 1023};
}

double greatest(Format format) { return std::ldexp(2.0 - std::ldexp(1.0, -format.fraction), format.exponent); }

/// The nearest number of a narrow format, even where two are as near: its bits.
int64_t encode(double value, Format format, int32_t bits) {
  int32_t exponentBits = bits - 1 - format.fraction;
  int64_t sign = int64_t(std::signbit(value)) << (bits - 1), top = ((int64_t(1) << exponentBits) - 1)
                                                                   << format.fraction;
  if (std::isnan(value))
    return sign | top | int64_t(1) << (format.fraction - 1);
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | top;
  if (magnitude == 0)
    return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // Of numbers below the least normal one the steps are as wide as there.
  int32_t least = 1 - format.exponent, place = exponent - 1 > least ? exponent - 1 : least;
  if (place > format.exponent)
    return sign | top;
  auto steps = static_cast<int64_t>(std::nearbyint(std::ldexp(magnitude, format.fraction - place)));
  // A carry into the next power of two is one into the exponent's bits.
  return sign | (steps + (int64_t(place - least) << format.fraction));
}

} // namespace

Reading tilewright::host::readNumber(const TilewrightAny &value, int32_t dtype, int64_t &bits) {
  int32_t code = codeOf(dtype), width = bitsOf(dtype);
  bool isInt = value.type == TilewrightTypeInt || value.type == TilewrightTypeBigInt;
  if (code == codeBool) {
    bits = value.integer != 0;
    return value.type == TilewrightTypeBool ? Reading::Number : Reading::OtherType;
  }
  // Beyond 64 bits with a sign: tvm-ffi has an object for it, our own callers say that the 64 bits have none.
  bool isUnsigned = value.type == TilewrightTypeInt && value.padding == TilewrightUnsignedInt;
  uint64_t large = static_cast<uint64_t>(value.integer);
  if (value.type == TilewrightTypeBigInt)
    isUnsigned = value.pointer && tilewrightFFI.readBigInt && tilewrightFFI.readBigInt(&value, &large);
  if (code == codeInt || code == codeUInt) {
    if (!isInt)
      return Reading::OtherType;
    bits = static_cast<int64_t>(large);
    if (value.type == TilewrightTypeBigInt || isUnsigned)
      return isUnsigned && code == codeUInt && width == 64 ? Reading::Number : Reading::OutOfRange;
    int64_t low = code == codeUInt ? 0 : INT64_MIN >> (64 - width);
    int64_t high = code == codeUInt && width == 64 ? INT64_MAX : (int64_t(1) << (width - (code == codeInt))) - 1;
    if (code == codeInt && width == 64)
      high = INT64_MAX;
    return bits >= low && bits <= high ? Reading::Number : Reading::OutOfRange;
  }
  if (value.type != TilewrightTypeFloat && !isInt)
    return Reading::OtherType;
  if (value.type == TilewrightTypeBigInt && !isUnsigned)
    return Reading::OutOfRange;
  double real = value.type == TilewrightTypeFloat ? value.real
                : isUnsigned                      ? static_cast<double>(large)
                                                  : static_cast<double>(value.integer);
  if (width == 64) {
    std::memcpy(&bits, &real, sizeof(bits));
    return Reading::Number;
  }
  Format format = formatOf(dtype);
  bits = encode(real, format, width);
  int64_t infinite = ((int64_t(1) << (width - 1 - format.fraction)) - 1) << format.fraction;
  bool overflows = (bits & ((int64_t(1) << (width - 1)) - 1)) == infinite;
  return overflows && !std::isinf(real) ? Reading::OutOfRange : Reading::Number;
}

void tilewright::host::addRange(Text &text, int32_t dtype) {
  int32_t code = codeOf(dtype), width = bitsOf(dtype);
  if (code == codeInt) {
    text << (INT64_MIN >> (64 - width)) << " to " << (INT64_MAX >> (64 - width));
  } else if (code == codeUInt) {
    text << "0 to " << (UINT64_MAX >> (64 - width));
  } else {
    text << "at most ";
    addReal(text, greatest(formatOf(dtype)));
    text << " in magnitude";
  }
}

void tilewright::host::addNumber(Text &text, const TilewrightAny &value) {
  uint64_t large;
  if (value.type == TilewrightTypeFloat)
    addReal(text, value.real);
  else if (value.type == TilewrightTypeBool)
    text << (value.integer ? "True" : "False");
  else if (value.type == TilewrightTypeInt && value.padding == TilewrightUnsignedInt)
    text << static_cast<uint64_t>(value.integer);
  else if (value.type == TilewrightTypeInt)
    text << value.integer;
  else if (value.pointer && tilewrightFFI.readBigInt && tilewrightFFI.readBigInt(&value, &large))
    text << large;
  else
    text << "an int of more than 64 bits";
}

int32_t tilewrightHostReadNumber(const TilewrightAny *value, int32_t dtype, int64_t *bits) {
  Reading reading = readNumber(*value, dtype, *bits);
  return reading == Reading::Number      ? +TilewrightFits
         : reading == Reading::OtherType ? +TilewrightTypeError
                                         : +TilewrightValueError;
}
