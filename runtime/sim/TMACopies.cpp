//===- TMACopies.cpp - tiles between global and shared memory ------------===//
#include "runtime/Launcher.h"
#include "runtime/sim/Machine.h"

#include <algorithm>
#include <cstring>

using namespace tilewright::sim;

//===--- shared memory, tracked -------------------------------------------===//

static uint64_t addressOf(const SimulatedBlock &block, uint64_t offset) {
  return reinterpret_cast<uintptr_t>(block.shared.base()) + offset;
}

Defect Machine::check(Thread &thread, const Clash &clash) {
  thread.conflict = {clash.otherWrites, 0, clash.other.site, /*isTracked=*/true, clash.other.moment.agent};
  return clash.defect;
}

Defect Machine::storeTracked(Thread &thread, uint64_t address, uint64_t bytes, Use use, const char *value) {
  const SharedMemory &shared = thread.block->shared;
  if (!shared.contains(address, bytes))
    return OutOfBounds;
  uint64_t offset = address - reinterpret_cast<uintptr_t>(shared.base());
  User user(use, thread.knowledge.known, thread.knowledge.fenced);
  return check(thread, thread.block->tracked.write(offset, bytes, user, [&](uint64_t begin, uint64_t end) {
    return std::memcmp(shared.base() + begin, value + (begin - offset), end - begin) == 0;
  }));
}

void Machine::loadBytes(Thread &thread, Site site, uint64_t address, char *result, uint64_t bytes) {
  uint64_t offset;
  SimulatedBlock *block = findBlock(thread, site, address, bytes, offset);
  std::memset(result, 0, bytes);
  if (!block)
    return;
  visit(thread, site, *block);
  if (checked)
    reportClash(block->tracked.read(offset, bytes, userOf(thread, site)), describeNumber(thread.number), false, site,
                *block);
  std::memcpy(result, reinterpret_cast<const char *>(address), bytes);
}

void Machine::storeBytes(Thread &thread, Site site, uint64_t address, const char *value, uint64_t bytes) {
  uint64_t offset;
  SimulatedBlock *block = findBlock(thread, site, address, bytes, offset);
  if (!block)
    return;
  visit(thread, site, *block);
  auto *memory = reinterpret_cast<char *>(address);
  if (checked) {
    auto isSame = [&](uint64_t begin, uint64_t end) {
      return std::memcmp(memory + (begin - offset), value + (begin - offset), end - begin) == 0;
    };
    reportClash(block->tracked.write(offset, bytes, userOf(thread, site), isSame), describeNumber(thread.number), true,
                site, *block);
  }
  std::memcpy(memory, value, bytes);
}

//===--- tiles ------------------------------------------------------------===//

/// The map at an address, or null, which is reported.
const TensorMap *Machine::findMap(Thread &thread, Site site, const void *map, int32_t rank) {
  const auto *found = static_cast<const TensorMap *>(map);
  if (found->isValid() && found->rank == rank)
    return found;
  reportAt(OutOfBounds, site,
           "expected a tensor map of " + std::to_string(rank) + " dimensions, got " +
               (found->isValid() ? "one of " + std::to_string(found->rank) : std::string("other bytes")),
           *thread.block);
  return nullptr;
}

bool Machine::encode(void *map, const uint64_t *tensor) {
  TensorMap made;
  uint64_t element[TilewrightTensorSize];
  bool isEmpty = tilewright::replaceEmptyTensor(tensor, element);
  alignas(16) static const char zeros[16] = {};
  element[TilewrightTensorData] = reinterpret_cast<uintptr_t>(zeros);
  std::string wrong = makeTensorMap(made, isEmpty ? element : tensor);
  if (wrong.empty() && !isEmpty) {
    const ArgumentMemory *memory = findArgument(-1, made.address);
    if (!memory)
      wrong = "expected a tensor that the program may use, got another address";
    else if (!memory->contains(made.address, made.span()))
      wrong = "expected " + std::to_string(made.span()) + " bytes of '" + memory->buffer->name +
              "' for its tensor map, got " + std::to_string(memory->base + memory->bytes - made.address);
  }
  if (!wrong.empty()) {
    reports.add("tensor map: " + wrong);
    return false;
  }
  std::memset(map, 0, 128);
  std::memcpy(map, &made, sizeof(made));
  return true;
}

/// A chunk of 16 bytes is what a swizzle moves.
template <typename Copy> static void forEachChunk(uint64_t address, uint64_t bytes, int span, Copy copy) {
  for (uint64_t at = 0; at < bytes; at += chunkBytes)
    copy(reinterpret_cast<char *>(swizzled(address + at, span)), at);
}

