//===- Numbers.cpp - narrow numbers as wide ones --------------------------===//
#include "runtime/sim/Numbers.h"

using namespace tilewright::sim;

double tilewright::sim::fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent != 31 ? std::ldexp(1024 + fraction, exponent - 25)
                     : fraction       ? NAN
                                      : INFINITY;
  return bits >> 15 ? -magnitude : magnitude;
}

uint16_t tilewright::sim::toHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return 0x7fff;
  double magnitude = std::fabs(value);
  int exponent;
  std::frexp(magnitude, &exponent);
  // A unit of the last bit; subnormal numbers share that of the smallest normal ones.
  int unit = exponent < -13 ? -24 : exponent - 11;
  double steps = std::nearbyint(std::ldexp(magnitude, -unit));
  if (std::isinf(magnitude) || std::ldexp(steps, unit) >= 65536)
    return sign | 0x7c00;
  if (steps < 1024)
    return sign | static_cast<uint16_t>(steps);
  if (steps == 2048)
    ++unit, steps = 1024;
  return sign | static_cast<uint16_t>((unit + 25) << 10) | (static_cast<uint16_t>(steps) & 1023);
}

double tilewright::sim::fromE4M3(uint8_t bits) {
  int exponent = bits >> 3 & 15, fraction = bits & 7;
  double magnitude = exponent == 15 && fraction == 7 ? NAN
                     : exponent == 0                 ? std::ldexp(fraction, -9)
                                                     : std::ldexp(8 + fraction, exponent - 10);
  return bits >> 7 ? -magnitude : magnitude;
}

uint8_t tilewright::sim::toE4M3(double value) {
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7f;
  int exponent;
  std::frexp(magnitude, &exponent);
  // A unit of the last bit; subnormal numbers share that of the smallest normal ones.
  int unit = magnitude == 0 || exponent < -5 ? -9 : exponent - 4;
  double steps = std::nearbyint(std::ldexp(magnitude, -unit));
  if (std::isinf(magnitude) || std::ldexp(steps, unit) >= 448)
    return sign | 0x7e;
  if (steps < 8)
    return sign | static_cast<uint8_t>(steps);
  if (steps == 16)
    ++unit, steps = 8;
  return sign | static_cast<uint8_t>((unit + 10) << 3) | (static_cast<uint8_t>(steps) & 7);
}

double tilewright::sim::fromE5M2(uint8_t bits) {
  // The upper half of a number of 16 bits.
  return fromHalf(static_cast<uint16_t>(bits << 8));
}
