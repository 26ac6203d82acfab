//===- Matrices.cpp - what a warp does with matrices ----------------------===//
//
// Eight rows of 16 bytes lie in one register of 32 lanes: lane l has bytes 4 (l mod 4) to 4 (l mod 4) + 3 of row l / 4. The
// factors of a product are made of such parts, the second with its columns as rows; the sums are too, with two elements a
// part and lane, whatever their size.
//
//===----------------------------------------------------------------------===//
#include "runtime/sim/Matrices.h"

#include <cmath>
#include <cstring>

using namespace tilewright::sim;

static constexpr int rowsOfPart = 8, bytesOfLane = 4, rowsOfSums = 16, columnsOfSums = 8;

template <typename T>
static T read(const char *from, int element) {
  T value;
  std::memcpy(&value, from + element * sizeof(T), sizeof(T));
  return value;
}

static float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static double fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent != 31 ? std::ldexp(1024 + fraction, exponent - 25)
                     : fraction       ? NAN
                                      : INFINITY;
  return bits >> 15 ? -magnitude : magnitude;
}

/// Rounded to nearest even.
static uint16_t toHalf(double value) {
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

static int bytesOfFactor(MatrixTypes types) {
  return types == MatrixTypes::TF32ToF32 ? 4 : types == MatrixTypes::S8ToS32 ? 1 : 2;
}

static double readFactor(MatrixTypes types, const char *from, int element) {
  switch (types) {
  case MatrixTypes::F16ToF32:
  case MatrixTypes::F16ToF16:
    return fromHalf(read<uint16_t>(from, element));
  case MatrixTypes::BF16ToF32:
    return asFloat(static_cast<uint32_t>(read<uint16_t>(from, element)) << 16);
  case MatrixTypes::TF32ToF32:
    // The hardware leaves out the 13 last bits.
    return asFloat(read<uint32_t>(from, element) & ~0x1fffu);
  case MatrixTypes::S8ToS32:
    return read<int8_t>(from, element);
  }
  return 0;
}

/// The lane and its element of an element of a factor; `rows` is 16 for the first factor, 8 for the second.
static double factorAt(const MatrixPart *const (&lanes)[warpSize], bool isFirst, int row, int column) {
  MatrixTypes types = lanes[0]->types;
  int pack = bytesOfLane / bytesOfFactor(types), columns = 4 * pack, rowParts = isFirst ? 2 : 1;
  int lane = row % rowsOfPart * 4 + column % columns / pack;
  int part = column / columns * rowParts + row / rowsOfPart;
  return readFactor(types, isFirst ? lanes[lane]->a : lanes[lane]->b, part * pack + column % pack);
}

static void multiply(const MatrixPart *const (&lanes)[warpSize]) {
  MatrixTypes types = lanes[0]->types;
  for (int row = 0; row < rowsOfSums; ++row)
    for (int column = 0; column < columnsOfSums; ++column) {
      int element = row / rowsOfPart * 2 + column % 2;
      char *sum = lanes[row % rowsOfPart * 4 + column / 2]->c;
      // Products of such factors, and sums of few of them, are exact or nearly so in 64 bits.
      double added = 0;
      for (int k = 0; k < lanes[0]->k; ++k)
        added += factorAt(lanes, true, row, k) * factorAt(lanes, false, column, k);
      if (types == MatrixTypes::S8ToS32) {
        uint32_t value = read<uint32_t>(sum, element) + static_cast<uint32_t>(static_cast<int32_t>(added));
        std::memcpy(sum + 4 * element, &value, 4);
      } else if (types == MatrixTypes::F16ToF16) {
        uint16_t value = toHalf(fromHalf(read<uint16_t>(sum, element)) + added);
        std::memcpy(sum + 2 * element, &value, 2);
      } else {
        float value = static_cast<float>(read<float>(sum, element) + added);
        std::memcpy(sum + 4 * element, &value, 4);
      }
    }
}

static void dealRows(const MatrixPart *const (&lanes)[warpSize]) {
  for (int lane = 0; lane < warpSize; ++lane)
    for (int matrix = 0; matrix < lanes[lane]->matrices; ++matrix) {
      const MatrixPart *const *rows = lanes + rowsOfPart * matrix;
      char *result = lanes[lane]->result + bytesOfLane * matrix;
      if (!lanes[lane]->isTransposed) {
        std::memcpy(result, rows[lane / 4]->row + bytesOfLane * (lane % 4), bytesOfLane);
        continue;
      }
      for (int i = 0; i < 2; ++i)
        std::memcpy(result + 2 * i, rows[lane % 4 * 2 + i]->row + 2 * (lane / 4), 2);
    }
}

void tilewright::sim::exchangeMatrices(const MatrixPart *const (&lanes)[warpSize]) {
  if (lanes[0]->isProduct)
    multiply(lanes);
  else
    dealRows(lanes);
}
