//===- Memory.cpp - what is known of each byte of simulated memory --------===//
#include "runtime/sim/Memory.h"

#include <algorithm>
#include <cstring>

using namespace tilewright::sim;

//===--- global memory ----------------------------------------------------===//

/// The bits of `count` bytes from `first` on that lie in one word, and the word.
static uint64_t bitsInWord(uint64_t first, uint64_t count, uint64_t &word) {
  word = first / 64;
  uint64_t low = first % 64, in = std::min<uint64_t>(count, 64 - low);
  return (in == 64 ? ~uint64_t(0) : (uint64_t(1) << in) - 1) << low;
}

bool ArgumentMemory::isWritten(uint64_t address, uint64_t count) const {
  if (!buffer || buffer->written.empty())
    return true;
  for (uint64_t first = address - buffer->base; count;) {
    uint64_t word, bits = bitsInWord(first, count, word);
    if ((buffer->written[word] & bits) != bits)
      return false;
    uint64_t step = std::min(count, 64 - first % 64);
    first += step, count -= step;
  }
  return true;
}

void ArgumentMemory::setWritten(uint64_t address, uint64_t count) const {
  if (!buffer || buffer->written.empty())
    return;
  for (uint64_t first = address - buffer->base; count;) {
    uint64_t word, bits = bitsInWord(first, count, word);
    buffer->written[word] |= bits;
    uint64_t step = std::min(count, 64 - first % 64);
    first += step, count -= step;
  }
}

//===--- shared memory ----------------------------------------------------===//

void SharedMemory::prepare(size_t bytes, size_t granularity, bool checked, bool inWindow) {
  constexpr size_t symbolAlignment = 1024; // docs/stages.md
  size_t alignment = inWindow ? windowBytes : symbolAlignment;
  // The first bytes of a block's shared memory are the system's.
  size_t reserved = inWindow ? symbolAlignment : 0;
  if (storage.size() < bytes + alignment + reserved)
    storage.resize(bytes + alignment + reserved);
  auto address = reinterpret_cast<uintptr_t>(storage.data());
  memory = storage.data() + ((address + alignment - 1) & ~(alignment - 1)) - address + reserved;
  size = bytes;
  shift = 0;
  while ((size_t(2) << shift) <= granularity)
    ++shift;
  // Cells of another granularity say nothing about these.
  if (checked)
    cells.assign((bytes >> shift) + 1, Cell());
}

bool SharedMemory::contains(uint64_t address, uint64_t bytes) const {
  uint64_t offset = address - reinterpret_cast<uintptr_t>(memory);
  return offset <= size && bytes <= size - offset;
}

Defect SharedMemory::load(uint16_t thread, uint64_t address, uint64_t bytes, Site site, Conflict &conflict) {
  if (!contains(address, bytes))
    return OutOfBounds;
  uint64_t offset = address - reinterpret_cast<uintptr_t>(memory);
  Defect found = NoDefect;
  for (uint64_t index = offset >> shift, last = (offset + bytes - 1) >> shift; index <= last; ++index) {
    Cell &cell = cells[index];
    if (cell.writeEpoch < blockEpoch) {
      found = UnwrittenRead;
    } else if (cell.writeEpoch == epoch && cell.writer != thread && !(cell.earlierWriter != nobody && interleaved)) {
      // Of several writers of one value only the last is known. While the threads run one behind the other that is
      // this thread itself, if it is among them; after that nothing is certain, and nothing is said.
      conflict = {true, cell.writer, cell.writeSite};
      found = Race;
    }
    if (isUnderWay(cell)) {
      conflict = {true, cell.copier, cell.copySite};
      found = UnfinishedCopy;
    }
    if (cell.readEpoch != epoch) {
      cell.readEpoch = epoch;
      cell.reader = thread, cell.readSite = site;
      cell.secondReader = nobody;
    } else if (cell.reader != thread) {
      cell.secondReader = thread, cell.secondReadSite = site;
    }
  }
  return found;
}

Defect SharedMemory::store(uint16_t thread, uint64_t address, uint64_t bytes, Site site, const char *value,
                           Conflict &conflict) {
  if (!contains(address, bytes))
    return OutOfBounds;
  uint64_t offset = address - reinterpret_cast<uintptr_t>(memory);
  Defect found = NoDefect;
  for (uint64_t index = offset >> shift, last = (offset + bytes - 1) >> shift; index <= last; ++index) {
    Cell &cell = cells[index];
    uint64_t begin = std::max(offset, index << shift), end = std::min(offset + bytes, (index + 1) << shift);
    bool same = std::memcmp(memory + begin, value + (begin - offset), end - begin) == 0;
    if (isUnderWay(cell) && !same) {
      conflict = {true, cell.copier, cell.copySite};
      found = UnfinishedCopy;
      continue;
    }
    if (cell.writeEpoch == epoch) {
      if (same) {
        // Threads that fill a buffer redundantly write what is there already: nobody can tell who came first.
        if (cell.writer != thread)
          cell.earlierWriter = cell.writer, cell.earlierWriteSite = cell.writeSite;
        cell.writer = thread, cell.writeSite = site;
        continue;
      }
      if (cell.writer != thread) {
        conflict = {true, cell.writer, cell.writeSite};
        found = Race;
      } else if (cell.earlierWriter != nobody) {
        conflict = {true, cell.earlierWriter, cell.earlierWriteSite};
        found = Race;
      }
    }
    if (cell.readEpoch == epoch && found != Race) {
      if (cell.reader != thread) {
        conflict = {false, cell.reader, cell.readSite};
        found = Race;
      } else if (cell.secondReader != nobody) {
        conflict = {false, cell.secondReader, cell.secondReadSite};
        found = Race;
      }
    }
    cell.writeEpoch = epoch;
    cell.writer = thread, cell.writeSite = site;
    cell.earlierWriter = nobody;
  }
  return found;
}

Defect SharedMemory::copy(uint16_t thread, uint64_t address, uint64_t bytes, Site site, const char *value,
                          Conflict &conflict) {
  Defect found = store(thread, address, bytes, site, value, conflict);
  if (found == OutOfBounds)
    return found;
  uint64_t offset = address - reinterpret_cast<uintptr_t>(memory);
  for (uint64_t index = offset >> shift, last = (offset + bytes - 1) >> shift; index <= last; ++index)
    cells[index].copyEpoch = epoch, cells[index].copier = thread, cells[index].copySite = site;
  return found;
}

void SharedMemory::finishCopy(uint16_t thread, uint64_t address, uint64_t bytes) {
  uint64_t offset = address - reinterpret_cast<uintptr_t>(memory);
  for (uint64_t index = offset >> shift, last = (offset + bytes - 1) >> shift; index <= last; ++index)
    if (Cell &cell = cells[index]; cell.copier == thread) {
      // What other threads see of it needs a barrier after this.
      cell.copier = nobody;
      cell.writeEpoch = epoch;
    }
}
