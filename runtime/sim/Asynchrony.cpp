//===- Asynchrony.cpp - barriers, fences and clusters ---------------------===//
#include "runtime/sim/Machine.h"

#include <algorithm>

using namespace tilewright::sim;

/// A block's registers, and in what steps the hardware hands them out.
static constexpr int64_t blockRegisters = 65536, registerStep = 8;

//===--- a cluster begins -------------------------------------------------===//

void Machine::beginCluster() {
  otherAgents.clear();
  clusterMeeting.clear();
  clusterArrivedAt = 0;
  int64_t each = blockRegisters / static_cast<int64_t>(threadCount) / registerStep * registerStep;
  for (size_t rank = 0; rank < clusterSize; ++rank) {
    SimulatedBlock &block = *blocks[rank];
    block.tracked.clear();
    block.barriers.clear();
    block.arrivals.clear();
    block.visitors.clear();
    block.accumulators.resize((threadCount + warpgroupSize - 1) / warpgroupSize);
    for (Accumulators &accumulators : block.accumulators)
      accumulators.clear();
    block.told.clear();
    block.freeRegisters = blockRegisters - each * static_cast<int64_t>(threadCount);
  }
}

void Machine::beginThread(Thread &thread) {
  thread.agent = static_cast<Agent>(&thread - threads.data());
  thread.knowledge.clear();
  thread.knowledge.known.add({thread.agent, 1});
  thread.startsKnown.clear();
  thread.clusterArrivals = 0;
  thread.registers = blockRegisters / static_cast<int64_t>(threadCount) / registerStep * registerStep;
  thread.matmulGroups = thread.storeGroups = thread.copyGroups = {};
}

Agent Machine::newAgent(const std::string &description, const SimulatedBlock &block) {
  std::string ofBlock = clusterSize > 1 ? " of block " + std::to_string(block.rank) + " of the cluster" : "";
  otherAgents.push_back(description + ofBlock);
  return static_cast<Agent>(threadCount * clusterSize + otherAgents.size() - 1);
}

User Machine::userOf(const Thread &thread, Site site) const {
  return {{{thread.agent, thread.knowledge.known.of(thread.agent)}, site, false},
          thread.knowledge.known,
          thread.knowledge.fenced};
}

//===--- meeting ----------------------------------------------------------===//

/// All learn what each of them knows.
void Machine::join(const std::vector<Thread *> &all) {
  if (!checked)
    return;
  Meeting meeting;
  for (const Thread *thread : all)
    meeting.add(thread->knowledge);
  for (Thread *thread : all) {
    thread->knowledge = meeting;
    step(*thread);
  }
}

void Machine::waitForGroups(Thread &thread, Thread::Groups &groups, uint32_t underWay) {
  if (groups.agent && groups.ended > underWay)
    thread.knowledge.known.add({groups.agent, groups.ended - underWay});
}

void Machine::fence(Thread &thread, Fence fence) {
  if (fence == Fence::Async)
    thread.knowledge.fenced.add(thread.knowledge.known);
  else
    thread.startsKnown = thread.knowledge;
  for (auto &[offset, barrier] : thread.block->barriers)
    if (barrier.started.agent == thread.agent)
      barrier.isFenced = true;
}

void Machine::waitAtNamedBarrier(Thread &thread, Site site, uint32_t number, uint32_t count) {
  thread.barrierNumber = number;
  thread.barrierThreads = count ? count : threadCount;
  block(thread, Wait::NamedBarrier, site);
}

