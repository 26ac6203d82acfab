//===- Timeline.cpp - what the warps of a simulated launch did, and when --===//
#include "runtime/sim/Timeline.h"

#include "runtime/sim/Machine.h"

#include <algorithm>

using namespace tilewright::sim;

void Machine::note(Thread &thread, int32_t kind, Site site, int64_t begin, const PhaseBarrier *barrier) {
  if (!timeline.isOn)
    return;
  if (begin < 0)
    begin = thread.clock++;
  // What one lane alone does, as the elected one, is the warp's as much as what all do.
  bool isAlone = kind == TilewrightSimLoads || kind == TilewrightSimStores;
  if (thread.number % warpSize && !isAlone)
    return;
  TilewrightSimEvent event = {};
  event.launch = launchNumber;
  event.cluster = static_cast<int32_t>(clusterNumber);
  event.block = static_cast<int32_t>(thread.block->rank);
  event.warp = static_cast<int32_t>(thread.number / warpSize);
  event.kind = kind;
  event.begin = begin;
  event.end = thread.clock;
  event.offset = barrier ? static_cast<int64_t>(barrier->offset) : -1;
  event.phase = barrier ? static_cast<int64_t>(kind == TilewrightSimWaits ? thread.phase : barrier->phase) : -1;
  event.name = site ? site.name() : "";
  event.line = site ? site.line() : "";
  event.what = barrier ? timeline.keep(describeBarrier(*barrier)) : "";
  timeline.add(event);
}

void Machine::align(const std::vector<Thread *> &all, int64_t least) {
  if (!timeline.isOn)
    return;
  for (const Thread *thread : all)
    least = std::max(least, thread->clock);
  for (Thread *thread : all)
    thread->clock = least;
}
