//===- TrackedMemory.cpp - who used which shared memory when --------------===//
#include "runtime/sim/TrackedMemory.h"

using namespace tilewright::sim;

void TrackedMemory::prepare(size_t bytes, size_t granularity) {
  shift = 0;
  while ((size_t(2) << shift) <= granularity)
    ++shift;
  // Cells of another granularity say nothing about these.
  cells.assign((bytes >> shift) + 1, Cell());
  generation = 1;
}

Clash TrackedMemory::read(uint64_t offset, uint64_t bytes, const User &user) {
  Clash clash;
  for (uint64_t index = offset >> shift, last = (offset + bytes - 1) >> shift; index <= last; ++index) {
    Cell &here = cell(index);
    if (clash.defect == NoDefect) {
      uint64_t begin = std::max(offset, index << shift);
      if (here.isBarrier)
        clash = {BarrierAccess, true, Use(), begin};
      else if (!here.isWritten)
        clash = {UnwrittenRead, false, Use(), begin};
      else if (!user.known.has(here.write.moment))
        clash = {Race, true, here.write, begin};
      else if (user.isAsync && !here.write.isAsync && !user.fenced.has(here.write.moment))
        clash = {MissingFence, true, here.write, begin};
    }
    // A read that this one knows of says nothing more: who knows of this one knows of that too.
    int place = 0;
    while (place < here.readCount && !user.known.has(here.reads[place].moment) &&
           here.reads[place].moment.agent != user.moment.agent)
      ++place;
    if (place == maxReads) {
      std::copy(here.reads + 1, here.reads + maxReads, here.reads);
      place = maxReads - 1;
    }
    here.reads[place] = user;
    here.readCount = std::max<int>(here.readCount, place + 1);
  }
  return clash;
}

void TrackedMemory::findReaders(const Cell &cell, const User &user, uint64_t offset, Clash &clash) {
  for (int i = 0; i < cell.readCount; ++i)
    if (!user.known.has(cell.reads[i].moment)) {
      clash = {Race, false, cell.reads[i], offset};
      return;
    }
}

void TrackedMemory::keepForBarrier(uint64_t offset, uint64_t bytes) {
  for (uint64_t index = offset >> shift, last = (offset + bytes - 1) >> shift; index <= last; ++index)
    cell(index).isBarrier = true;
}