void Machine::arriveAtNamedBarrier(Thread &thread, Site site, uint32_t number, uint32_t count) {
  // Those who wait may be enough with who has arrived before.
  endNamedBarriers(*thread.block);
  NamedArrivals &arrivals = thread.block->arrivals[number];
  auto who = [&](const std::string &arrives) {
    return describe(thread) + arrives + " at barrier " + std::to_string(number) + ", which is one of " +
           std::to_string(arrivals.threads) + " threads and not over";
  };
  if (arrivals.who.empty())
    arrivals.threads = count;
  if (arrivals.threads != count)
    reportAt(BarrierAccess, site,
             "arrivals that do not add up: " + who(" arrives as one of " + std::to_string(count) + " threads"),
             *thread.block);
  else if (!arrivals.who.insert(thread.number).second)
    reportAt(BarrierAccess, site, "too many arrivals: " + who(" arrives again"), *thread.block);
  arrivals.lastSite = site;
  note(thread, TilewrightSimArrives, site);
  arrivals.arrivedAt = std::max(arrivals.arrivedAt, thread.clock);
  if (!checked)
    return;
  arrivals.meeting.add(thread.knowledge);
  step(thread);
}

bool Machine::endNamedBarriers(SimulatedBlock &block) {
  std::map<uint32_t, std::vector<Thread *>> waiting;
  for (Thread *thread = block.threads, *end = thread + threadCount; thread != end; ++thread)
    if (thread->wait == Wait::NamedBarrier)
      waiting[thread->barrierNumber].push_back(thread);
  bool any = false;
  for (auto &[number, all] : waiting) {
    // Threads that ask for another number of threads do not meet these.
    uint32_t count = all.front()->barrierThreads;
    all.erase(std::remove_if(all.begin(), all.end(), [&](Thread *thread) { return thread->barrierThreads != count; }),
              all.end());
    auto found = block.arrivals.find(number);
    bool isAwaited = found != block.arrivals.end() && found->second.threads == count;
    uint32_t arrived = isAwaited ? static_cast<uint32_t>(found->second.who.size()) : 0;
    if (all.size() + arrived < count)
      continue;
    all.resize(count - std::min(arrived, count));
    for (Thread *thread : all) {
      thread->wait = Wait::Nothing;
      if (isAwaited)
        thread->knowledge.add(found->second.meeting);
    }
    align(all, isAwaited ? found->second.arrivedAt : 0);
    if (isAwaited)
      block.arrivals.erase(found);
    join(all);
    any = true;
  }
  return any;
}

void Machine::setRegisters(Thread &thread, Site site, int64_t registers) {
  thread.wantedRegisters = registers;
  if (registers > thread.registers + thread.block->freeRegisters)
    block(thread, Wait::Registers, site);
  thread.block->freeRegisters -= registers - thread.registers;
  thread.registers = registers;
}

//===--- arrivals in global memory ----------------------------------------===//

bool Machine::countArrival(Thread &thread, Site site, uint64_t counter, int64_t warpgroups, bool ifLast) {
  size_t warpgroup = thread.number / warpgroupSize;
  waitAtNamedBarrier(thread, site, warpgroup + 1, warpgroupSize);
  SimulatedBlock::Told &told = thread.block->told[warpgroup];
  if (!told.missing) {
    // The first that goes on counts for all.
    told.missing = warpgroupSize;
    if (storeGlobal(-1, counter, sizeof(int64_t)) == OutOfBounds)
      reportAt(OutOfBounds, site, "expected a counter of arrivals in memory that the program may use", *thread.block);
    auto [found, isFirst] = arrivals.try_emplace(counter, Arrivals{0, warpgroups, site});
    Arrivals &here = found->second;
    if (here.wanted != warpgroups)
      reportAt(Race, site,
               "expected as many arrivals at a counter as others do, " + std::to_string(here.wanted) + ", got " +
                   std::to_string(warpgroups),
               *thread.block);
    told.isLast = here.count + 1 == here.wanted;
    if (told.isLast)
      arrivals.erase(found);
    else if (!ifLast)
      ++here.count;
    else if (isFirst)
      arrivals.erase(found);
  }
  --told.missing;
  return told.isLast;
}

void Machine::checkArrivals() {
  if (arrivals.empty())
    return;
  const Arrivals &here = arrivals.begin()->second;
  reports.add(std::string(here.site.line()) + ": expected " + std::to_string(here.wanted) +
              " warpgroups to arrive at a counter, got " + std::to_string(here.count) + ", in " + kernel->name);
}

