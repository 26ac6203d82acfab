//===- Launcher.h - what compiled host code launches kernels through ------===//
//
// The struct of the host ABI (docs/stages.md). Whatever runs kernels fills one in: the CUDA driver (runtime/host), the
// simulator (runtime/sim) and the recorder here.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_LAUNCHER_H
#define TILEWRIGHT_RUNTIME_LAUNCHER_H

#include <algorithm>
#include <cstdint>

extern "C" {

/// `config` is grid x, y, z, block x, y, z and the bytes of dynamic shared memory. `params` has one element more: the
/// end of the parameters where they are one block as the kernel takes it, from params[0] on; null where they are not.
struct TilewrightLauncher {
  void *context;
  int32_t (*launch)(void *context, int32_t kernel, const uint64_t *config, void **params, int32_t paramCount);
  /// Writes the tensor map of `tensor` to the 128 bytes at `map`, which are aligned to 64 bytes. May be null where no
  /// kernel takes one.
  int32_t (*encode)(void *context, void *map, const uint64_t *tensor);
};

enum { TilewrightConfigSize = 7 };

/// What a tensor map is made of: where the first element lies, the driver's number of the type (CUtensorMapDataType),
/// the number of dimensions, the swizzle's span in bytes or 0; then, of each dimension, the innermost first, the
/// extent, the stride in bytes, the box's extent and of how many elements the box takes one.
enum {
  TilewrightTensorData = 0,
  TilewrightTensorElement = 1,
  TilewrightTensorRank = 2,
  TilewrightTensorSwizzle = 3,
  TilewrightTensorExtents = 4,
  TilewrightTensorStrides = 9,
  TilewrightTensorBox = 14,
  TilewrightTensorSteps = 19,
  TilewrightTensorSize = 24
};

/// What the 128 bytes of a map are to a GPU without TMA, whose threads copy tiles: of the same numbers those that they
/// read, each dimension's from the innermost on.
enum { TilewrightMapData = 0, TilewrightMapExtents = 1, TilewrightMapStrides = 6, TilewrightMapSteps = 11 };

struct TilewrightLaunchRecord {
  int32_t kernel;
  int32_t paramCount;
  uint64_t config[TilewrightConfigSize];
};

/// The context of the recorder: `count` goes on past `capacity`, so that the caller learns how much room it takes.
struct TilewrightRecorder {
  TilewrightLaunchRecord *records;
  int32_t capacity;
  int32_t count;
};

/// Notes the launch and runs nothing. `context` is a TilewrightRecorder.
int32_t tilewrightRecordLaunch(void *context, int32_t kernel, const uint64_t *config, void **params,
                               int32_t paramCount);

/// Encodes nothing: nobody reads the map.
int32_t tilewrightRecordEncode(void *context, void *map, const uint64_t *tensor);
}

namespace tilewright {
/// Writes the map for a GPU without TMA. Gives whether chunks of 16 bytes of all rows begin where they can be copied.
inline bool writeMapForThreads(void *map, const uint64_t *tensor) {
  auto *to = static_cast<uint64_t *>(map);
  to[TilewrightMapData] = tensor[TilewrightTensorData];
  constexpr int rank = TilewrightTensorStrides - TilewrightTensorExtents;
  std::copy_n(tensor + TilewrightTensorExtents, rank, to + TilewrightMapExtents);
  std::copy_n(tensor + TilewrightTensorStrides, rank, to + TilewrightMapStrides);
  std::copy_n(tensor + TilewrightTensorSteps, rank, to + TilewrightMapSteps);
  auto isCopied = [](uint64_t bytes) { return bytes % 16 == 0; };
  return isCopied(tensor[TilewrightTensorData]) &&
         std::all_of(tensor + TilewrightTensorStrides + 1,
                     tensor + TilewrightTensorStrides + tensor[TilewrightTensorRank], isCopied);
}

/// A tensor without elements has no map, but a kernel whose sums are then empty takes one. It may copy the first box
/// before it knows that there is none. The map is that of one element, a zero, whose address the caller puts in. Gives
/// whether a tensor is such a one, and else leaves `element`.
inline bool replaceEmptyTensor(const uint64_t *tensor, uint64_t (&element)[TilewrightTensorSize]) {
  const uint64_t *extents = tensor + TilewrightTensorExtents;
  const uint64_t *end =
      extents + std::min<uint64_t>(tensor[TilewrightTensorRank], TilewrightTensorStrides - TilewrightTensorExtents);
  if (std::find(extents, end, uint64_t(0)) == end)
    return false;
  std::copy_n(tensor, int(TilewrightTensorSize), element);
  std::fill(element + TilewrightTensorExtents, element + TilewrightTensorStrides, 1);
  std::fill(element + TilewrightTensorStrides, element + TilewrightTensorBox, 16);
  return true;
}
} // namespace tilewright

#endif
