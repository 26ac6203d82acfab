//===- Machine.h - blocks of threads that wait for each other -------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_MACHINE_H
#define TILEWRIGHT_RUNTIME_SIM_MACHINE_H

#include "runtime/sim/ABI.h"
#include "runtime/sim/Fiber.h"
#include "runtime/sim/Matmuls.h"
#include "runtime/sim/Matrices.h"
#include "runtime/sim/Memory.h"
#include "runtime/sim/Report.h"
#include "runtime/sim/TensorMap.h"
#include "runtime/sim/Timeline.h"
#include "runtime/sim/TrackedMemory.h"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::sim {

/// A thread's state as compiled code sees it. Words hold numbers or addresses.
struct ThreadState {
  int64_t words[NumStateWords] = {};
};

using KernelFunction = void (*)(ThreadState *, void **params);

/// A part of shared memory that has a name: a buffer, or the slots of a ring.
struct Region {
  std::string name;
  uint64_t offset = 0, bytes = 0, slots = 1;
  int64_t barriers = -1;
};

/// A kernel and what its info says.
struct Kernel {
  std::string name;
  KernelFunction function = nullptr;
  const int64_t *info = nullptr;
  std::vector<std::string> argumentNames;
  std::vector<Region> regions;
};

class Machine;
struct SimulatedBlock;

/// Whether the caller wants what runs to end, as after Ctrl-C. Called on the process's first thread alone, which is the
/// one that gets signals, and on its own stack.
using InterruptCheck = int32_t (*)();
void setInterruptCheck(InterruptCheck check);

/// Blocks of the launch at hand: those that are done, and all.
extern std::atomic<uint64_t> blocksDone, blockCount;

/// What a thread waits for. The scheduler runs a thread until it waits, and looks for waits that are over when no
/// thread can run; one that finds none has found a deadlock.
enum class Wait { Nothing, Barrier, Shuffle, Phase, NamedBarrier, ClusterBarrier, Matmul, Registers, Ended };

/// What arrives at something hands its knowledge in here, for those who wait.
struct Meeting {
  Knowledge known, fenced;
  void clear() { known.clear(), fenced.clear(); }
  void add(const Meeting &other) { known.add(other.known), fenced.add(other.fenced); }
};

/// A barrier in shared memory that counts arrivals and bytes (mbarrier). The phase that is under way ends when neither
/// is missing.
struct PhaseBarrier {
  SimulatedBlock *block = nullptr;
  uint64_t offset = 0;
  int64_t count = 0, missing = 0; // arrivals a phase, and those still to come
  int64_t missingBytes = 0;
  uint64_t phase = 0;
  Moment started;        // when, by whom
  bool isFenced = false; // others than its own block's threads may use it
  Agent copies = 0;      // those that signal it
  uint32_t lastCopy = 0; // the phase of the last of them, and where it began
  Site lastCopySite, lastArrivalSite;
  Meeting arrived, passed;
  int64_t arrivedAt = 0, passedAt = 0; // steps of the timeline
};

/// Threads that have arrived at a barrier with a number, and do not wait there.
struct NamedArrivals {
  std::set<uint16_t> who;
  uint32_t threads = 0; // so many make the barrier
  Site lastSite;
  Meeting meeting;
  int64_t arrivedAt = 0; // a step of the timeline
};

/// A simulated thread. Compiled code holds a pointer to its state, which is therefore first.
struct Thread : ThreadState {
  Machine *machine = nullptr;
  SimulatedBlock *block = nullptr;
  uint16_t number = 0; // in its block
  Fiber fiber;
  Wait wait = Wait::Nothing;
  int64_t clock = 0;      // steps so far, where a timeline is kept
  uint32_t polls = 0;     // how often compiled code has asked whether to go on
  bool isPolling = false; // it wants to be asked, and waits for nothing else
  Site waitSite;          // of the wait, or where the thread ended
  Conflict conflict;      // that the last check found
  // The shuffle that the thread is in: what it gives, then what it gets.
  uint64_t shuffleBits = 0;
  ShuffleMode shuffleMode = ShuffleMode::Xor;
  uint32_t shuffleOffset = 0, shuffleWidth = 0;
  const MatrixPart *matrixPart = nullptr; // where it is no shuffle, but matrices that are exchanged
  // Asynchronous copies that are under way, in order, and how many of them stand before the end of each group.
  std::vector<std::pair<uint64_t, uint64_t>> copies; // address, bytes
  std::vector<size_t> groupEnds;

