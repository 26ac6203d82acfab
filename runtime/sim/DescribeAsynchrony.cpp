//===- DescribeAsynchrony.cpp - the texts of reports on asynchronous tiles ===//
#include "runtime/sim/Machine.h"

#include <algorithm>

using namespace tilewright::sim;

std::string Machine::describeAgent(Agent agent) const {
  size_t count = threadCount * clusterSize;
  if (agent >= count)
    return otherAgents[agent - count];
  std::string thread = describeNumber(agent % threadCount);
  return clusterSize > 1 ? thread + " of block " + std::to_string(agent / threadCount) + " of the cluster" : thread;
}

std::string Machine::describePlace(uint64_t offset) const {
  for (const Region &region : kernel->regions) {
    uint64_t within = offset - region.offset;
    if (within >= region.bytes * region.slots)
      continue;
    std::string slot = region.slots > 1 ? "slot " + std::to_string(within / region.bytes) + " of " : "";
    return slot + "'" + region.name + "' at byte " + std::to_string(within % region.bytes);
  }
  return "shared memory at byte " + std::to_string(offset);
}

/// A slot's `full` barrier or, `depth` barriers on, its `empty` one.
std::string Machine::describeBarrier(const PhaseBarrier &barrier) const {
  for (const Region &region : kernel->regions) {
    uint64_t number = (barrier.offset - static_cast<uint64_t>(region.barriers)) / 8;
    if (region.barriers < 0 || barrier.offset < static_cast<uint64_t>(region.barriers) || number >= 2 * region.slots)
      continue;
    return "the barrier '" + std::string(number < region.slots ? "full" : "empty") + "' of slot " +
           std::to_string(number % region.slots) + " of '" + region.name + "'";
  }
  return "the barrier at byte " + std::to_string(barrier.offset) + " of shared memory";
}

void Machine::reportAt(int kind, Site site, const std::string &text, const SimulatedBlock &block) {
  ReportList::Key key{1000 + kind, site.identity(), nullptr};
  if (!reports.count(key))
    return;
  std::string line = std::string(site.line()) + ": ";
  bool namesKernel = text.find(" in " + kernel->name) != std::string::npos;
  reports.describe(key, std::to_string(kind) + line + site.name(),
                   line + text + (namesKernel ? "" : ", in " + describeBlock(block)));
}

void Machine::reportClash(const Clash &clash, const std::string &who, bool writes, Site site,
                          const SimulatedBlock &block) {
  if (clash.defect == NoDefect)
    return;
  ReportList::Key key{2000 + clash.defect * 4 + writes * 2 + clash.otherWrites, site.identity(),
                      clash.other.site.identity()};
  if (!reports.count(key))
    return;
  std::string doing = does(who, writes) + describePlace(clash.offset), text;
  auto other = [&] {
    return does(describeAgent(clash.other.moment.agent), clash.otherWrites) + "at " + clash.other.site.line();
  };
  switch (clash.defect) {
  case UnwrittenRead:
    text = "read of unwritten memory: " + doing;
    break;
  case Race:
    text = "race on shared memory: " + doing + ", which " + other() + " with no barrier or wait between";
    break;
  case MissingFence:
    text = "missing fence: " + doing + ", which " + other() + " with no tile.fence_async between";
    break;
  default:
    text = "use of a barrier's memory: " + doing;
    break;
  }
  std::string line = std::string(site.line()) + ": ";
  std::string at =
      std::to_string(clash.defect) + line + site.name() + '\n' + (clash.other.site ? clash.other.site.line() : "");
  reports.describe(key, at, line + text + ", in " + describeBlock(block));
}

