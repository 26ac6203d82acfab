//===- AsynchronousEnd.cpp - what may not be under way when a cluster ends ===//
#include "runtime/sim/Machine.h"

using namespace tilewright::sim;

void Machine::checkEnd() {
  for (size_t rank = 0; rank < clusterSize; ++rank) {
    SimulatedBlock &block = *blocks[rank];
    Knowledge ended;
    for (Thread *thread = block.threads, *end = thread + threadCount; thread != end; ++thread) {
      ended.add(thread->knowledge.known);
      for (auto [groups, what] :
           {std::pair(&thread->storeGroups, "TMA copy to global memory"), std::pair(&thread->matmulGroups, "wgmma")}) {
        bool isFirst = groups != &thread->matmulGroups || thread->number % warpgroupSize == 0;
        if (isFirst && groups->agent && thread->knowledge.known.of(groups->agent) < groups->last)
          reportAt(UnfinishedCopy, groups->lastSite,
                   std::string(what) + " that is not waited for: " + describe(*thread) +
                       " ends while what it began here may still use shared memory",
                   block);
      }
    }
    for (auto &[offset, barrier] : block.barriers) {
      if (ended.of(barrier.copies) < barrier.lastCopy)
        reportAt(UnfinishedCopy, barrier.lastCopySite,
                 "TMA copy that is not waited for: no thread of " + describeBlock(block) + " waits for " +
                     describeBarrier(barrier) + ", which it signals",
                 block);
      if (barrier.lastArrivalSite && (barrier.missing < barrier.count || barrier.missingBytes))
        reportAt(BarrierAccess, barrier.lastArrivalSite,
                 "arrivals that do not add up: at the end phase " + std::to_string(barrier.phase) + " of " +
                     describeBarrier(barrier) + " is not over, " + describeMissing(barrier),
                 block);
    }
    for (auto &[number, arrivals] : block.arrivals)
      reportAt(BarrierAccess, arrivals.lastSite,
               "arrivals that do not add up: at the end " + std::to_string(arrivals.who.size()) + " of " +
                   std::to_string(arrivals.threads) + " threads have come to barrier " + std::to_string(number) +
                   ", and none waits for them",
               block);
    for (auto &[agent, use] : block.visitors)
      if (!ended.has(use.moment))
        reportAt(OutOfBounds, use.site,
                 std::string(use.site.name()) + " to a block that may have ended: " + describeAgent(agent) +
                     " uses the memory of " + describeBlock(block) + ", no thread of which waits for it",
                 block);
  }
}
