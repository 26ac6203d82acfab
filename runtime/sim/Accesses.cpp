//===- Accesses.cpp - what threads read and write, and copies under way ---===//
#include "runtime/sim/Machine.h"

using namespace tilewright::sim;

//===--- shared memory and asynchronous copies ----------------------------===//

Defect Machine::loadShared(Thread &thread, uint64_t address, uint64_t bytes, Site site) {
  SharedMemory &shared = thread.block->shared;
  if (!isAsynchronous)
    return shared.load(thread.number, address, bytes, site, thread.conflict);
  if (!shared.contains(address, bytes))
    return OutOfBounds;
  uint64_t offset = address - reinterpret_cast<uintptr_t>(shared.base());
  return check(thread, thread.block->tracked.read(offset, bytes, userOf(thread, site)));
}

Defect Machine::storeShared(Thread &thread, uint64_t address, uint64_t bytes, Site site, const char *value) {
  if (isAsynchronous)
    return storeTracked(thread, address, bytes, userOf(thread, site), value);
  return thread.block->shared.store(thread.number, address, bytes, site, value, thread.conflict);
}

Defect Machine::copyShared(Thread &thread, uint64_t address, uint64_t bytes, Site site, const char *value) {
  if (isAsynchronous) {
    Thread::Groups &groups = thread.copyGroups;
    if (!groups.agent)
      groups.agent = newAgent("a copy of " + describeNumber(thread.number), *thread.block);
    groups.add(site);
    return storeTracked(thread, address, bytes, {{groups.agent, groups.last}, site}, value);
  }
  Defect found = thread.block->shared.copy(thread.number, address, bytes, site, value, thread.conflict);
  if (found != OutOfBounds)
    thread.copies.push_back({address, bytes});
  return found;
}

void Machine::commitCopies(Thread &thread) {
  if (isAsynchronous)
    return commit(thread.copyGroups);
  thread.groupEnds.push_back(thread.copies.size());
}

void Machine::waitForCopies(Thread &thread, size_t underWay) {
  if (isAsynchronous)
    return waitForGroups(thread, thread.copyGroups, underWay);
  std::vector<size_t> &ends = thread.groupEnds;
  if (ends.size() <= underWay)
    return;
  size_t groups = ends.size() - underWay, finished = ends[groups - 1];
  for (size_t number = 0; number < finished; ++number)
    thread.block->shared.finishCopy(thread.number, thread.copies[number].first, thread.copies[number].second);
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + finished);
  ends.erase(ends.begin(), ends.begin() + groups);
  for (size_t &end : ends)
    end -= finished;
}

//===--- checking ---------------------------------------------------------===//

const ArgumentMemory *Machine::findArgument(int32_t argument, uint64_t address) {
  if (argument >= 0)
    return &arguments[argument];
  // One that begins there before one that lies around it, as columns of one matrix do around others.
  Buffer *found = nullptr;
  for (Buffer &buffer : buffers)
    if (buffer.contains(address) && (!found || (buffer.base == address && found->base != address)))
      found = &buffer;
  if (!found)
    return nullptr;
  anyBuffer = {found->base, found->bytes, found};
  return &anyBuffer;
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
