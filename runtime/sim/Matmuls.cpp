//===- Matmuls.cpp - what a warpgroup multiplies -------------------------===//
#include "runtime/sim/Matmuls.h"
#include "runtime/sim/Numbers.h"

#include <algorithm>
#include <cstring>

using namespace tilewright::sim;

int tilewright::sim::bytesOf(Element element) {
  switch (element) {
  case Element::F16:
  case Element::BF16:
    return 2;
  case Element::E4M3:
  case Element::E5M2:
  case Element::S8:
    return 1;
  case Element::TF32:
  case Element::F32:
  case Element::S32:
    return 4;
  }
  return 0;
}

template <typename T, typename Convert>
static void convertAll(const char *chunk, double *numbers, int step, Convert convert) {
  for (size_t i = 0; i < chunkBytes / sizeof(T); ++i) {
    T bits;
    std::memcpy(&bits, chunk + i * sizeof(T), sizeof(T));
    numbers[i * step] = convert(bits);
  }
}

/// The numbers of all bit patterns of a type.
template <typename T, typename Convert> static std::vector<double> tabulate(Convert convert) {
  std::vector<double> table(size_t(1) << 8 * sizeof(T));
  for (size_t bits = 0; bits < table.size(); ++bits)
    table[bits] = convert(static_cast<T>(bits));
  return table;
}

void tilewright::sim::decode(Element element, const char *chunk, double *numbers, int step) {
  static const std::vector<double> halves = tabulate<uint16_t>(fromHalf);
  static const std::vector<double> e4m3s = tabulate<uint8_t>(fromE4M3), e5m2s = tabulate<uint8_t>(fromE5M2);
  switch (element) {
  case Element::F16:
    return convertAll<uint16_t>(chunk, numbers, step, [](uint16_t bits) { return halves[bits]; });
  case Element::BF16:
    return convertAll<uint16_t>(chunk, numbers, step, [](uint16_t bits) -> double { return fromBF16(bits); });
  case Element::TF32:
    return convertAll<uint32_t>(chunk, numbers, step, [](uint32_t bits) -> double { return fromTF32(bits); });
  case Element::E4M3:
    return convertAll<uint8_t>(chunk, numbers, step, [](uint8_t bits) { return e4m3s[bits]; });
  case Element::E5M2:
    return convertAll<uint8_t>(chunk, numbers, step, [](uint8_t bits) { return e5m2s[bits]; });
  case Element::S8:
    return convertAll<int8_t>(chunk, numbers, step, [](int8_t bits) -> double { return bits; });
  case Element::F32:
    return convertAll<float>(chunk, numbers, step, [](float number) -> double { return number; });
  case Element::S32:
    return;
  }
}

void Accumulator::add(const double *a, const double *b, int k, int added) {
  // Products of such numbers, but for f32, are exact in 64 bits, and sums of few nearly so: one rounding an
  // instruction.
  for (int row = 0; row < matmulRows; ++row) {
    double *sum = values.data() + row * columns;
    for (int i = 0; i < k; ++i) {
      double factor = a[row * k + i];
      const double *line = b + i * added;
      for (int column = 0; column < added; ++column)
        sum[column] += factor * line[column];
    }
    auto round = [&](auto narrow) { std::transform(sum, sum + added, sum, narrow); };
    if (type == Element::S32) // wraps
      round([](double value) -> double {
        return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(value)));
      });
    else if (type == Element::F16)
      round([](double value) { return fromHalf(toHalf(value)); });
    else
      round([](double value) -> double { return static_cast<float>(value); });
  }
}

/// The first of the two rows of thread `number` of a warpgroup, which are 8 apart.
static int getRow(int number) { return number / warpSize * 16 + number % warpSize / 4; }

void tilewright::sim::decodeRegisters(Element element, const char *registers, int number, double *rows) {
  int inRegister = 4 / bytesOf(element), columns = matmulBytes / bytesOf(element);
  if (element == Element::F32) {
    // As accumulators have them: two neighbours, and those 8 rows further down.
    for (int i = 0; i < 4; ++i) {
      float value;
      std::memcpy(&value, registers + 4 * i, 4);
      rows[(getRow(number) + i / 2 * 8) * columns + number % 4 * 2 + i % 2] = value;
    }
    return;
  }
  // Four registers of neighbours: the upper row, the lower, and half of the columns on both again.
  for (int i = 0; i < 4; ++i) {
    char chunk[chunkBytes] = {};
    double numbers[chunkBytes];
    std::memcpy(chunk, registers + 4 * i, 4);
    decode(element, chunk, numbers, 1);
    double *place = rows + (getRow(number) + 8 * (i % 2)) * columns + number % 4 * inRegister + i / 2 * columns / 2;
    std::copy(numbers, numbers + inRegister, place);
  }
}

void Accumulator::write(int number, const char *registers) {
  int element = 0;
  for (int column = number % 4 * 2; column < columns; column += 8)
    for (int lower = 0; lower < 2; ++lower)
      for (int next = 0; next < 2; ++next, ++element) {
        double &value = values[(getRow(number) + 8 * lower) * columns + column + next];
        if (type == Element::F16) {
          uint16_t bits;
          std::memcpy(&bits, registers + 2 * element, 2);
          value = fromHalf(bits);
        } else if (type == Element::S32) {
          int32_t bits;
          std::memcpy(&bits, registers + 4 * element, 4);
          value = bits;
        } else {
          float bits;
          std::memcpy(&bits, registers + 4 * element, 4);
          value = bits;
        }
      }
}

void Accumulator::read(int number, char *registers) const {
  int row = getRow(number), first = number % 4 * 2, element = 0;
  for (int column = first; column < columns; column += 8)
    for (int lower = 0; lower < 2; ++lower)
      for (int next = 0; next < 2; ++next, ++element) {
        double value = values[(row + 8 * lower) * columns + column + next];
        if (type == Element::F16) {
          uint16_t bits = toHalf(value);
          std::memcpy(registers + 2 * element, &bits, 2);
        } else if (type == Element::S32) {
          auto bits = static_cast<int32_t>(value);
          std::memcpy(registers + 4 * element, &bits, 4);
        } else {
          auto bits = static_cast<float>(value);
          std::memcpy(registers + 4 * element, &bits, 4);
        }
      }
}

Accumulator &Accumulators::create(Element type, int columns) {
  if (all.size() == maxLive)
    all.erase(std::min_element(all.begin(), all.end(),
                               [](const Accumulator &a, const Accumulator &b) { return a.id < b.id; }));
  all.emplace_back();
  Accumulator &accumulator = all.back();
  accumulator.type = type;
  accumulator.columns = columns;
  accumulator.values.assign(matmulRows * columns, 0);
  return accumulator;
}

Accumulator *Accumulators::find(uint64_t id) {
  auto found =
      std::find_if(all.begin(), all.end(), [&](const Accumulator &accumulator) { return accumulator.id == id; });
  return found == all.end() ? nullptr : &*found;
}
