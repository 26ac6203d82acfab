//===- Machine.cpp - blocks of threads that wait for each other -----------===//
#include "runtime/sim/Machine.h"

#include <algorithm>
#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

using namespace tilewright::sim;

//===--- running ----------------------------------------------------------===//

/// Of each fiber beside the local arrays: the frames of compiled code and of a report's making. Fragments of tiles take
/// more.
static constexpr size_t baseStackBytes = 64 << 10, tileStackBytes = 256 << 10;

bool Machine::prepare(const uint64_t *config) {
  std::copy(config, config + 3, grid);
  std::copy(config + 3, config + 6, blockDim);
  threadCount = blockDim[0] * blockDim[1] * blockDim[2];
  isAsynchronous = kernel->info[InfoAsynchronous];
  clusterSize = 1;
  for (int dim = 0; dim < 3; ++dim) {
    cluster[dim] = kernel->info[InfoClusterX + dim];
    clusterSize *= cluster[dim];
    if (grid[dim] % cluster[dim]) {
      reports.add(kernel->name + ": expected a grid of whole clusters of " + std::to_string(cluster[dim]) +
                  " blocks along " + "xyz"[dim] + ", got " + std::to_string(grid[dim]) + " blocks");
      return false;
    }
  }
  bool together = kernel->info[InfoSynchronizes];
  size_t fibers = together ? threadCount * clusterSize : 1;
  if (threads.size() < fibers)
    threads.resize(fibers);
  while (blocks.size() < clusterSize)
    blocks.push_back(std::make_unique<SimulatedBlock>());
  for (size_t rank = 0; rank < clusterSize; ++rank) {
    SimulatedBlock &block = *blocks[rank];
    block.rank = rank;
    block.threads = threads.data() + (together ? rank * threadCount : 0);
    block.shared.prepare(config[6], kernel->info[InfoSharedGranularity], checked && !isAsynchronous, isAsynchronous);
    if (isAsynchronous && checked)
      block.tracked.prepare(config[6], kernel->info[InfoSharedGranularity]);
  }
  // A kernel whose threads run in sequence gets a stack too: its local arrays may be larger than the caller's stack.
  if (stacks.reserve(fibers, (isAsynchronous ? tileStackBytes : baseStackBytes) + 2 * kernel->info[InfoPrivateBytes]))
    return true;
  reports.add(kernel->name + ": no memory for the stacks of " + std::to_string(fibers) + " threads");
  return false;
}

/// The blocks of a cluster, by the number of the cluster in each dimension.
void Machine::placeCluster(const uint64_t *clusterId) {
  for (size_t rank = 0; rank < clusterSize; ++rank) {
    SimulatedBlock &block = *blocks[rank];
    const uint64_t within[] = {rank % cluster[0], rank / cluster[0] % cluster[1], rank / cluster[0] / cluster[1]};
    for (int dim = 0; dim < 3; ++dim)
      block.id[dim] = clusterId[dim] * cluster[dim] + within[dim];
    block.shared.beginBlock();
  }
}

void Machine::placeThread(Thread &thread, uint64_t number, SimulatedBlock &block) {
  thread.machine = this;
  thread.block = &block;
  thread.number = number;
  thread.copies.clear();
  thread.groupEnds.clear();
  int64_t *words = thread.words;
  words[ThreadIdX] = number % blockDim[0];
  words[ThreadIdX + 1] = number / blockDim[0] % blockDim[1];
  words[ThreadIdX + 2] = number / blockDim[0] / blockDim[1];
  for (int dim = 0; dim < 3; ++dim) {
    words[BlockIdX + dim] = block.id[dim];
    words[BlockDimX + dim] = blockDim[dim];
    words[GridDimX + dim] = grid[dim];
    words[BlockInClusterX + dim] = block.id[dim] % cluster[dim];
    words[ClusterBlocksX + dim] = cluster[dim];
    words[ClusterIdX + dim] = block.id[dim] / cluster[dim];
    words[ClusterCountX + dim] = grid[dim] / cluster[dim];
  }
  words[LaneId] = number % warpSize;
  words[SubgroupId] = number / warpSize;
  words[NumSubgroups] = (threadCount + warpSize - 1) / warpSize;
  words[SharedBase] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(block.shared.base()));
  words[ClusterRank] = block.rank;
}

//===--- ending early -----------------------------------------------------===//

static std::atomic<InterruptCheck> interruptCheck{nullptr};
std::atomic<uint64_t> tilewright::sim::blocksDone{0}, tilewright::sim::blockCount{0};

void tilewright::sim::setInterruptCheck(InterruptCheck check) { interruptCheck.store(check); }

