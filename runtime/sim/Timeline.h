//===- Timeline.h - what the warps of a simulated launch did, and when ----===//
//
// The simulator has no clock. Each thread counts what it does: a step for each access to memory, copy, matmul and
// arrival. Who waits goes on no earlier than the last of those that it waits for, as by Lamport's clocks. So the order
// of events is that of what depends on what, however the simulator runs the threads.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_TIMELINE_H
#define TILEWRIGHT_RUNTIME_SIM_TIMELINE_H

#include "runtime/sim/Simulator.h"

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace tilewright::sim {

/// The events of launches, of which those of one lane a warp are kept; as many as there is room for.
class Timeline {
public:
  /// Keeps up to so many events from here on; 0 turns it off.
  void start(size_t most) {
    events.clear();
    room = most;
    isOn = most > 0;
  }
  void clear() { start(room); }
  void add(const TilewrightSimEvent &event) {
    if (events.size() < room)
      events.push_back(event);
    else
      ++dropped;
  }
  /// A string that stays where it is, for events.
  const char *keep(const std::string &text) {
    auto found = texts.find(text);
    if (found == texts.end())
      found = texts.emplace(text, (kept.push_back(text), kept.back().c_str())).first;
    return found->second;
  }

  bool isOn = false;
  uint64_t dropped = 0;
  std::vector<TilewrightSimEvent> events;

private:
  size_t room = 0;
  std::deque<std::string> kept;
  std::unordered_map<std::string, const char *> texts;
};

} // namespace tilewright::sim

#endif
