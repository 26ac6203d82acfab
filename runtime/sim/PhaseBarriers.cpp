//===- PhaseBarriers.cpp - barriers that count arrivals and bytes ---------===//
#include "runtime/sim/Machine.h"

#include <algorithm>

using namespace tilewright::sim;

void Machine::startBarrier(Thread &thread, Site site, uint64_t address, int64_t count) {
  uint64_t offset;
  SimulatedBlock *block = findBlock(thread, site, address, 8, offset);
  if (!block)
    return;
  PhaseBarrier &barrier = block->barriers[offset];
  barrier = PhaseBarrier();
  barrier.block = block;
  barrier.offset = offset;
  barrier.count = barrier.missing = count;
  barrier.started = userOf(thread, site).moment;
  barrier.copies = newAgent("a TMA copy", *block);
  if (checked)
    block->tracked.keepForBarrier(offset, 8);
}

PhaseBarrier *Machine::findBarrier(Thread &thread, Site site, SimulatedBlock &block, uint64_t offset, bool needsFence) {
  auto found = block.barriers.find(offset);
  if (found == block.barriers.end()) {
    reportAt(BarrierAccess, site,
             std::string(site.name()) + " of a barrier that has not been started, by " + describe(thread), block);
    return nullptr;
  }
  PhaseBarrier &barrier = found->second;
  if (!checked)
    return &barrier;
  if (!thread.knowledge.known.has(barrier.started))
    reportAt(Race, site,
             std::string(site.name()) + " of a barrier whose start is not waited for: " + describe(thread) + " uses " +
                 describeBarrier(barrier) + ", which " + describeAgent(barrier.started.agent) +
                 " starts with no barrier between",
             block);
  else if (needsFence && !barrier.isFenced)
    reportAt(MissingFence, site,
             std::string(site.name()) + " of a barrier whose start is not visible: " + describe(thread) + " uses " +
                 describeBarrier(barrier) + ", which " + describeAgent(barrier.started.agent) +
                 " starts with no fence after it",
             block);
  return &barrier;
}

void Machine::endPhase(PhaseBarrier &barrier) {
  if (barrier.missing || barrier.missingBytes)
    return;
  ++barrier.phase;
  barrier.missing = barrier.count;
  barrier.passedAt = barrier.arrivedAt;
  if (!checked)
    return;
  barrier.passed.add(barrier.arrived);
  barrier.arrived.clear();
}

void Machine::arrive(Thread &thread, Site site, uint64_t address, int64_t arrivals, int64_t bytes) {
  uint64_t offset;
  SimulatedBlock *block = findBlock(thread, site, address, 8, offset);
  PhaseBarrier *barrier = block ? findBarrier(thread, site, *block, offset, block != thread.block) : nullptr;
  if (!barrier)
    return;
  visit(thread, site, *block);
  if (arrivals > barrier->missing)
    reportAt(BarrierAccess, site,
             "too many arrivals: " + describe(thread) + " arrives at " + describeBarrier(*barrier) + ", all of whose " +
                 std::to_string(barrier->count) + " arrivals of phase " + std::to_string(barrier->phase) + " have come",
             *block);
  barrier->missing = std::max<int64_t>(barrier->missing - arrivals, 0);
  barrier->missingBytes += bytes;
  barrier->lastArrivalSite = site;
  if (arrivals)
    note(thread, TilewrightSimArrives, site, -1, barrier);
  barrier->arrivedAt = std::max(barrier->arrivedAt, thread.clock);
  if (checked && arrivals) {
    barrier->arrived.add(thread.knowledge);
    step(thread);
  }
  endPhase(*barrier);
}

void Machine::waitForPhase(Thread &thread, Site site, uint64_t address, uint32_t parity) {
  uint64_t offset;
  SimulatedBlock *block = findBlock(thread, site, address, 8, offset);
  PhaseBarrier *barrier = block ? findBarrier(thread, site, *block, offset, /*needsFence=*/false) : nullptr;
  if (!barrier)
    return;
  int64_t begin = thread.clock;
  bool isUnderWay = (barrier->phase & 1) == (parity & 1);
  thread.phase = isUnderWay ? barrier->phase : barrier->phase - 1;
  if (isUnderWay) {
    thread.phaseBarrier = barrier;
    this->block(thread, Wait::Phase, site);
  }
  // By steps a thread may wait for what the simulator has done already.
  thread.clock = std::max(begin, barrier->passedAt) + 1;
  note(thread, TilewrightSimWaits, site, begin, barrier);
  if (checked)
    thread.knowledge.add(barrier->passed);
}