bool Machine::isInterrupted() {
  constexpr auto askedEvery = std::chrono::milliseconds(20);
  InterruptCheck check = interruptCheck.load(std::memory_order_relaxed);
  if (!check)
    return false;
  auto now = std::chrono::steady_clock::now();
  if (now - lastAsked < askedEvery)
    return false;
  lastAsked = now;
  if (syscall(SYS_gettid) != getpid())
    return false;
  wasAsked = true;
  if (!check())
    return false;
  reports.add("interrupted");
  return interrupted = true;
}

void Machine::pollNow(Thread &thread) {
  thread.isPolling = true;
  thread.fiber.suspend();
}

bool Machine::resume(Thread &thread) {
  while (true) {
    thread.isPolling = false;
    thread.fiber.resume();
    if (!thread.isPolling)
      return true;
    if (isInterrupted())
      return false;
  }
}

//===--- launching --------------------------------------------------------===//

bool Machine::launch(const Kernel &launched, const uint64_t *config, void **launchParams,
                     std::vector<ArgumentMemory> memory) {
  kernel = &launched;
  params = launchParams;
  arguments = std::move(memory);
  stacks.borrow();
  struct GiveBack {
    StackPool &stacks;
    ~GiveBack() { stacks.giveBack(); }
  } giveBack{stacks};
  lastAsked = std::chrono::steady_clock::now();
  wasAsked = false;
  // Whoever was asked on the way, and showed how far it is, learns that it is done.
  struct TellEnd {
    Machine &machine;
    ~TellEnd() {
      blocksDone = blockCount.load();
      machine.lastAsked = {};
      if (machine.wasAsked && !machine.interrupted)
        machine.isInterrupted();
    }
  } tellEnd{*this};
  if (!prepare(config))
    return false;
  bool together = kernel->info[InfoSynchronizes];
  launches += isAsynchronous;
  arrivals.clear();
  const uint64_t counts[] = {grid[0] / cluster[0], grid[1] / cluster[1], grid[2] / cluster[2]};
  const uint64_t count = counts[0] * counts[1] * counts[2];
  ++launchNumber;
  blockCount = count * clusterSize;
  for (uint64_t turn = 0; turn < count; ++turn) {
    uint64_t number = clusterAt(turn, count);
    blocksDone.store(turn * clusterSize, std::memory_order_relaxed);
    clusterNumber = static_cast<int64_t>(number);
    const uint64_t id[] = {number % counts[0], number / counts[0] % counts[1], number / counts[0] / counts[1]};
    placeCluster(id);
    if (!(together ? runTogether() : runInSequence()) || isInterrupted())
      return false;
  }
  checkArrivals();
  return reports.empty();
}

/// Nobody may rely on the order of blocks. Those that meet are run in another with each launch: forwards, backwards,
/// and from the middle on.
uint64_t Machine::clusterAt(uint64_t turn, uint64_t count) const {
  switch (isAsynchronous ? launches % 3 : 1) {
  case 1:
    return turn;
  case 2:
    return count - 1 - turn;
  default:
    return (turn + count / 2) % count;
  }
}

bool Machine::runInSequence() {
  Thread &thread = threads.front();
  auto runAll = [](void *argument) {
    Thread &thread = *static_cast<Thread *>(argument);
    Machine &machine = *thread.machine;
    for (size_t rank = 0; rank < machine.clusterSize; ++rank) {
      SimulatedBlock &block = *machine.blocks[rank];
      for (size_t number = 0; number < machine.threadCount; ++number) {
        machine.placeThread(thread, number, block);
        machine.kernel->function(&thread, machine.params);
        machine.poll(thread);
      }
    }
    thread.fiber.suspend();
  };
  thread.machine = this;
  thread.fiber.start(stacks.bottom(0), stacks.bytes(), runAll, &thread);
  return resume(thread);
}

bool Machine::runTogether() {
  auto runOne = [](void *argument) {
    Thread &thread = *static_cast<Thread *>(argument);
    thread.machine->kernel->function(&thread, thread.machine->params);
    thread.machine->note(thread, TilewrightSimRuns, thread.waitSite, 0);
    thread.wait = Wait::Ended;
    thread.fiber.suspend();
  };
  if (isAsynchronous)
    beginCluster();
  size_t count = threadCount * clusterSize;
  for (size_t index = 0; index < count; ++index) {
    Thread &thread = threads[index];
    placeThread(thread, index % threadCount, *blocks[index / threadCount]);
    if (isAsynchronous)
      beginThread(thread);
    thread.wait = Wait::Nothing;
    thread.waitSite = Site();
    thread.clock = 0;
    thread.fiber.start(stacks.bottom(index), stacks.bytes(), runOne, &thread);
  }
  while (true) {
    bool anyWaits = false;
    for (size_t index = 0; index < count; ++index) {
      Thread &thread = threads[index];
      if (thread.wait == Wait::Nothing && !resume(thread))
        return false;
      anyWaits |= thread.wait != Wait::Ended;
    }
    if (!anyWaits)
      break;
    if (isInterrupted())
      return false;
    if (endWaits())
      continue;
    if (isAsynchronous)
      reportDeadlock();
    else
      for (size_t rank = 0; rank < clusterSize; ++rank)
        reportStuck(*blocks[rank]);
    return false;
  }
  if (isAsynchronous && checked)
    checkEnd();
  return true;
}

