//===- TensorMap.cpp - what TMA knows of a tensor -------------------------===//
#include "runtime/sim/TensorMap.h"
#include "runtime/Launcher.h"

#include <algorithm>

using namespace tilewright::sim;

/// The bytes of an element, by CUtensorMapDataType; 0 for numbers that are none.
static int bytesOfElement(uint64_t type) {
  constexpr int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type < sizeof(bytes) / sizeof(*bytes) ? bytes[type] : 0;
}

std::string tilewright::sim::makeTensorMap(TensorMap &map, const uint64_t *tensor) {
  // What cuTensorMapEncodeTiled asks for.
  map = TensorMap();
  map.magic = TensorMap::magicNumber;
  map.element = tensor[TilewrightTensorElement];
  map.elementBytes = bytesOfElement(tensor[TilewrightTensorElement]);
  map.rank = tensor[TilewrightTensorRank];
  map.swizzle = tensor[TilewrightTensorSwizzle];
  map.address = tensor[TilewrightTensorData];
  auto number = [](uint64_t value) { return std::to_string(value); };
  if (!map.elementBytes)
    return "expected a type that tensor maps know, got number " + number(tensor[TilewrightTensorElement]);
  if (map.rank < 1 || map.rank > TensorMap::maxRank)
    return "expected a tensor of 1 to 5 dimensions, got " + number(tensor[TilewrightTensorRank]);
  if (map.address % 16)
    return "expected a tensor at a multiple of 16 bytes, got one " + number(map.address % 16) + " bytes past one";
  for (int i = 0; i < map.rank; ++i) {
    uint64_t extent = tensor[TilewrightTensorExtents + i], stride = tensor[TilewrightTensorStrides + i];
    uint64_t box = tensor[TilewrightTensorBox + i];
    std::string where = " in dimension " + number(map.rank - 1 - i);
    if (extent < 1 || extent > UINT32_MAX)
      return "expected an extent of 1 to 2^32 - 1" + where + ", got " + number(extent);
    if (i && (stride % 16 || stride >= uint64_t(1) << 40))
      return "expected a stride of a multiple of 16 bytes below 2^40" + where + ", got " + number(stride);
    uint64_t step = tensor[TilewrightTensorSteps + i];
    if (step < 1 || step > 8 || (!i && step != 1))
      return (i ? "expected a step of 1 to 8 elements" : "expected a step of 1 element") + where + ", got " +
             number(step);
    if (box < 1 || box * step > 256)
      return "expected a box across 1 to 256 elements" + where + ", got " + number(box * step);
    map.extents[i] = extent;
    map.strides[i] = stride;
    map.box[i] = box;
    map.steps[i] = step;
  }
  if (map.rowBytes() % 16 || (map.swizzle && map.rowBytes() > map.swizzle))
    return "expected rows of the box of a multiple of 16 bytes" +
           (map.swizzle ? " up to the swizzle's " + number(map.swizzle) : std::string()) + ", got " +
           number(map.rowBytes());
  return "";
}

uint64_t TensorMap::span() const {
  uint64_t bytes = elementBytes * uint64_t(extents[0]);
  for (int i = 1; i < rank; ++i)
    bytes += strides[i] * (extents[i] - uint64_t(1));
  return bytes;
}

bool TensorMap::findRow(const int32_t *coordinates, uint64_t row, uint64_t &found, uint64_t &first,
                        uint64_t &count) const {
  found = address;
  for (int i = 1; i < rank; ++i) {
    int64_t at = int64_t(coordinates[i]) + int64_t(row % box[i] * steps[i]);
    row /= box[i];
    if (at < 0 || at >= int64_t(extents[i]))
      return false;
    found += uint64_t(at) * strides[i];
  }
  int64_t begin = std::max<int64_t>(coordinates[0], 0);
  int64_t end = std::min<int64_t>(int64_t(coordinates[0]) + box[0], extents[0]);
  if (begin >= end)
    return false;
  first = begin - coordinates[0];
  count = end - begin;
  found += begin * elementBytes;
  return true;
}