  // In kernels of asynchronous tiles.
  Agent agent = 0; // itself; its knowledge has its current step
  Meeting knowledge;
  const PhaseBarrier *phaseBarrier = nullptr; // that it waits for, and the phase
  uint64_t phase = 0;
  uint32_t barrierNumber = 0, barrierThreads = 0;
  Meeting startsKnown;          // what it knew at its last fence of barriers' starts
  uint64_t clusterArrivals = 0; // how often it arrived at the cluster's barrier
  int64_t registers = 0, wantedRegisters = 0;
  const MatmulPart *matmul = nullptr; // that its warpgroup is to do together, and then where the accumulator is
  uint64_t matmulResult = 0;
  // Groups of matmuls, TMA stores and copies: those that are ended, and the last that has members.
  struct Groups {
    Agent agent = 0;    // 0 before the first
    uint32_t ended = 0; // empty ones too
    uint32_t last = 0;  // of those that have anything in them
    Site lastSite;
    void add(Site site) { last = ended + 1, lastSite = site; }
  } matmulGroups, storeGroups, copyGroups;
};

/// A block of the cluster that runs.
struct SimulatedBlock {
  uint64_t id[3] = {};
  uint32_t rank = 0; // in the cluster
  Thread *threads = nullptr;
  SharedMemory shared;
  TrackedMemory tracked;
  std::map<uint64_t, PhaseBarrier> barriers;  // by offset
  std::map<uint32_t, NamedArrivals> arrivals; // by the barrier's number
  std::vector<Accumulators> accumulators;     // of each warpgroup
  // What a warpgroup's threads learn of their last arrival, and how many of them have not yet.
  struct Told {
    bool isLast = false;
    uint32_t missing = 0;
  };
  std::map<size_t, Told> told;
  int64_t freeRegisters = 0;
  // The last thing that each agent of another block did to this one's memory.
  std::map<Agent, Use> visitors;
};

/// Runs one launch after the other: its clusters in sequence, the threads of a cluster as fibers where they have to
/// wait for each other, one behind the other where they do not.
class Machine {
public:
  explicit Machine(ReportList &reports, bool checked) : reports(reports), checked(checked) {}

  /// Runs a kernel to its end, or to the first cluster that cannot end. Returns false if something was reported.
  bool launch(const Kernel &kernel, const uint64_t *config, void **params, std::vector<ArgumentMemory> arguments);
  /// What the driver does with a tensor on the host. Returns false if something was reported.
  bool encode(void *map, const uint64_t *tensor);

  // What compiled code asks for.
  void waitAtBarrier(Thread &thread, Site site);
  uint64_t shuffle(Thread &thread, Site site, ShuffleMode mode, uint64_t bits, uint32_t offset, uint32_t width);
  /// Waits until all lanes of the warp have come with their parts, and all is done.
  void exchange(Thread &thread, Site site, const MatrixPart &part);
  Defect loadGlobal(int32_t argument, uint64_t address, uint64_t bytes);
  Defect storeGlobal(int32_t argument, uint64_t address, uint64_t bytes);
  Defect loadShared(Thread &thread, uint64_t address, uint64_t bytes, Site site);
  Defect storeShared(Thread &thread, uint64_t address, uint64_t bytes, Site site, const char *value);
  Defect copyShared(Thread &thread, uint64_t address, uint64_t bytes, Site site, const char *value);
  void commitCopies(Thread &thread);
  /// Ends all groups of copies but the latest few.
  void waitForCopies(Thread &thread, size_t underWay);
  void reportAccess(Thread &thread, Defect defect, int32_t flags, Site site, int32_t rank, int64_t elements,
                    const int64_t *places);

