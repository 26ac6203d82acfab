//===- Reals.h - floats in messages ---------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_REALS_H
#define TILEWRIGHT_RUNTIME_HOST_REALS_H

#include "runtime/host/Text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tilewright::host {

/// As Python writes it.
inline void addReal(Text &text, double value) {
  if (std::isnan(value) || std::isinf(value)) {
    text << (std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return;
  }
  // The fewest digits that are this number.
  char digits[40];
  for (int count = 1; count <= 17; ++count) {
    std::snprintf(digits, sizeof(digits), "%.*g", count, value);
    if (std::strtod(digits, nullptr) == value)
      break;
  }
  // Python writes whole numbers below 1e16 out.
  if (std::fabs(value) < 1e16 && value == std::floor(value))
    std::snprintf(digits, sizeof(digits), "%.1f", value);
  text << digits;
}

} // namespace tilewright::host

#endif
