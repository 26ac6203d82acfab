//===- OffsetPlanner.cpp - buffers that never live together share space ---===//
#include "passes/loops-to-gpu/OffsetPlanner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

int64_t tilewright::planOffsets(llvm::MutableArrayRef<PlannedBuffer> buffers) {
  llvm::SmallVector<PlannedBuffer *> bySize;
  for (PlannedBuffer &buffer : buffers)
    bySize.push_back(&buffer);
  // Stable: buffers of one size keep the order of the program.
  llvm::stable_sort(bySize, [](PlannedBuffer *a, PlannedBuffer *b) { return a->size > b->size; });

  int64_t total = 0;
  llvm::SmallVector<PlannedBuffer *> placed;
  for (PlannedBuffer *buffer : bySize) {
    llvm::SmallVector<PlannedBuffer *> inTheWay;
    for (PlannedBuffer *other : placed)
      if (buffer->livesWith(*other))
        inTheWay.push_back(other);
    llvm::sort(inTheWay, [](PlannedBuffer *a, PlannedBuffer *b) { return a->offset < b->offset; });
    int64_t offset = 0;
    for (PlannedBuffer *other : inTheWay) {
      if (offset + buffer->size <= other->offset)
        break;
      offset = std::max<int64_t>(offset, llvm::alignTo(other->offset + other->size, buffer->alignment));
    }
    buffer->offset = offset;
    total = std::max(total, offset + buffer->size);
    placed.push_back(buffer);
  }
  return total;
}
