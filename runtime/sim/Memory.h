//===- Memory.h - what is known of each byte of simulated memory ----------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_MEMORY_H
#define TILEWRIGHT_RUNTIME_SIM_MEMORY_H

#include "runtime/sim/ABI.h"
#include "runtime/sim/Report.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::sim {

/// A buffer in global memory: an array of the user's, or the workspace.
struct Buffer {
  std::string name;
  uint64_t base = 0, bytes = 0;
  std::vector<uint64_t> written; // a bit a byte; empty if all of it counts as written

  bool contains(uint64_t address) const { return address - base < bytes; }
};

/// The part of global memory that a kernel's argument stands for.
struct ArgumentMemory {
  uint64_t base = 0, bytes = 0;
  Buffer *buffer = nullptr; // null if the address is none that the simulator was told of

  bool contains(uint64_t address, uint64_t count) const {
    uint64_t offset = address - base;
    return offset <= bytes && count <= bytes - offset;
  }
  bool isWritten(uint64_t address, uint64_t count) const;
  void setWritten(uint64_t address, uint64_t count) const;
};

/// Another thread's access that conflicts with the one at hand.
struct Conflict {
  bool otherWrites = false;
  uint16_t otherThread = 0;
  Site otherSite;
  bool isTracked = false; // then it is an agent's, which need not be a thread of the block
  uint32_t otherAgent = 0;
};

/// A block's shared memory. Time is counted in epochs: one from each barrier to the next, never twice the same, so that
/// nothing has to be cleared between blocks. The block's own epochs begin with `beginBlock`.
class SharedMemory {
public:
  /// Makes room for `bytes`; checks look at cells of `granularity` bytes. In a window what is below `windowBytes` of an
  /// address says where in the block's shared memory it lies, as descriptors have it.
  void prepare(size_t bytes, size_t granularity, bool checked, bool inWindow = false);
  void beginBlock() {
    passBarrier();
    blockEpoch = epoch;
  }
  void passBarrier() {
    ++epoch;
    interleaved = false;
  }
  /// From here to the next barrier the threads do not run one behind the other any more.
  void interleave() { interleaved = true; }

  static constexpr size_t windowBytes = 1 << 18;

  char *base() const { return memory; }
  size_t bytes() const { return size; }
  bool contains(uint64_t address, uint64_t bytes) const;
  Defect load(uint16_t thread, uint64_t address, uint64_t bytes, Site site, Conflict &conflict);
  Defect store(uint16_t thread, uint64_t address, uint64_t bytes, Site site, const char *value, Conflict &conflict);
  /// A store that may take place at any time until `finishCopy`; nobody may read or write there before.
  Defect copy(uint16_t thread, uint64_t address, uint64_t bytes, Site site, const char *value, Conflict &conflict);
  void finishCopy(uint16_t thread, uint64_t address, uint64_t bytes);

private:
  static constexpr uint16_t nobody = UINT16_MAX;

  struct Cell {
    uint64_t writeEpoch = 0, readEpoch = 0;
    uint16_t writer = nobody, earlierWriter = nobody; // the last one, and another that wrote the same in this epoch
    uint16_t reader = nobody, secondReader = nobody;  // two are enough to find one that is another thread
    uint64_t copyEpoch = 0;
    uint16_t copier = nobody; // whose copy to here is under way
    Site writeSite, earlierWriteSite, readSite, secondReadSite, copySite;
  };

  bool isUnderWay(const Cell &cell) const { return cell.copier != nobody && cell.copyEpoch >= blockEpoch; }

  std::vector<char> storage;
  std::vector<Cell> cells;
  char *memory = nullptr;
  size_t size = 0;
  int shift = 0;
  uint64_t epoch = 0, blockEpoch = 0;
  bool interleaved = false;
};

} // namespace tilewright::sim

#endif
