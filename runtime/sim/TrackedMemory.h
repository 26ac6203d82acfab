//===- TrackedMemory.h - who used which shared memory when ----------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_TRACKEDMEMORY_H
#define TILEWRIGHT_RUNTIME_SIM_TRACKEDMEMORY_H

#include "runtime/sim/ABI.h"
#include "runtime/sim/Knowledge.h"
#include "runtime/sim/Report.h"

#include <cstddef>

namespace tilewright::sim {

/// A read or a write. Threads see memory one way, TMA copies and matmuls another (the async proxy).
struct Use {
  Moment moment;
  Site site;
  bool isAsync = false;
};

/// Who is about to use memory: what it knows, and which writes of threads it knows to have been made visible to TMA
/// copies and matmuls.
struct User : Use {
  User(Use use, const Knowledge &known, const Knowledge &fenced) : Use(use), known(known), fenced(fenced) {}
  const Knowledge &known, &fenced;
};

/// What is wrong with a use, and the other one that it has to do with.
struct Clash {
  Defect defect = NoDefect;
  bool otherWrites = false;
  Use other;
  uint64_t offset = 0; // of the first byte that it is about
};

/// For each cell of a block's shared memory the last write and the last reads. All offsets are inside.
class TrackedMemory {
public:
  void prepare(size_t bytes, size_t granularity);
  /// Forgets all uses.
  void clear() { ++generation; }

  Clash read(uint64_t offset, uint64_t bytes, const User &user);
  /// Threads that write what is there already do each other no harm: `isSame` says of a part whether it is so.
  template <typename IsSame> Clash write(uint64_t offset, uint64_t bytes, const User &user, IsSame isSame);
  Clash write(uint64_t offset, uint64_t bytes, const User &user) {
    return write(offset, bytes, user, [](uint64_t, uint64_t) { return false; });
  }
  /// Nobody but operations on barriers may touch these bytes from here on.
  void keepForBarrier(uint64_t offset, uint64_t bytes);

private:
  // Of more readers at once than this the first are forgotten, and a race with them is missed.
  static constexpr int maxReads = 4;
  struct Cell {
    uint32_t generation = 0;
    bool isWritten = false, isBarrier = false;
    uint8_t readCount = 0;
    Use write, reads[maxReads];
  };

  Cell &cell(uint64_t index) {
    Cell &found = cells[index];
    if (found.generation != generation) {
      found.generation = generation;
      found.isWritten = found.isBarrier = false;
      found.readCount = 0;
    }
    return found;
  }
  static void findReaders(const Cell &cell, const User &user, uint64_t offset, Clash &clash);

  std::vector<Cell> cells;
  uint32_t generation = 0;
  int shift = 0;
};

template <typename IsSame>
Clash TrackedMemory::write(uint64_t offset, uint64_t bytes, const User &user, IsSame isSame) {
  Clash clash;
  for (uint64_t index = offset >> shift, last = (offset + bytes - 1) >> shift; index <= last; ++index) {
    Cell &here = cell(index);
    uint64_t begin = std::max(offset, index << shift), end = std::min(offset + bytes, (index + 1) << shift);
    if (here.isBarrier) {
      if (clash.defect == NoDefect)
        clash = {BarrierAccess, true, Use(), begin};
      continue;
    }
    if (here.isWritten && !user.known.has(here.write.moment)) {
      if (!user.isAsync && !here.write.isAsync && isSame(begin, end))
        continue;
      if (clash.defect == NoDefect)
        clash = {Race, true, here.write, begin};
    } else if (here.isWritten && user.isAsync && !here.write.isAsync && !user.fenced.has(here.write.moment)) {
      if (clash.defect == NoDefect)
        clash = {MissingFence, true, here.write, begin};
    }
    if (clash.defect == NoDefect)
      findReaders(here, user, begin, clash);
    here.isWritten = true;
    here.write = user;
    here.readCount = 0;
  }
  return clash;
}

} // namespace tilewright::sim

#endif
