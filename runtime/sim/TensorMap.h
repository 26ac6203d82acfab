//===- TensorMap.h - what TMA knows of a tensor ---------------------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_TENSORMAP_H
#define TILEWRIGHT_RUNTIME_SIM_TENSORMAP_H

#include <cstdint>
#include <string>

namespace tilewright::sim {

/// The 128 bytes of the simulator's tensor maps. Dimensions come innermost first.
struct TensorMap {
  static constexpr int maxRank = 5;
  static constexpr uint32_t magicNumber = 0x7a11e5;

  uint32_t magic;
  uint8_t element, rank, swizzle; // the driver's number of the type; the span in bytes
  uint8_t elementBytes;
  uint64_t address;
  uint32_t extents[maxRank];
  uint16_t box[maxRank];
  uint8_t steps[maxRank];    // of so many elements a box takes one
  uint64_t strides[maxRank]; // in bytes

  bool isValid() const { return magic == magicNumber; }
  /// Of a map of tf32 TMA rounds what it loads, to nearest even (CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 and _FTZ).
  bool roundsToTF32() const { return element == 11 || element == 12; }
  /// Of f32 (CU_TENSOR_MAP_DATA_TYPE_FLOAT32).
  bool isFloat() const { return element == 7; }
  uint64_t rowBytes() const { return uint64_t(box[0]) * elementBytes; }
  uint64_t rows() const {
    uint64_t count = 1;
    for (int i = 1; i < rank; ++i)
      count *= box[i];
    return count;
  }
  uint64_t bytes() const { return rows() * rowBytes(); }
  /// The bytes from the first element of the tensor to the end of its last.
  uint64_t span() const;

  /// Of the coordinates of a box's first element: where a row of the box lies in global memory, and which of its
  /// elements are inside of the tensor. Returns false if none are.
  bool findRow(const int32_t *coordinates, uint64_t row, uint64_t &address, uint64_t &first, uint64_t &count) const;
};
static_assert(sizeof(TensorMap) <= 128, "a tensor map has 128 bytes");

/// Where the hardware puts what would lie at a place in shared memory: of each span the chunks of 16 bytes change
/// places.
inline uint64_t swizzled(uint64_t address, int span) {
  uint64_t mask = span == 128 ? 7 : span == 64 ? 3 : span == 32 ? 1 : 0;
  return address ^ (address >> 7 & mask) << 4;
}

/// Makes a map of what the host program says of a tensor (runtime/Launcher.h). Returns what is wrong with it, or "".
std::string makeTensorMap(TensorMap &map, const uint64_t *tensor);

} // namespace tilewright::sim

#endif
