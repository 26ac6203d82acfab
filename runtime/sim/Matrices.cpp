//===- Matrices.cpp - what a warp does with matrices ----------------------===//
//
// Eight rows of 16 bytes lie in one register of 32 lanes: lane l has bytes 4 (l mod 4) to 4 (l mod 4) + 3 of row l / 4.
// The operands of a matmul are made of such parts, the second with its columns as rows; the accumulator is too, with
// two elements a part and lane, whatever their size.
//
//===----------------------------------------------------------------------===//
#include "runtime/sim/Matrices.h"
#include "runtime/sim/Numbers.h"

#include <cstring>

using namespace tilewright::sim;

static constexpr int rowsOfPart = 8, bytesOfLane = 4, rowsOfAccumulator = 16, columnsOfAccumulator = 8;

template <typename T> static T read(const char *from, int element) {
  T value;
  std::memcpy(&value, from + element * sizeof(T), sizeof(T));
  return value;
}

static int bytesOfOperand(MatrixTypes types) {
  switch (types) {
  case MatrixTypes::TF32ToF32:
    return 4;
  case MatrixTypes::S8ToS32:
  case MatrixTypes::E4M3ToF32:
  case MatrixTypes::E5M2ToF32:
    return 1;
  default:
    return 2;
  }
}

static double readOperand(MatrixTypes types, const char *from, int element) {
  switch (types) {
  case MatrixTypes::F16ToF32:
  case MatrixTypes::F16ToF16:
    return fromHalf(read<uint16_t>(from, element));
  case MatrixTypes::BF16ToF32:
    return fromBF16(read<uint16_t>(from, element));
  case MatrixTypes::TF32ToF32:
    return roundedToTF32(read<uint32_t>(from, element));
  case MatrixTypes::S8ToS32:
    return read<int8_t>(from, element);
  case MatrixTypes::E4M3ToF32:
    return fromE4M3(read<uint8_t>(from, element));
  case MatrixTypes::E5M2ToF32:
    return fromE5M2(read<uint8_t>(from, element));
  }
  return 0;
}

/// The lane and its element of an element of an operand; `rows` is 16 for operand A, 8 for operand B.
static double operandAt(const MatrixPart *const (&lanes)[warpSize], bool isFirst, int row, int column) {
  MatrixTypes types = lanes[0]->types;
  int pack = bytesOfLane / bytesOfOperand(types), columns = 4 * pack, rowParts = isFirst ? 2 : 1;
  int lane = row % rowsOfPart * 4 + column % columns / pack;
  int part = column / columns * rowParts + row / rowsOfPart;
  return readOperand(types, isFirst ? lanes[lane]->a : lanes[lane]->b, part * pack + column % pack);
}

static void multiply(const MatrixPart *const (&lanes)[warpSize]) {
  MatrixTypes types = lanes[0]->types;
  for (int row = 0; row < rowsOfAccumulator; ++row)
    for (int column = 0; column < columnsOfAccumulator; ++column) {
      int element = row / rowsOfPart * 2 + column % 2;
      char *sum = lanes[row % rowsOfPart * 4 + column / 2]->c;
      // Products of such numbers, and sums of few of them, are exact or nearly so in 64 bits.
      double added = 0;
      for (int k = 0; k < lanes[0]->k; ++k)
        added += operandAt(lanes, true, row, k) * operandAt(lanes, false, column, k);
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

/// The other way round: each of the first lanes gets the row that it stores.
static void gatherRows(const MatrixPart *const (&lanes)[warpSize]) {
  for (int matrix = 0; matrix < lanes[0]->matrices; ++matrix)
    for (int row = 0; row < rowsOfPart; ++row) {
      char *result = lanes[rowsOfPart * matrix + row]->result;
      if (!lanes[0]->isTransposed) {
        for (int i = 0; i < 4; ++i)
          std::memcpy(result + bytesOfLane * i, lanes[4 * row + i]->row + bytesOfLane * matrix, bytesOfLane);
        continue;
      }
      for (int i = 0; i < 8; ++i)
        std::memcpy(result + 2 * i, lanes[4 * i + row / 2]->row + bytesOfLane * matrix + 2 * (row % 2), 2);
    }
}

void tilewright::sim::exchangeMatrices(const MatrixPart *const (&lanes)[warpSize]) {
  if (lanes[0]->isMatmul)
    multiply(lanes);
  else if (lanes[0]->isStore)
    gatherRows(lanes);
  else
    dealRows(lanes);
}
