//===- Numbers.h - narrow numbers as wide ones ----------------------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_NUMBERS_H
#define TILEWRIGHT_RUNTIME_SIM_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tilewright::sim {

inline float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline float fromBF16(uint16_t bits) { return asFloat(static_cast<uint32_t>(bits) << 16); }

/// The hardware leaves out the 13 last bits.
inline float fromTF32(uint32_t bits) { return asFloat(bits & ~0x1fffu); }

/// What cvt.rna.tf32.f32 makes of it: the nearest one, of two the greater; what is no finite number stays.
inline float roundedToTF32(uint32_t bits) {
  constexpr uint32_t exponent = 0x7f800000;
  return (bits & exponent) == exponent ? asFloat(bits) : fromTF32(bits + 0x1000);
}

double fromHalf(uint16_t bits);
/// Rounded to nearest even.
uint16_t toHalf(double value);

/// Has no infinity, and one pattern (beside the sign) for what is no number.
double fromE4M3(uint8_t bits);
/// Rounded to nearest even; what is beyond the greatest number becomes that.
uint8_t toE4M3(double value);
double fromE5M2(uint8_t bits);

} // namespace tilewright::sim

#endif
