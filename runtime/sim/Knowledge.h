//===- Knowledge.h - what is known to have happened -----------------------===//
//
// In a kernel of asynchronous tiles nothing orders what two threads do but the barriers between them, whose order is
// not that of the program. So each thread keeps what it knows to have happened: of each agent, how far it has come (a
// vector clock). Whoever arrives at a barrier hands its knowledge in, and whoever waits for it takes what was handed
// in. What goes on beside the threads is of agents too: a TMA copy is known to be done by those alone who waited for
// it.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_KNOWLEDGE_H
#define TILEWRIGHT_RUNTIME_SIM_KNOWLEDGE_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tilewright::sim {

/// A thread of the cluster, by its number; above these what goes on beside the threads.
using Agent = uint32_t;

/// A step of an agent. Step 0 comes before everything.
struct Moment {
  Agent agent = 0;
  uint32_t step = 0;
};

class Knowledge {
public:
  bool has(Moment moment) const { return moment.step <= of(moment.agent); }
  uint32_t of(Agent agent) const { return agent < steps.size() ? steps[agent] : 0; }
  void clear() { steps.clear(); }

  void add(Moment moment) {
    if (moment.agent >= steps.size())
      steps.resize(moment.agent + 1, 0);
    steps[moment.agent] = std::max(steps[moment.agent], moment.step);
  }
  void add(const Knowledge &other) {
    if (steps.size() < other.steps.size())
      steps.resize(other.steps.size(), 0);
    for (size_t i = 0, end = other.steps.size(); i < end; ++i)
      steps[i] = std::max(steps[i], other.steps[i]);
  }
  /// What both know.
  void keep(const Knowledge &other) {
    steps.resize(std::min(steps.size(), other.steps.size()));
    for (size_t i = 0, end = steps.size(); i < end; ++i)
      steps[i] = std::min(steps[i], other.steps[i]);
  }

private:
  std::vector<uint32_t> steps;
};

} // namespace tilewright::sim

#endif