/// Numbers of 32 bits, each to the nearest one of 10 bits behind the point; what is no finite number stays.
static void roundToTF32(char *numbers, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += sizeof(uint32_t)) {
    uint32_t bits;
    std::memcpy(&bits, numbers + at, sizeof(bits));
    constexpr uint32_t exponent = 0x7f800000;
    if ((bits & exponent) == exponent)
      continue;
    bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
    std::memcpy(numbers + at, &bits, sizeof(bits));
  }
}

/// The bytes of a box, with zeros for what is outside of the tensor.
void Machine::readTile(Thread &thread, Site site, const TensorMap &map, const int32_t *coordinates,
                       std::vector<char> &bytes) {
  bytes.assign(map.bytes(), 0);
  for (uint64_t row = 0; row < map.rows(); ++row) {
    uint64_t address, first, count;
    if (!map.findRow(coordinates, row, address, first, count))
      continue;
    uint64_t length = count * map.elementBytes;
    const ArgumentMemory *memory = findArgument(-1, map.address);
    if (checked && memory && !memory->isWritten(address, length))
      reportAt(UnwrittenRead, site,
               "read of unwritten memory: '" + memory->buffer->name + "' by a TMA copy of " +
                   describeNumber(thread.number),
               *thread.block);
    char *place = bytes.data() + row * map.rowBytes() + first * map.elementBytes;
    std::memcpy(place, reinterpret_cast<const char *>(address), length);
    if (map.roundsToTF32())
      roundToTF32(place, length);
  }
}

/// Whether shared memory begins where TMA can copy to or from.
bool Machine::isAligned(Thread &thread, Site site, uint64_t address) {
  constexpr uint64_t alignment = 128;
  if (address % alignment == 0)
    return true;
  reportAt(OutOfBounds, site,
           "expected a TMA copy at a multiple of 128 bytes of shared memory, got one " +
               std::to_string(address % alignment) + " bytes past one",
           *thread.block);
  return false;
}

/// Whether the box is one that TMA takes: on an illegal instruction a GPU gives up.
bool Machine::isLegalBox(Thread &thread, Site site, const TensorMap &map, const int32_t *coordinates, bool isStore) {
  constexpr int64_t alignment = 16;
  std::string wrong;
  if (coordinates[0] * int64_t(map.elementBytes) % alignment)
    wrong = "at a multiple of 16 bytes of a row, got element " + std::to_string(coordinates[0]) + " of " +
            std::to_string(map.elementBytes) + " bytes";
  for (int i = 0; isStore && i < map.rank && wrong.empty(); ++i)
    if (coordinates[i] < 0)
      wrong = "in the tensor that it writes to, got " + std::to_string(coordinates[i]) + " in dimension " +
              std::to_string(map.rank - 1 - i);
  if (wrong.empty())
    return true;
  reportAt(OutOfBounds, site, "expected the box of a TMA copy to begin " + wrong, *thread.block);
  return false;
}

void Machine::loadTile(Thread &thread, Site site, uint64_t target, const void *mapAddress, const int32_t *coordinates,
                       int32_t rank, uint64_t barrierAddress, uint32_t bits) {
  const TensorMap *map = findMap(thread, site, mapAddress, rank);
  uint64_t offset, barrierOffset;
  if (!map || !isAligned(thread, site, target) || !isLegalBox(thread, site, *map, coordinates, /*isStore=*/false) ||
      !findBlock(thread, site, target, map->bytes(), offset) ||
      !findBlock(thread, site, barrierAddress, 8, barrierOffset))
    return;
  std::vector<char> bytes;
  readTile(thread, site, *map, coordinates, bytes);
  if (!bits)
    bits = 1 << thread.block->rank;
  if (bits >> clusterSize)
    reportAt(OutOfBounds, site,
             "expected a multicast to blocks of the cluster's " + std::to_string(clusterSize) + ", got the bits " +
                 std::to_string(bits),
             *thread.block);
  // To the same place of each of the blocks.
  bool isNoted = false;
  for (size_t to = 0; to < clusterSize; ++to) {
    if (!(bits >> to & 1))
      continue;
    SimulatedBlock &block = *blocks[to];
    PhaseBarrier *barrier = findBarrier(thread, site, block, barrierOffset, /*needsFence=*/true);
    if (!barrier)
      continue;
    Moment moment{barrier->copies, static_cast<uint32_t>(barrier->phase + 1)};
    if (checked) {
      User user({moment, site, /*isAsync=*/true}, thread.knowledge.known, thread.knowledge.fenced);
      reportClash(block.tracked.write(offset, bytes.size(), user), "a TMA copy of " + describeNumber(thread.number),
                  true, site, block);
      barrier->arrived.known.add(moment);
      barrier->lastCopy = moment.step;
      barrier->lastCopySite = site;
    }
    forEachChunk(addressOf(block, offset), bytes.size(), map->swizzle,
                 [&](char *place, uint64_t at) { std::memcpy(place, bytes.data() + at, chunkBytes); });
    if (!std::exchange(isNoted, true))
      note(thread, TilewrightSimLoads, site, -1, barrier);
    barrier->arrivedAt = std::max(barrier->arrivedAt, thread.clock);
    barrier->missingBytes -= bytes.size();
    endPhase(*barrier);
  }
}

