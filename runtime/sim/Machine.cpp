//===- Machine.cpp - blocks of threads that wait for each other -----------===//
#include "runtime/sim/Machine.h"

#include <algorithm>

using namespace tilewright::sim;

//===--- running ----------------------------------------------------------===//

/// Of each fiber beside the local arrays: the frames of compiled code and of a report's making.
static constexpr size_t baseStackBytes = 64 << 10;

bool Machine::prepare(const uint64_t *config) {
  std::copy(config, config + 3, grid);
  std::copy(config + 3, config + 6, blockDim);
  threadCount = blockDim[0] * blockDim[1] * blockDim[2];
  bool together = kernel->info[InfoSynchronizes];
  size_t fibers = together ? threadCount : 1;
  if (threads.size() < fibers)
    threads.resize(fibers);
  shared.prepare(config[6], kernel->info[InfoSharedGranularity], checked);
  // A kernel whose threads run in sequence gets a stack too: its local arrays may be larger than the caller's stack.
  if (stacks.reserve(fibers, baseStackBytes + 2 * kernel->info[InfoPrivateBytes]))
    return true;
  reports.add(kernel->name + ": no memory for the stacks of " + std::to_string(fibers) + " threads");
  return false;
}

void Machine::placeThread(Thread &thread, uint64_t number, const uint64_t *block) {
  thread.machine = this;
  thread.number = number;
  thread.copies.clear();
  thread.groupEnds.clear();
  int64_t *words = thread.words;
  words[ThreadIdX] = number % blockDim[0];
  words[ThreadIdX + 1] = number / blockDim[0] % blockDim[1];
  words[ThreadIdX + 2] = number / blockDim[0] / blockDim[1];
  for (int dim = 0; dim < 3; ++dim) {
    words[BlockIdX + dim] = block[dim];
    words[BlockDimX + dim] = blockDim[dim];
    words[GridDimX + dim] = grid[dim];
  }
  words[LaneId] = number % warpSize;
  words[SubgroupId] = number / warpSize;
  words[NumSubgroups] = (threadCount + warpSize - 1) / warpSize;
  words[SharedBase] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(shared.base()));
}

bool Machine::launch(const Kernel &launched, const uint64_t *config, void **launchParams,
                     std::vector<ArgumentMemory> memory) {
  kernel = &launched;
  params = launchParams;
  arguments = std::move(memory);
  if (!prepare(config))
    return false;
  bool together = kernel->info[InfoSynchronizes];
  for (blockId[2] = 0; blockId[2] < grid[2]; ++blockId[2])
    for (blockId[1] = 0; blockId[1] < grid[1]; ++blockId[1])
      for (blockId[0] = 0; blockId[0] < grid[0]; ++blockId[0]) {
        shared.beginBlock();
        if (!together)
          runInSequence();
        else if (!runTogether())
          return false;
      }
  return reports.empty();
}

void Machine::runInSequence() {
  Thread &thread = threads.front();
  auto runAll = [](void *argument) {
    Thread &thread = *static_cast<Thread *>(argument);
    Machine &machine = *thread.machine;
    for (size_t number = 0; number < machine.threadCount; ++number) {
      machine.placeThread(thread, number, machine.blockId);
      machine.kernel->function(&thread, machine.params);
    }
    thread.fiber.suspend();
  };
  thread.machine = this;
  thread.fiber.start(stacks.bottom(0), stacks.bytes(), runAll, &thread);
  thread.fiber.resume();
}

bool Machine::runTogether() {
  auto runOne = [](void *argument) {
    Thread &thread = *static_cast<Thread *>(argument);
    thread.machine->kernel->function(&thread, thread.machine->params);
    thread.wait = Wait::Ended;
    thread.fiber.suspend();
  };
  for (size_t number = 0; number < threadCount; ++number) {
    Thread &thread = threads[number];
    placeThread(thread, number, blockId);
    thread.wait = Wait::Nothing;
    thread.waitSite = Site();
    thread.fiber.start(stacks.bottom(number), stacks.bytes(), runOne, &thread);
  }
  while (true) {
    bool anyWaits = false;
    for (size_t number = 0; number < threadCount; ++number) {
      Thread &thread = threads[number];
      if (thread.wait == Wait::Nothing)
        thread.fiber.resume();
      anyWaits |= thread.wait != Wait::Ended;
    }
    if (!anyWaits)
      return true;
    if (!endWaits()) {
      reportStuck();
      return false;
    }
  }
}

//===--- waiting ----------------------------------------------------------===//

void Machine::block(Thread &thread, Wait wait, Site site) {
  thread.wait = wait;
  thread.waitSite = site;
  thread.fiber.suspend();
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
  for (size_t lane = 0; lane < threadCount; lane += warpSize)
    any |= endShuffle(lane, std::min<size_t>(warpSize, threadCount - lane));
  return any || endBarrier();
}

/// A barrier is over when all threads of the block wait at it: not at another one, and none has ended.
bool Machine::endBarrier() {
  Site site = threads.front().waitSite;
  for (size_t number = 0; number < threadCount; ++number)
    if (threads[number].wait != Wait::Barrier || threads[number].waitSite != site)
      return false;
  for (size_t number = 0; number < threadCount; ++number)
    threads[number].wait = Wait::Nothing;
  shared.passBarrier();
  return true;
}

/// A shuffle is over when the first `width` lanes of the warp are in it.
bool Machine::endShuffle(size_t firstLane, size_t laneCount) {
  Thread *lanes = &threads[firstLane];
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
    shared.interleave();
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
  shared.interleave();
  return true;
}

//===--- asynchronous copies ----------------------------------------------===//

Defect Machine::copyShared(Thread &thread, uint64_t address, uint64_t bytes, Site site, const char *value) {
  Defect found = shared.copy(thread.number, address, bytes, site, value, thread.conflict);
  if (found != OutOfBounds)
    thread.copies.push_back({address, bytes});
  return found;
}

void Machine::waitForCopies(Thread &thread, size_t underWay) {
  std::vector<size_t> &ends = thread.groupEnds;
  if (ends.size() <= underWay)
    return;
  size_t groups = ends.size() - underWay, finished = ends[groups - 1];
  for (size_t number = 0; number < finished; ++number)
    shared.finishCopy(thread.number, thread.copies[number].first, thread.copies[number].second);
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + finished);
  ends.erase(ends.begin(), ends.begin() + groups);
  for (size_t &end : ends)
    end -= finished;
}

//===--- checking ---------------------------------------------------------===//

const ArgumentMemory *Machine::findArgument(int32_t argument, uint64_t address) {
  if (argument >= 0)
    return &arguments[argument];
  for (Buffer &buffer : buffers)
    if (buffer.contains(address)) {
      anyBuffer = {buffer.base, buffer.bytes, &buffer};
      return &anyBuffer;
    }
  return nullptr;
}

Defect Machine::loadGlobal(int32_t argument, uint64_t address, uint64_t bytes) {
  const ArgumentMemory *memory = findArgument(argument, address);
  if (!memory || !memory->contains(address, bytes))
    return OutOfBounds;
  return memory->isWritten(address, bytes) ? NoDefect : UnwrittenRead;
}

Defect Machine::storeGlobal(int32_t argument, uint64_t address, uint64_t bytes) {
  const ArgumentMemory *memory = findArgument(argument, address);
  if (!memory || !memory->contains(address, bytes))
    return OutOfBounds;
  memory->setWritten(address, bytes);
  return NoDefect;
}