//===--- clusters ---------------------------------------------------------===//

void Machine::arriveAtCluster(Thread &thread, bool releases) {
  ++thread.clusterArrivals;
  clusterArrivedAt = std::max(clusterArrivedAt, thread.clock);
  if (!checked)
    return;
  clusterMeeting.add(releases ? thread.knowledge : thread.startsKnown);
  step(thread);
}

void Machine::waitForCluster(Thread &thread, Site site) { block(thread, Wait::ClusterBarrier, site); }

/// The cluster's barrier is over for those that have arrived as often as all others that have not ended.
bool Machine::endClusterBarrier() {
  Thread *begin = threads.data(), *end = begin + threadCount * clusterSize;
  uint64_t least = UINT64_MAX;
  for (Thread *thread = begin; thread != end; ++thread)
    if (thread->wait != Wait::Ended)
      least = std::min(least, thread->clusterArrivals);
  bool any = false;
  for (Thread *thread = begin; thread != end; ++thread)
    if (thread->wait == Wait::ClusterBarrier && thread->clusterArrivals <= least) {
      thread->wait = Wait::Nothing;
      thread->clock = std::max(thread->clock, clusterArrivedAt);
      if (checked)
        thread->knowledge.add(clusterMeeting);
      any = true;
    }
  return any;
}

SimulatedBlock *Machine::findBlock(Thread &thread, Site site, uint64_t address, uint64_t bytes, uint64_t &offset) {
  for (size_t rank = 0; rank < clusterSize; ++rank) {
    SimulatedBlock &block = *blocks[rank];
    if (!block.shared.contains(address, bytes))
      continue;
    offset = address - reinterpret_cast<uintptr_t>(block.shared.base());
    return &block;
  }
  reportAt(
      OutOfBounds, site,
      std::string("out-of-bounds use of shared memory: ") + site.name() + " of " + std::to_string(bytes) + " bytes " +
          std::to_string(static_cast<int64_t>(address - reinterpret_cast<uintptr_t>(thread.block->shared.base()))) +
          " bytes after the start of " + std::to_string(thread.block->shared.bytes()) + " bytes",
      *thread.block);
  return nullptr;
}

uint64_t Machine::peerAddress(Thread &thread, Site site, uint64_t address, uint32_t rank) {
  if (rank < clusterSize)
    return address + reinterpret_cast<uintptr_t>(blocks[rank]->shared.base()) -
           reinterpret_cast<uintptr_t>(thread.block->shared.base());
  reportAt(OutOfBounds, site,
           "expected a block of the cluster's " + std::to_string(clusterSize) + ", got number " + std::to_string(rank),
           *thread.block);
  return address;
}

/// Notes a use of another block's memory, which must not have ended by then.
void Machine::visit(Thread &thread, Site site, SimulatedBlock &block) {
  if (checked && &block != thread.block)
    block.visitors[thread.agent] = userOf(thread, site);
}

//===--- going on ---------------------------------------------------------===//

bool Machine::endAsynchronousWaits() {
  bool any = false;
  for (size_t rank = 0; rank < clusterSize; ++rank) {
    SimulatedBlock &block = *blocks[rank];
    for (Thread *thread = block.threads, *end = thread + threadCount; thread != end; ++thread) {
      bool isOver =
          (thread->wait == Wait::Phase && thread->phaseBarrier->phase > thread->phase) ||
          (thread->wait == Wait::Registers && thread->wantedRegisters <= thread->registers + block.freeRegisters);
      // The others' turn comes when this one has taken its registers.
      bool takes = isOver && thread->wait == Wait::Registers;
      if (isOver)
        thread->wait = Wait::Nothing;
      any |= isOver;
      if (takes)
        return true;
    }
    any |= endNamedBarriers(block);
    for (size_t first = 0; first + warpgroupSize <= threadCount; first += warpgroupSize)
      any |= endMatmul(block, first);
  }
  return any | endClusterBarrier();
}
