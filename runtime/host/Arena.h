//===- Arena.h - places of buffers in one allocation ----------------------===//
//
// Shared by the passes that plan what has a static size (plan-memory, plan-shared-memory and plan-workspace), and by
// the run time of an exported model, which plans a call whose extents are symbolic.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_ARENA_H
#define TILEWRIGHT_RUNTIME_HOST_ARENA_H

#include <algorithm>
#include <cstdint>

namespace tilewright::host {

constexpr int64_t arenaAlignment = 64;

/// A buffer that lives from one time to another, both included: in an arena, from one group to another.
struct ArenaBuffer {
  int64_t bytes, first, last, offset = 0, alignment = arenaAlignment;

  bool livesWith(const ArenaBuffer &other) const { return first <= other.last && other.first <= last; }
};

/// Places each buffer at the lowest offset that is free all its life, the largest buffer first. `order` and `placed`
/// have room for `count` pointers. Returns the bytes needed in all, or -1 where they are more than 63 bits count.
inline int64_t placeBuffers(ArenaBuffer *buffers, int64_t count, ArenaBuffer **order, ArenaBuffer **placed) {
  for (int64_t i = 0; i < count; ++i)
    order[i] = &buffers[i];
  std::sort(order, order + count, [](const ArenaBuffer *a, const ArenaBuffer *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    ArenaBuffer &buffer = *order[i];
    buffer.offset = 0;
    for (int64_t j = 0; j < i; ++j) {
      const ArenaBuffer &other = *placed[j];
      // Without sums that could overflow.
      bool liesBefore = other.offset <= buffer.offset && other.bytes <= buffer.offset - other.offset;
      bool liesAfter = other.offset >= buffer.offset && buffer.bytes <= other.offset - buffer.offset;
      if (!buffer.livesWith(other) || liesBefore || liesAfter)
        continue;
      if (__builtin_add_overflow(other.offset + other.bytes, buffer.alignment - 1, &buffer.offset))
        return -1;
      buffer.offset -= buffer.offset % buffer.alignment;
    }
    int64_t end;
    if (__builtin_add_overflow(buffer.offset, buffer.bytes, &end))
      return -1;
    total = std::max(total, end);
    // By their offsets.
    int64_t at = i;
    for (; at > 0 && placed[at - 1]->offset > buffer.offset; --at)
      placed[at] = placed[at - 1];
    placed[at] = &buffer;
  }
  return total;
}

/// The same for an arena, of which each buffer has whole units of the alignment.
inline int64_t placeInArena(ArenaBuffer *buffers, int64_t count, ArenaBuffer **order, ArenaBuffer **placed) {
  for (int64_t i = 0; i < count; ++i) {
    if (__builtin_add_overflow(buffers[i].bytes, arenaAlignment - 1, &buffers[i].bytes))
      return -1;
    buffers[i].bytes -= buffers[i].bytes % arenaAlignment;
  }
  return placeBuffers(buffers, count, order, placed);
}

} // namespace tilewright::host

#endif
