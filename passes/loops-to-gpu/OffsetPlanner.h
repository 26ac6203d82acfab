//===- OffsetPlanner.h - buffers that never live together share space -----===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_OFFSETPLANNER_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_OFFSETPLANNER_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace tilewright {

/// A buffer that needs `size` bytes from time `begin` to time `end`, both included.
struct PlannedBuffer {
  int64_t size, alignment;
  unsigned begin, end;
  int64_t offset = 0;

  bool livesWith(const PlannedBuffer &other) const { return begin <= other.end && other.begin <= end; }
};

/// Gives each buffer its offset, large ones first, each at the lowest place that is free while it lives. Returns the
/// bytes needed in all.
int64_t planOffsets(llvm::MutableArrayRef<PlannedBuffer> buffers);

} // namespace tilewright

#endif