  // In kernels of asynchronous tiles. Addresses are of this process, inside of a block's shared memory.
  void loadBytes(Thread &thread, Site site, uint64_t address, char *result, uint64_t bytes);
  void storeBytes(Thread &thread, Site site, uint64_t address, const char *value, uint64_t bytes);
  void waitAtNamedBarrier(Thread &thread, Site site, uint32_t number, uint32_t threads);
  void arriveAtNamedBarrier(Thread &thread, Site site, uint32_t number, uint32_t threads);
  /// Hands in all that the thread knows, or what its last fence of barriers' starts covers.
  void arriveAtCluster(Thread &thread, bool releases);
  void waitForCluster(Thread &thread, Site site);
  uint64_t peerAddress(Thread &thread, Site site, uint64_t address, uint32_t rank);
  void setRegisters(Thread &thread, Site site, int64_t registers);
  void fence(Thread &thread, Fence fence);
  void startBarrier(Thread &thread, Site site, uint64_t address, int64_t count);
  void arrive(Thread &thread, Site site, uint64_t address, int64_t arrivals, int64_t bytes);
  void waitForPhase(Thread &thread, Site site, uint64_t address, uint32_t parity);
  void loadTile(Thread &thread, Site site, uint64_t target, const void *map, const int32_t *coordinates, int32_t rank,
                uint64_t barrier, uint32_t blocks);
  /// Whether the tensor has an element at a coordinate that the program read.
  void checkPlace(Thread &thread, Site site, const void *map, int32_t dimension, int32_t coordinate);
  void storeTile(Thread &thread, Site site, const void *map, uint64_t source, const int32_t *coordinates, int32_t rank,
                 bool adds);
  void commitStores(Thread &thread) { commit(thread.storeGroups); }
  void waitForStores(Thread &thread, uint32_t underWay) { waitForGroups(thread, thread.storeGroups, underWay); }
  uint64_t beginMatmul(Thread &thread, Site site, const MatmulPart &part);
  void commitMatmuls(Thread &thread) { commit(thread.matmulGroups); }
  void waitForMatmuls(Thread &thread, uint32_t underWay) { waitForGroups(thread, thread.matmulGroups, underWay); }
  void readAccumulator(Thread &thread, Site site, uint64_t accumulator, char *result);
  /// Of all threads of a warpgroup: counts it at a place in global memory.
  bool countArrival(Thread &thread, Site site, uint64_t counter, int64_t warpgroups, bool ifLast);

  /// Where `global` memory at an address belongs, for accesses whose argument is not known.
  std::vector<Buffer> buffers;

  /// Whether the caller has ended a launch.
  /// What the warps did, if that is wanted.
  Timeline timeline;
  void beginCall() {
    timeline.clear();
    launchNumber = -1;
  }

  bool wasInterrupted() const { return interrupted; }
  void clearInterrupt() { interrupted = false; }
  /// Called now and then by a thread: lets the scheduler look whether the caller wants the launch to end.
  void poll(Thread &thread) {
    constexpr uint32_t often = 256;
    thread.clock += timeline.isOn;
    if (++thread.polls % often == 0)
      pollNow(thread);
  }

private:
  bool prepare(const uint64_t *config);
  void pollNow(Thread &thread);
  /// Whether the caller wants the launch to end, who is asked at most once in some time.
  bool isInterrupted();
  /// Runs a thread until it waits. Returns false if the launch is to end.
  bool resume(Thread &thread);
  void placeCluster(const uint64_t *clusterId);
  void placeThread(Thread &thread, uint64_t number, SimulatedBlock &block);
  bool runInSequence();
  bool runTogether();
  /// The cluster that comes at a turn.
  uint64_t clusterAt(uint64_t turn, uint64_t count) const;
  bool endWaits();
  bool endBarrier(SimulatedBlock &block);
  bool endShuffle(SimulatedBlock &block, size_t firstLane, size_t laneCount);
  void reportStuck(const SimulatedBlock &block);
  // Timeline.cpp
  /// Notes that the warp of a thread does something, a step long, or what it did since `begin`. One lane speaks for
  /// all.
  void note(Thread &thread, int32_t kind, Site site, int64_t begin = -1, const PhaseBarrier *barrier = nullptr);
  /// All go on together, no earlier than the last of them and than `least`.
  void align(const std::vector<Thread *> &threads, int64_t least = 0);
  const ArgumentMemory *findArgument(int32_t argument, uint64_t address);
  void block(Thread &thread, Wait wait, Site site);
  std::string describe(const Thread &thread) const;
  std::string describeNumber(uint64_t thread) const;
  static std::string describeId(const SimulatedBlock &block);
  std::string describeBlock(const SimulatedBlock &block) const;
  /// "thread (0, 0, 0) writes ".
  static std::string does(const std::string &who, bool writes);

