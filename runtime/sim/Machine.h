//===- Machine.h - blocks of threads that wait for each other -------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_MACHINE_H
#define TILEWRIGHT_RUNTIME_SIM_MACHINE_H

#include "runtime/sim/ABI.h"
#include "runtime/sim/Fiber.h"
#include "runtime/sim/Matrices.h"
#include "runtime/sim/Memory.h"
#include "runtime/sim/Report.h"

#include <string>
#include <utility>
#include <vector>

namespace tilewright::sim {

/// A thread's state as compiled code sees it. Words hold numbers or addresses.
struct ThreadState {
  int64_t words[NumStateWords] = {};
};

using KernelFunction = void (*)(ThreadState *, void **params);

/// A kernel and what its info says.
struct Kernel {
  std::string name;
  KernelFunction function = nullptr;
  const int64_t *info = nullptr;
  std::vector<std::string> argumentNames;
};

class Machine;

/// What a thread waits for. The scheduler runs a thread until it waits, and looks for waits that are over when no
/// thread can run; one that finds none has found a deadlock.
enum class Wait { Nothing, Barrier, Shuffle, Ended };

/// A simulated thread. Compiled code holds a pointer to its state, which is therefore first.
struct Thread : ThreadState {
  Machine *machine = nullptr;
  uint16_t number = 0;
  Fiber fiber;
  Wait wait = Wait::Nothing;
  Site waitSite; // of the wait, or where the thread ended
  Conflict conflict; // that the last check found
  // The shuffle that the thread is in: what it gives, then what it gets.
  uint64_t shuffleBits = 0;
  ShuffleMode shuffleMode = ShuffleMode::Xor;
  uint32_t shuffleOffset = 0, shuffleWidth = 0;
  const MatrixPart *matrixPart = nullptr; // where it is no shuffle, but matrices that are exchanged
  // Asynchronous copies that are under way, in order, and how many of them stand before the end of each group.
  std::vector<std::pair<uint64_t, uint64_t>> copies; // address, bytes
  std::vector<size_t> groupEnds;
};

/// Runs one launch after the other: its blocks in sequence, the threads of a block as fibers where they have to wait
/// for each other, one behind the other where they do not.
class Machine {
public:
  explicit Machine(ReportList &reports, bool checked) : reports(reports), checked(checked) {}

  /// Runs a kernel to its end, or to the first block that cannot end. Returns false if something was reported.
  bool launch(const Kernel &kernel, const uint64_t *config, void **params, std::vector<ArgumentMemory> arguments);

  // What compiled code asks for.
  void waitAtBarrier(Thread &thread, Site site);
  uint64_t shuffle(Thread &thread, Site site, ShuffleMode mode, uint64_t bits, uint32_t offset, uint32_t width);
  /// Waits until all lanes of the warp have come with their parts, and all is done.
  void exchange(Thread &thread, Site site, const MatrixPart &part);
  Defect loadGlobal(int32_t argument, uint64_t address, uint64_t bytes);
  Defect storeGlobal(int32_t argument, uint64_t address, uint64_t bytes);
  SharedMemory &sharedMemory() { return shared; }
  Defect copyShared(Thread &thread, uint64_t address, uint64_t bytes, Site site, const char *value);
  void commitCopies(Thread &thread) { thread.groupEnds.push_back(thread.copies.size()); }
  /// Ends all groups of copies but the latest few.
  void waitForCopies(Thread &thread, size_t underWay);
  void reportAccess(Thread &thread, Defect defect, int32_t flags, Site site, int32_t rank, int64_t elements,
                    const int64_t *places);

  /// Where `global` memory at an address belongs, for accesses whose argument is not known.
  std::vector<Buffer> buffers;

private:
  bool prepare(const uint64_t *config);
  void placeThread(Thread &thread, uint64_t number, const uint64_t *block);
  void runInSequence();
  bool runTogether();
  bool endWaits();
  bool endBarrier();
  bool endShuffle(size_t firstLane, size_t laneCount);
  void reportStuck();
  const ArgumentMemory *findArgument(int32_t argument, uint64_t address);
  void block(Thread &thread, Wait wait, Site site);
  std::string describe(const Thread &thread) const;
  std::string describeNumber(uint64_t thread) const;
  std::string describeBlock() const;

  ReportList &reports;
  const bool checked;
  SharedMemory shared;
  StackPool stacks;
  std::vector<Thread> threads;
  std::vector<ArgumentMemory> arguments;
  ArgumentMemory anyBuffer;
  // The launch at hand.
  const Kernel *kernel = nullptr;
  void **params = nullptr;
  uint64_t grid[3] = {}, blockDim[3] = {}, blockId[3] = {};
  size_t threadCount = 0;
};

} // namespace tilewright::sim

#endif