static std::string count(int64_t number, const char *what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// "which lacks 1 of 2 arrivals and 512 bytes".
std::string Machine::describeMissing(const PhaseBarrier &barrier) const {
  std::string text;
  auto add = [&](const std::string &more) { text += (text.empty() ? "which " : " and ") + more; };
  if (barrier.missing)
    add("lacks " + std::to_string(barrier.missing) + " of " + count(barrier.count, "arrival"));
  if (barrier.missingBytes > 0)
    add("waits for " + count(barrier.missingBytes, "byte"));
  if (barrier.missingBytes < 0)
    add("has " + count(-barrier.missingBytes, "byte") + " more than it was told of");
  return text;
}

std::string Machine::describeWait(const Thread &thread) const {
  switch (thread.wait) {
  case Wait::Barrier:
    return "at the block's barrier";
  case Wait::Shuffle:
    return std::string("for its warp at ") + thread.waitSite.name();
  case Wait::Phase:
    return "for phase " + std::to_string(thread.phase) + " of " + describeBarrier(*thread.phaseBarrier) + ", " +
           describeMissing(*thread.phaseBarrier);
  case Wait::NamedBarrier: {
    size_t come = 0;
    if (auto found = thread.block->arrivals.find(thread.barrierNumber);
        found != thread.block->arrivals.end() && found->second.threads == thread.barrierThreads)
      come = found->second.who.size();
    for (size_t number = 0; number < threadCount; ++number) {
      const Thread &other = thread.block->threads[number];
      come += other.wait == Wait::NamedBarrier && other.barrierNumber == thread.barrierNumber &&
              other.barrierThreads == thread.barrierThreads;
    }
    return "at barrier " + std::to_string(thread.barrierNumber) + ", to which " + std::to_string(come) + " of " +
           count(thread.barrierThreads, "thread") + " have come";
  }
  case Wait::ClusterBarrier:
    return "at the cluster's barrier";
  case Wait::Matmul:
    return std::string("for its warpgroup at ") + thread.waitSite.name();
  case Wait::Registers:
    return "for " + std::to_string(thread.wantedRegisters) + " registers, of which it has " +
           std::to_string(thread.registers) + " and " + std::to_string(thread.block->freeRegisters) +
           " of the block are free";
  case Wait::Nothing:
  case Wait::Ended:
    break;
  }
  return "for nothing";
}

/// Nobody can go on: says of each place where threads wait for what.
void Machine::reportDeadlock() {
  struct Place {
    const Thread *first;
    std::string what;
    size_t more = 0;
  };
  constexpr size_t maxPlaces = 8;
  std::vector<Place> places;
  for (const Thread *thread = threads.data(), *end = thread + threadCount * clusterSize; thread != end; ++thread) {
    if (thread->wait == Wait::Ended)
      continue;
    std::string what = describeWait(*thread);
    bool isKnown = false;
    for (Place &place : places)
      if (place.first->waitSite == thread->waitSite && place.first->block == thread->block && place.what == what) {
        ++place.more;
        isKnown = true;
        break;
      }
    if (!isKnown && places.size() <= maxPlaces)
      places.push_back({thread, what});
  }
  std::string text;
  for (size_t i = 0; i < places.size() && i < maxPlaces; ++i) {
    const Place &place = places[i];
    std::string who = describeNumber(place.first->number);
    if (place.more)
      who += " and " + std::to_string(place.more) + " more";
    who += " of block " + describeId(*place.first->block);
    if (i == 0)
      text = std::string(place.first->waitSite.line()) + ": deadlock in " + kernel->name + ": " + who + " wait" +
             (place.more ? "" : "s") + " here " + place.what;
    else
      text += "; " + who + " wait" + (place.more ? "" : "s") + " at " + place.first->waitSite.line() + " " + place.what;
  }
  if (places.size() > maxPlaces)
    text += "; and more";
  for (size_t rank = 0; rank < clusterSize; ++rank) {
    const SimulatedBlock &block = *blocks[rank];
    auto ended = [](const Thread &thread) { return thread.wait == Wait::Ended; };
    const Thread *end = block.threads + threadCount,
                 *first = std::find_if(static_cast<const Thread *>(block.threads), end, ended);
    if (first != end)
      text += "; " + count(std::count_if(first, end, ended), "thread") + " of block " + describeId(block) +
              " ended at " + first->waitSite.line();
  }
  reports.add(text);
}