  // Asynchrony.cpp
  void beginCluster();
  void beginThread(Thread &thread);
  bool endAsynchronousWaits();
  bool endNamedBarriers(SimulatedBlock &block);
  bool endClusterBarrier();
  bool endMatmul(SimulatedBlock &block, size_t firstThread);
  void join(const std::vector<Thread *> &threads);
  void step(Thread &thread) { thread.knowledge.known.add({thread.agent, thread.knowledge.known.of(thread.agent) + 1}); }
  void commit(Thread::Groups &groups) { ++groups.ended; }
  void waitForGroups(Thread &thread, Thread::Groups &groups, uint32_t underWay);
  Agent newAgent(const std::string &description, const SimulatedBlock &block);
  void endPhase(PhaseBarrier &barrier);
  PhaseBarrier *findBarrier(Thread &thread, Site site, SimulatedBlock &block, uint64_t offset, bool needsFence);
  void visit(Thread &thread, Site site, SimulatedBlock &block);
  /// The block whose shared memory an address lies in, all of `bytes`, or null, which is reported.
  SimulatedBlock *findBlock(Thread &thread, Site site, uint64_t address, uint64_t bytes, uint64_t &offset);
  User userOf(const Thread &thread, Site site) const;
  Defect check(Thread &thread, const Clash &clash);
  Defect storeTracked(Thread &thread, uint64_t address, uint64_t bytes, Use use, const char *value);
  void reportClash(const Clash &clash, const std::string &what, bool writes, Site site, const SimulatedBlock &block);
  void reportAt(int kind, Site site, const std::string &text, const SimulatedBlock &block);
  const TensorMap *findMap(Thread &thread, Site site, const void *map, int32_t rank);
  bool isAligned(Thread &thread, Site site, uint64_t address);
  bool isLegalBox(Thread &thread, Site site, const TensorMap &map, const int32_t *coordinates, bool isStore);
  void readTile(Thread &thread, Site site, const TensorMap &map, const int32_t *coordinates, std::vector<char> &bytes);
  void readOperand(const MatmulPart &part, int operand, Descriptor descriptor, const User &user, SimulatedBlock &block,
                   const std::string &who, std::vector<double> &numbers);
  void reportDeadlock();
  void checkEnd();
  void checkArrivals();
  std::string describeAgent(Agent agent) const;
  std::string describePlace(uint64_t offset) const;
  std::string describeBarrier(const PhaseBarrier &barrier) const;
  std::string describeMissing(const PhaseBarrier &barrier) const;
  std::string describeWait(const Thread &thread) const;

  ReportList &reports;
  const bool checked;
  StackPool stacks;
  bool interrupted = false, wasAsked = false; // in the launch at hand
  std::chrono::steady_clock::time_point lastAsked;
  std::vector<Thread> threads;
  std::vector<std::unique_ptr<SimulatedBlock>> blocks; // of the cluster
  std::vector<ArgumentMemory> arguments;
  ArgumentMemory anyBuffer;
  // The launch at hand.
  const Kernel *kernel = nullptr;
  void **params = nullptr;
  uint64_t grid[3] = {}, blockDim[3] = {}, cluster[3] = {};
  size_t threadCount = 0, clusterSize = 0; // threads of a block, blocks of a cluster
  bool isAsynchronous = false;
  uint64_t launches = 0; // of asynchronous kernels
  // Warpgroups that arrived at a place in global memory, and how many are to come in all.
  struct Arrivals {
    int64_t count = 0, wanted = 0;
    Site site;
  };
  std::map<uint64_t, Arrivals> arrivals;
  int32_t launchNumber = -1; // in its call, for the timeline
  // The cluster at hand.
  int64_t clusterNumber = 0, clusterArrivedAt = 0;
  std::vector<std::string> otherAgents; // those above the threads
  Meeting clusterMeeting;               // of all arrivals at the cluster's barrier
};

} // namespace tilewright::sim

#endif
