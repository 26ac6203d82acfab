//===- Describe.cpp - the texts of the machine's reports ------------------===//
#include "runtime/sim/Machine.h"

#include <algorithm>

using namespace tilewright::sim;

static std::string tuple(uint64_t x, uint64_t y, uint64_t z) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

std::string Machine::does(const std::string &who, bool writes) { return who + (writes ? " writes " : " reads "); }

std::string Machine::describeNumber(uint64_t thread) const {
  uint64_t row = thread / blockDim[0];
  return "thread " + tuple(thread % blockDim[0], row % blockDim[1], row / blockDim[1]);
}

std::string Machine::describeId(const SimulatedBlock &block) { return tuple(block.id[0], block.id[1], block.id[2]); }

std::string Machine::describeBlock(const SimulatedBlock &block) const {
  return "block " + describeId(block) + " in " + kernel->name;
}

std::string Machine::describe(const Thread &thread) const {
  return describeNumber(thread.number) + " of " + describeBlock(*thread.block);
}

/// "[3, 70]", or "[3, 68:72]" for a vector; with `extents` also whether that lies inside them.
static std::string describePlaces(int32_t rank, int64_t elements, const int64_t *places, bool &inside,
                                  std::string &shape) {
  std::string text = "[";
  shape = "[";
  inside = true;
  for (int32_t dim = 0; dim < rank; ++dim) {
    int64_t index = places[2 * dim], extent = places[2 * dim + 1];
    int64_t end = index + (dim + 1 == rank ? elements : 1);
    inside &= index >= 0 && end <= extent;
    const char *separator = dim ? ", " : "";
    text += separator + std::to_string(index) + (end > index + 1 ? ":" + std::to_string(end) : "");
    shape += separator + std::to_string(extent);
  }
  shape += "]";
  return text + "]";
}

void Machine::reportAccess(Thread &thread, Defect defect, int32_t flags, Site site, int32_t rank, int64_t elements,
                           const int64_t *places) {
  bool writes = flags & AccessWrites;
  const Conflict &conflict = thread.conflict;
  bool conflicts = defect == Race || defect == UnfinishedCopy;
  Site other = conflicts ? conflict.otherSite : Site();
  int kind = defect * 4 + writes * 2 + (defect == Race && conflict.otherWrites);
  ReportList::Key key{kind, site.identity(), other.identity()};
  if (!reports.count(key))
    return;
  bool inside;
  std::string shape, at = describePlaces(rank, elements, places, inside, shape);
  std::string what = std::string("'") + site.name() + "' at " + at, line = std::string(site.line()) + ": ";
  std::string verb = writes ? "write" : "read";
  std::string head, tail;
  switch (defect) {
  case OutOfBounds:
    head = line + "out-of-bounds " + verb + " of " + what;
    tail = (inside ? ", outside the buffer's memory" : ", whose shape is " + shape) + ", by " + describe(thread);
    break;
  case UnwrittenRead:
    head = line + "read of unwritten memory: " + what;
    tail = " by " + describe(thread);
    break;
  case Race:
    head = line + "race on shared memory: " + describeNumber(thread.number) + " " + verb + "s " + what;
    tail = ", which " +
           does(conflict.isTracked ? describeAgent(conflict.otherAgent) : describeNumber(conflict.otherThread),
                conflict.otherWrites) +
           "at " + other.line() + " with no barrier " + (conflict.isTracked ? "or wait " : "") + "between, in " +
           describeBlock(*thread.block);
    break;
  case UnfinishedCopy:
    head = line + "copy that is not waited for: " + describeNumber(thread.number) + " " + verb + "s " + what;
    tail = ", to which " + describeNumber(conflict.otherThread) + " copies at " + other.line() +
           " with no wait between, in " + describeBlock(*thread.block);
    break;
  case BarrierAccess:
    head = line + verb + " of a barrier's memory: " + what;
    tail = " by " + describe(thread);
    break;
  case DivisionByZero:
    head = line + "division of integers by zero";
    tail = ", by " + describe(thread);
    break;
  case MissingFence: // of TMA copies and matmuls alone
  case NoDefect:
    return;
  }
  // What makes two findings the same to a reader: kind, buffer and lines, but not the indices and threads.
  std::string place = std::to_string(kind) + line + site.name() + '\n' + (other ? other.line() : "");
  reports.describe(key, place, head + tail);
}

/// No thread of the block can go on: names the first that waits and one that keeps it waiting.
void Machine::reportStuck(const SimulatedBlock &block) {
  const Thread *threads = block.threads;
  const Thread *waiting = nullptr;
  for (size_t number = 0; number < threadCount && !waiting; ++number)
    if (threads[number].wait != Wait::Ended)
      waiting = &threads[number];
  auto isShuffle = [](const Thread &thread) { return thread.wait == Wait::Shuffle; };
  std::string name = isShuffle(*waiting) ? waiting->waitSite.name() : "barrier";
  std::string text = std::string(waiting->waitSite.line()) + ": divergent " + name + ": " + describe(*waiting);
  text += " waits here, but ";

  size_t first = 0, end = threadCount;
  if (isShuffle(*waiting)) {
    // Only the warp's first lanes are waited for.
    first = waiting->number / warpSize * warpSize;
    end = first + waiting->shuffleWidth;
    size_t lanes = std::min<size_t>(warpSize, threadCount - first);
    if (waiting->shuffleWidth > lanes) {
      reports.add(text + "its width is " + std::to_string(waiting->shuffleWidth) + " and the warp has " +
                  std::to_string(lanes) + " lanes");
      return;
    }
  }
  for (size_t number = first; number < end; ++number) {
    const Thread &other = threads[number];
    if (other.wait == waiting->wait && other.waitSite == waiting->waitSite)
      continue;
    text += describeNumber(number);
    if (other.wait == Wait::Ended)
      text += std::string(" has ended at ") + other.waitSite.line();
    else
      text += std::string(" waits at the ") + (isShuffle(other) ? other.waitSite.name() : "barrier") + " of " +
              other.waitSite.line();
    break;
  }
  reports.add(text);
}