//===--- waiting ----------------------------------------------------------===//

void Machine::block(Thread &thread, Wait wait, Site site) {
  thread.wait = wait;
  thread.waitSite = site;
  int64_t begin = thread.clock;
  thread.fiber.suspend();
  if (!timeline.isOn)
    return;
  ++thread.clock;
  // Lanes that exchange values wait for nobody else, and a phase says itself how long it took.
  if (wait != Wait::Shuffle && wait != Wait::Phase)
    note(thread, wait == Wait::Matmul ? TilewrightSimMultiplies : TilewrightSimWaits, site, begin);
}

void Machine::waitAtBarrier(Thread &thread, Site site) { block(thread, Wait::Barrier, site); }

uint64_t Machine::shuffle(Thread &thread, Site site, ShuffleMode mode, uint64_t bits, uint32_t offset, uint32_t width) {
  thread.shuffleMode = mode;
  thread.shuffleBits = bits;
  thread.shuffleOffset = offset;
  thread.shuffleWidth = width;
  thread.matrixPart = nullptr;
  block(thread, Wait::Shuffle, site);
  return thread.shuffleBits;
}

void Machine::exchange(Thread &thread, Site site, const MatrixPart &part) {
  thread.matrixPart = &part;
  thread.shuffleWidth = warpSize;
  block(thread, Wait::Shuffle, site);
}

/// Lets go on whoever has nothing more to wait for, now that every thread waits or has ended.
bool Machine::endWaits() {
  bool any = false;
  for (size_t rank = 0; rank < clusterSize; ++rank) {
    SimulatedBlock &block = *blocks[rank];
    for (size_t lane = 0; lane < threadCount; lane += warpSize)
      any |= endShuffle(block, lane, std::min<size_t>(warpSize, threadCount - lane));
  }
  if (isAsynchronous)
    any |= endAsynchronousWaits();
  for (size_t rank = 0; rank < clusterSize && !any; ++rank)
    any |= endBarrier(*blocks[rank]);
  return any;
}

/// A barrier is over when all threads of the block wait at it: not at another one, and none has ended.
bool Machine::endBarrier(SimulatedBlock &block) {
  Site site = block.threads->waitSite;
  Thread *end = block.threads + threadCount;
  if (!std::all_of(block.threads, end,
                   [&](const Thread &thread) { return thread.wait == Wait::Barrier && thread.waitSite == site; }))
    return false;
  std::vector<Thread *> all;
  for (Thread *thread = block.threads; thread != end; ++thread) {
    thread->wait = Wait::Nothing;
    all.push_back(thread);
  }
  align(all);
  if (isAsynchronous)
    join(all);
  block.shared.passBarrier();
  return true;
}

/// A shuffle is over when the first `width` lanes of the warp are in it.
bool Machine::endShuffle(SimulatedBlock &block, size_t firstLane, size_t laneCount) {
  Thread *lanes = block.threads + firstLane;
  if (lanes->wait != Wait::Shuffle)
    return false;
  Site site = lanes->waitSite;
  uint32_t width = lanes->shuffleWidth;
  auto takesPart = [&](const Thread &lane) { return lane.wait == Wait::Shuffle && lane.waitSite == site; };
  if (width > laneCount || !std::all_of(lanes, lanes + width, takesPart))
    return false;
  if (lanes->matrixPart) {
    const MatrixPart *parts[warpSize];
    for (size_t number = 0; number < warpSize; ++number) {
      parts[number] = lanes[number].matrixPart;
      lanes[number].wait = Wait::Nothing;
    }
    exchangeMatrices(parts);
    block.shared.interleave();
    return true;
  }
  uint64_t given[warpSize];
  std::transform(lanes, lanes + laneCount, given, [](const Thread &lane) { return lane.shuffleBits; });
  for (size_t number = 0; number < laneCount; ++number) {
    Thread &lane = lanes[number];
    if (!takesPart(lane))
      continue;
    int64_t offset = static_cast<int32_t>(lane.shuffleOffset), from = offset;
    if (lane.shuffleMode == ShuffleMode::Xor)
      from = static_cast<int64_t>(number) ^ offset;
    else if (lane.shuffleMode == ShuffleMode::Down)
      from = number + offset;
    else if (lane.shuffleMode == ShuffleMode::Up)
      from = number - offset;
    bool valid = number < width && from >= 0 && from < width;
    lane.words[ShuffleValid] = valid;
    if (valid)
      lane.shuffleBits = given[from];
    lane.wait = Wait::Nothing;
  }
  block.shared.interleave();
  return true;
}
