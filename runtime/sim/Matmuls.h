//===- Matmuls.h - what a warpgroup multiplies ---------------------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_MATMULS_H
#define TILEWRIGHT_RUNTIME_SIM_MATMULS_H

#include "runtime/sim/ABI.h"
#include "runtime/sim/Report.h"
#include "runtime/sim/TensorMap.h"

#include <vector>

namespace tilewright::sim {

constexpr int warpgroupSize = 4 * warpSize, matmulRows = 64, matmulBytes = 32; // of the dimension that is summed over
constexpr int chunkBytes = 16;

/// What all threads of a warpgroup bring along: the words and descriptors of a matmul (ABI.h).
struct MatmulPart {
  const int32_t *words = nullptr;
  const uint64_t *descriptors = nullptr; // two an instruction
  uint64_t accumulator = 0;              // 0: none
  const char *registers =
      nullptr; // the thread's, of the first operand, or of the accumulator where there are no descriptors

  bool isAccumulator() const { return !descriptors; }
  Element element(int operand) const { return static_cast<Element>(words[operand ? MatmulB : MatmulA]); }
  bool isMNMajor(int operand) const { return words[MatmulMajors] >> operand & 1; }
  int extent(int operand) const { return operand ? words[MatmulColumns] : matmulRows; }
};

int bytesOf(Element element);

/// Tells where an operand lies (PTX ISA, "matrix descriptor"): distances are in units of 16 bytes.
struct Descriptor {
  uint64_t bits;

  uint64_t start() const { return (bits & 0x3fff) << 4; }
  uint64_t leading() const { return (bits >> 16 & 0x3fff) << 4; }
  uint64_t stride() const { return (bits >> 32 & 0x3fff) << 4; }
  int baseOffset() const { return bits >> 49 & 7; }
  int span() const {
    constexpr int spans[] = {0, 128, 64, 32};
    return spans[bits >> 62];
  }

  /// Where in the window of shared memory a chunk of 16 bytes lies: the `number`th of row `row` of an operand whose
  /// columns are summed over, or the other way round of one whose rows are.
  uint64_t chunk(int row, int number, bool isMNMajor) const {
    uint64_t place = start(), group = row / 8, line = row % 8;
    int width = span() ? span() / chunkBytes : 1; // chunks side by side
    if (!isMNMajor)
      place += line * width * chunkBytes + group * stride() + number * (span() ? chunkBytes : leading());
    else if (span())
      place += line * span() + group * stride() + number % width * chunkBytes + number / width * leading();
    else
      place += line * chunkBytes + group * leading() + number * stride();
    return swizzled(place, span());
  }
};

/// The numbers of the elements in a chunk; writes them `step` apart.
void decode(Element element, const char *chunk, double *numbers, int step);

/// Puts what thread `number` of a warpgroup holds of the first operand of an instruction, of 16-bit elements, into its
/// rows.
void decodeRegisters(Element element, const char *registers, int number, double *rows);

/// The accumulator of matmuls of a tile of 64 rows, in the registers of a warpgroup.
struct Accumulator {
  uint64_t id = 0;
  Element type = Element::F32;
  int columns = 0;
  uint32_t group = 0; // of matmuls, the last that adds to them
  Site site;
  std::vector<double> values;

  /// Adds the products of a[row][k] and b[k][column], rounded as the accumulator is, to so many columns.
  void add(const double *a, const double *b, int k, int added);
  /// What thread `number` of the warpgroup holds, in registers.
  void read(int number, char *registers) const;
  void write(int number, const char *registers);
};

/// The accumulators that a warpgroup has. A matmul that adds to one gives a new one in its place.
class Accumulators {
public:
  void clear() { all.clear(), nextId = 1; }
  Accumulator &create(Element type, int columns);
  Accumulator *find(uint64_t id);
  /// Gives the accumulator another id, which makes the one that it had invalid.
  void rename(Accumulator &accumulator) { accumulator.id = nextId++; }

private:
  // Registers hold no more than a few; of those that nobody used the longest the last use is over.
  static constexpr size_t maxLive = 16;
  std::vector<Accumulator> all;
  uint64_t nextId = 1;
};

} // namespace tilewright::sim

#endif