void Machine::checkPlace(Thread &thread, Site site, const void *mapAddress, int32_t dimension, int32_t coordinate) {
  const auto *map = static_cast<const TensorMap *>(mapAddress);
  if (!checked || !map->isValid() || dimension >= map->rank)
    return;
  int64_t extent = map->extents[dimension];
  if (coordinate >= 0 && coordinate < extent)
    return;
  const ArgumentMemory *memory = findArgument(-1, map->address);
  reportAt(OutOfBounds, site,
           "expected an index from 0 to " + std::to_string(extent - 1) + " in dimension " +
               std::to_string(map->rank - 1 - dimension) + (memory ? " of '" + memory->buffer->name + "'" : "") +
               ", got " + std::to_string(coordinate) + " by a TMA copy of " + describeNumber(thread.number),
           *thread.block);
}

/// Adds numbers to others, each atomically: blocks run side by side.
template <typename Number> static void addNumbers(uint64_t address, const char *numbers, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += sizeof(Number)) {
    Number number, before, after;
    std::memcpy(&number, numbers + at, sizeof(number));
    auto *place = reinterpret_cast<Number *>(address + at);
    __atomic_load(place, &before, __ATOMIC_RELAXED);
    do
      after = before + number;
    while (!__atomic_compare_exchange(place, &before, &after, /*weak=*/true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  }
}

void Machine::storeTile(Thread &thread, Site site, const void *mapAddress, uint64_t source, const int32_t *coordinates,
                        int32_t rank, bool adds) {
  const TensorMap *map = findMap(thread, site, mapAddress, rank);
  uint64_t offset;
  if (!map || !isAligned(thread, site, source) || !isLegalBox(thread, site, *map, coordinates, /*isStore=*/true))
    return;
  SimulatedBlock *block = findBlock(thread, site, source, map->bytes(), offset);
  if (!block)
    return;
  note(thread, TilewrightSimStores, site);
  Thread::Groups &groups = thread.storeGroups;
  if (!groups.agent)
    groups.agent = newAgent("a TMA copy of " + describeNumber(thread.number), *block);
  groups.add(site);
  if (checked) {
    User user({{groups.agent, groups.last}, site, /*isAsync=*/true}, thread.knowledge.known, thread.knowledge.fenced);
    reportClash(block->tracked.read(offset, map->bytes(), user), "a TMA copy of " + describeNumber(thread.number),
                false, site, *block);
  }
  std::vector<char> bytes(map->bytes());
  forEachChunk(source, bytes.size(), map->swizzle,
               [&](const char *place, uint64_t at) { std::memcpy(bytes.data() + at, place, chunkBytes); });
  for (uint64_t row = 0; row < map->rows(); ++row) {
    uint64_t address, first, count;
    if (!map->findRow(coordinates, row, address, first, count))
      continue;
    uint64_t length = count * map->elementBytes;
    const char *from = bytes.data() + row * map->rowBytes() + first * map->elementBytes;
    const ArgumentMemory *memory = findArgument(-1, map->address);
    if (adds) {
      if (checked && memory && !memory->isWritten(address, length))
        reportAt(UnwrittenRead, site,
                 "read of unwritten memory: '" + memory->buffer->name + "', to which a TMA copy of " +
                     describeNumber(thread.number) + " adds",
                 *thread.block);
      map->isFloat() ? addNumbers<float>(address, from, length) : addNumbers<uint32_t>(address, from, length);
    } else {
      std::memcpy(reinterpret_cast<char *>(address), from, length);
    }
    if (memory)
      memory->setWritten(address, length);
  }
}
