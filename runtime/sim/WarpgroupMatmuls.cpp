//===- WarpgroupMatmuls.cpp - matmuls of simulated warpgroups ------------===//
#include "runtime/sim/Machine.h"

#include <algorithm>
#include <cstring>

using namespace tilewright::sim;

static constexpr char usedAccumulator[] =
    "use of an accumulator that another wgmma has added to since: an accumulator is used once";

uint64_t Machine::beginMatmul(Thread &thread, Site site, const MatmulPart &part) {
  thread.matmul = &part;
  block(thread, Wait::Matmul, site);
  return thread.matmulResult;
}

static bool isSame(const MatmulPart &a, const MatmulPart &b) {
  return a.isAccumulator() == b.isAccumulator() && !a.registers == !b.registers && a.accumulator == b.accumulator &&
         std::equal(a.words, a.words + NumMatmulWords, b.words) &&
         std::equal(a.descriptors, a.descriptors + 2 * a.words[MatmulInstructions], b.descriptors);
}

/// The numbers of an operand of one instruction: of the first by row, of the second by what is summed over.
void Machine::readOperand(const MatmulPart &part, int operand, Descriptor descriptor, const User &user,
                          SimulatedBlock &block, const std::string &who, std::vector<double> &numbers) {
  Element element = part.element(operand);
  int extent = part.extent(operand), k = matmulBytes / bytesOf(element), inChunk = chunkBytes / bytesOf(element);
  bool isMNMajor = part.isMNMajor(operand);
  int alongK = operand ? extent : 1, alongExtent = operand ? 1 : k; // from one number to the next
  numbers.resize(extent * k);
  uintptr_t base = reinterpret_cast<uintptr_t>(block.shared.base());
  uint64_t window = base & ~(SharedMemory::windowBytes - 1);
  if (descriptor.baseOffset())
    reportAt(OutOfBounds, user.site,
             "expected a descriptor without a base offset, got " + std::to_string(descriptor.baseOffset()), block);
  int lines = isMNMajor ? k : extent, chunks = (isMNMajor ? extent : k) / inChunk;
  for (int line = 0; line < lines; ++line)
    for (int number = 0; number < chunks; ++number) {
      uint64_t address = window + descriptor.chunk(line, number, isMNMajor) % SharedMemory::windowBytes;
      if (!block.shared.contains(address, chunkBytes)) {
        reportAt(OutOfBounds, user.site,
                 "out-of-bounds read: " + who + " reads byte " + std::to_string(static_cast<int64_t>(address - base)) +
                     " of shared memory, of which there are " + std::to_string(block.shared.bytes()),
                 block);
        return;
      }
      if (checked)
        reportClash(block.tracked.read(address - base, chunkBytes, user), who, false, user.site, block);
      const auto *chunk = reinterpret_cast<const char *>(address);
      if (isMNMajor)
        decode(element, chunk, numbers.data() + line * alongK + number * inChunk * alongExtent, alongExtent);
      else
        decode(element, chunk, numbers.data() + line * alongExtent + number * inChunk * alongK, alongK);
    }
}

/// A matmul begins when all threads of the warpgroup have come to it. It is done at once, and counts as under way
/// until the wait for its group.
bool Machine::endMatmul(SimulatedBlock &block, size_t firstThread) {
  Thread *first = block.threads + firstThread, *end = first + warpgroupSize;
  Site site = first->waitSite;
  if (!std::all_of(first, end,
                   [&](const Thread &thread) { return thread.wait == Wait::Matmul && thread.waitSite == site; }))
    return false;
  const MatmulPart part = *first->matmul;
  size_t number = firstThread / warpgroupSize;
  std::string who = "wgmma of warpgroup " + std::to_string(number);
  if (!std::all_of(first, end, [&](const Thread &thread) { return isSame(part, *thread.matmul); }))
    reportAt(BarrierAccess, site,
             "expected all threads of warpgroup " + std::to_string(number) + " to multiply the same tiles", block);
  if (part.isAccumulator()) {
    // They begin with what the threads hold: no matmul is under way.
    Accumulator &begun = block.accumulators[number].create(static_cast<Element>(part.words[MatmulAccumulator]),
                                                           part.words[MatmulAccumulatorColumns]);
    block.accumulators[number].rename(begun);
    begun.site = site;
    for (Thread *thread = first; thread != end; ++thread)
      begun.write(thread - first, thread->matmul->registers);
    for (Thread *thread = first; thread != end; ++thread) {
      thread->matmulResult = begun.id;
      thread->wait = Wait::Nothing;
    }
    return true;
  }
  // What one of them does not know of the matmul cannot rely on.
  Meeting common;
  Agent agent = first->matmulGroups.agent;
  if (!agent)
    agent = newAgent(who, block);
  if (checked) {
    common = first->knowledge;
    for (Thread *thread = first + 1; thread != end; ++thread) {
      common.known.keep(thread->knowledge.known);
      common.fenced.keep(thread->knowledge.fenced);
    }
  }
  for (Thread *thread = first; thread != end; ++thread) {
    thread->matmulGroups.agent = agent;
    thread->matmulGroups.add(site);
  }

  auto type = static_cast<Element>(part.words[MatmulAccumulator]);
  Accumulators &all = block.accumulators[number];
  Accumulator *accumulator = part.accumulator ? all.find(part.accumulator) : nullptr;
  if (part.accumulator && !accumulator)
    reportAt(UnwrittenRead, site, usedAccumulator, block);
  if (!accumulator)
    accumulator = &all.create(type, part.words[MatmulAccumulatorColumns]);
  all.rename(*accumulator);
  accumulator->group = first->matmulGroups.last;
  accumulator->site = site;
  User user({{agent, accumulator->group}, site, /*isAsync=*/true}, common.known, common.fenced);
  std::vector<double> a, b;
  for (int32_t i = 0; i < part.words[MatmulInstructions]; ++i) {
    if (part.registers) {
      a.resize(matmulRows * matmulBytes / bytesOf(part.element(0)));
      for (Thread *thread = first; thread != end; ++thread)
        decodeRegisters(part.element(0), thread->matmul->registers + 16 * i, thread - first, a.data());
    } else {
      readOperand(part, 0, {part.descriptors[2 * i]}, user, block, who, a);
    }
    readOperand(part, 1, {part.descriptors[2 * i + 1]}, user, block, who, b);
    accumulator->add(a.data(), b.data(), matmulBytes / bytesOf(part.element(0)), part.extent(1));
  }
  if (timeline.isOn) {
    std::vector<Thread *> together;
    for (Thread *thread = first; thread != end; ++thread)
      together.push_back(thread);
    align(together);
  }
  for (Thread *thread = first; thread != end; ++thread) {
    thread->matmulResult = accumulator->id;
    thread->wait = Wait::Nothing;
  }
  return true;
}

void Machine::readAccumulator(Thread &thread, Site site, uint64_t id, char *result) {
  Accumulator *accumulator = thread.block->accumulators[thread.number / warpgroupSize].find(id);
  if (!accumulator) {
    reportAt(UnwrittenRead, site, usedAccumulator, *thread.block);
    return;
  }
  if (checked && thread.knowledge.known.of(thread.matmulGroups.agent) < accumulator->group)
    reportAt(UnfinishedCopy, site,
             "read of an accumulator that is not done: " + describe(thread) + " reads what wgmma at " +
                 accumulator->site.line() + " adds up, which is under way: its group is not " +
                 (accumulator->group > thread.matmulGroups.ended ? "ended" : "waited for"),
             *thread.block);
  accumulator->read(thread.number % warpgroupSize, result);
}
