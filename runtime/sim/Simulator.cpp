//===- Simulator.cpp - the simulator's C interface ------------------------===//
#include "runtime/sim/Simulator.h"

#include "runtime/sim/Machine.h"

#include <algorithm>
#include <functional>
#include <new>
#include <numeric>

using namespace tilewright::sim;

struct TilewrightSimulator {
  explicit TilewrightSimulator(bool checked) : machine(reports, checked) {}

  ReportList reports;
  Machine machine;
  std::vector<Kernel> kernels;
  std::string text;
};

/// What the kernel's arguments point to, and how many bytes of it their shapes cover. A buffer that is smaller than the
/// shape is reported, and there is no launch.
static bool bindArguments(TilewrightSimulator &simulator, const Kernel &kernel, void **params, int32_t paramCount,
                          std::vector<ArgumentMemory> &arguments) {
  const int64_t *word = kernel.info + NumInfoWords;
  int64_t expected = 0;
  for (int64_t number = 0; number < kernel.info[InfoNumArguments]; ++number) {
    int64_t extents = word[2] + word[3];
    expected += 1 + std::count(word + 4, word + 4 + extents, -1);
    word += 4 + extents;
  }
  if (expected != paramCount) {
    simulator.reports.add(kernel.name + ": expected " + std::to_string(expected) + " parameters, got " +
                          std::to_string(paramCount));
    return false;
  }
  word = kernel.info + NumInfoWords;
  for (int64_t number = 0; number < kernel.info[InfoNumArguments]; ++number) {
    int64_t parameter = *word++, elementBytes = *word++, rank = *word++, strides = *word++;
    ArgumentMemory memory;
    if (elementBytes) {
      int64_t next = parameter + 1;
      auto read = [&] {
        int64_t known = *word++;
        return known >= 0 ? known : *static_cast<const int64_t *>(params[next++]);
      };
      std::vector<int64_t> extents(rank);
      for (int64_t &extent : extents)
        extent = read();
      uint64_t elements =
          strides ? 1 : std::accumulate(extents.begin(), extents.end(), uint64_t(1), std::multiplies<>());
      for (int64_t dim = 0; dim < strides; ++dim)
        elements += (extents[dim] - 1) * read();
      if (std::count(extents.begin(), extents.end(), 0))
        elements = 0;
      uint64_t bytes = elements * elementBytes;
      memory.base = reinterpret_cast<uintptr_t>(*static_cast<void **>(params[parameter]));
      memory.bytes = bytes;
      // Arrays with strides may lie between the rows of others, and inputs of several sizes begin at one address.
      auto isBetter = [&](const Buffer &one, const Buffer &other) {
        bool begins = one.base == memory.base, otherBegins = other.base == memory.base;
        return begins != otherBegins ? begins : one.base + one.bytes > other.base + other.bytes;
      };
      for (Buffer &buffer : simulator.machine.buffers)
        if (buffer.contains(memory.base) && (!memory.buffer || isBetter(buffer, *memory.buffer)))
          memory.buffer = &buffer;
      if (memory.buffer && memory.buffer->bytes - (memory.base - memory.buffer->base) < bytes) {
        simulator.reports.add(kernel.name + ": expected " + std::to_string(bytes) + " bytes for '" +
                              kernel.argumentNames[number] + "', got " +
                              std::to_string(memory.buffer->bytes - (memory.base - memory.buffer->base)));
        return false;
      }
    }
    arguments.push_back(memory);
  }
  return true;
}

extern "C" {

TilewrightSimulator *tilewrightSimCreate(int32_t checked) { return new TilewrightSimulator(checked); }

void tilewrightSimDestroy(TilewrightSimulator *simulator) { delete simulator; }

void tilewrightSimAddKernel(TilewrightSimulator *simulator, const char *name, void *function, const int64_t *info,
                            const char *argumentNames) {
  Kernel kernel{name, reinterpret_cast<KernelFunction>(function), info, {}};
  for (int64_t number = 0; number < info[InfoNumArguments]; ++number) {
    kernel.argumentNames.emplace_back(argumentNames);
    argumentNames += kernel.argumentNames.back().size() + 1;
  }
  const int64_t *word = info + NumInfoWords;
  for (int64_t number = 0; number < info[InfoNumArguments]; ++number)
    word += 4 + word[2] + word[3];
  for (int64_t number = 0; number < info[InfoNumRegions]; ++number, word += NumRegionWords) {
    kernel.regions.push_back({argumentNames, static_cast<uint64_t>(word[RegionOffset]),
                              static_cast<uint64_t>(word[RegionBytes]), static_cast<uint64_t>(word[RegionSlots]),
                              word[RegionBarriers]});
    argumentNames += kernel.regions.back().name.size() + 1;
  }
  simulator->kernels.push_back(std::move(kernel));
}

void tilewrightSimRecord(TilewrightSimulator *simulator, uint64_t most) { simulator->machine.timeline.start(most); }

const TilewrightSimEvent *tilewrightSimEvents(TilewrightSimulator *simulator, uint64_t *count, uint64_t *dropped) {
  const Timeline &timeline = simulator->machine.timeline;
  *count = timeline.events.size();
  *dropped = timeline.dropped;
  return timeline.events.data();
}

void tilewrightSimProgress(uint64_t *done, uint64_t *count) {
  *done = blocksDone.load(std::memory_order_relaxed);
  *count = blockCount.load(std::memory_order_relaxed);
}

void tilewrightSimReset(TilewrightSimulator *simulator) {
  simulator->machine.beginCall();
  simulator->machine.buffers.clear();
  simulator->machine.clearInterrupt();
  simulator->reports.clear();
}

void tilewrightSimAddBuffer(TilewrightSimulator *simulator, const char *name, const void *data, uint64_t bytes,
                            int32_t written) {
  Buffer buffer{name, reinterpret_cast<uintptr_t>(data), bytes, {}};
  if (!written)
    buffer.written.assign(bytes / 64 + 1, 0);
  simulator->machine.buffers.push_back(std::move(buffer));
}

int32_t tilewrightSimLaunch(void *context, int32_t number, const uint64_t *config, void **params, int32_t paramCount) {
  auto &simulator = *static_cast<TilewrightSimulator *>(context);
  if (number < 0 || static_cast<size_t>(number) >= simulator.kernels.size()) {
    simulator.reports.add("expected a kernel below " + std::to_string(simulator.kernels.size()) + ", got " +
                          std::to_string(number));
    return 1;
  }
  const Kernel &kernel = simulator.kernels[number];
  uint64_t threads = config[3] * config[4] * config[5];
  if (threads == 0 || threads > 1024) {
    simulator.reports.add(kernel.name + ": expected 1 to 1024 threads a block, got " + std::to_string(threads));
    return 1;
  }
  try {
    std::vector<ArgumentMemory> arguments;
    if (!bindArguments(simulator, kernel, params, paramCount, arguments))
      return 1;
    return !simulator.machine.launch(kernel, config, params, std::move(arguments));
  } catch (const std::bad_alloc &) {
    simulator.reports.add(kernel.name + ": no memory for " + std::to_string(config[6]) + " bytes of shared memory");
    return 1;
  }
}

int32_t tilewrightSimEncode(void *context, void *map, const uint64_t *tensor) {
  return !static_cast<TilewrightSimulator *>(context)->machine.encode(map, tensor);
}

void tilewrightSimSetInterruptCheck(int32_t (*check)()) { setInterruptCheck(check); }

int32_t tilewrightSimIsInterrupted(TilewrightSimulator *simulator) { return simulator->machine.wasInterrupted(); }

const char *tilewrightSimReports(TilewrightSimulator *simulator) {
  simulator->text = simulator->reports.text();
  return simulator->text.c_str();
}

// What compiled kernels call; the names and the parameters are ABI.h's.

void tw_sim_barrier(ThreadState *state, const char *site) {
  auto &thread = static_cast<Thread &>(*state);
  thread.machine->waitAtBarrier(thread, Site(site));
}

void tw_sim_poll(ThreadState *state) {
  auto &thread = static_cast<Thread &>(*state);
  thread.machine->poll(thread);
}

void tw_sim_end(ThreadState *state, const char *site) { static_cast<Thread &>(*state).waitSite = Site(site); }

uint64_t tw_sim_shuffle(ThreadState *state, const char *site, int32_t mode, uint64_t bits, uint32_t offset,
                        uint32_t width) {
  auto &thread = static_cast<Thread &>(*state);
  return thread.machine->shuffle(thread, Site(site), static_cast<ShuffleMode>(mode), bits, offset, width);
}

void tw_sim_load_matrices(ThreadState *state, const char *site, int32_t matrices, int32_t isTransposed, const char *row,
                          char *result) {
  auto &thread = static_cast<Thread &>(*state);
  MatrixPart part;
  part.matrices = matrices;
  part.isTransposed = isTransposed;
  part.row = row;
  part.result = result;
  thread.machine->exchange(thread, Site(site), part);
}

void tw_sim_multiply(ThreadState *state, const char *site, int32_t types, int32_t k, const char *a, const char *b,
                     char *c) {
  auto &thread = static_cast<Thread &>(*state);
  MatrixPart part;
  part.isMatmul = true;
  part.types = static_cast<MatrixTypes>(types);
  part.k = k;
  part.a = a;
  part.b = b;
  part.c = c;
  thread.machine->exchange(thread, Site(site), part);
}

int32_t tw_sim_load_global(ThreadState *state, int32_t argument, uint64_t address, uint64_t bytes) {
  auto &thread = static_cast<Thread &>(*state);
  thread.machine->poll(thread);
  return thread.machine->loadGlobal(argument, address, bytes);
}

int32_t tw_sim_store_global(ThreadState *state, int32_t argument, uint64_t address, uint64_t bytes) {
  return static_cast<Thread &>(*state).machine->storeGlobal(argument, address, bytes);
}

int32_t tw_sim_load_shared(ThreadState *state, uint64_t address, uint64_t bytes, const char *site) {
  auto &thread = static_cast<Thread &>(*state);
  thread.machine->poll(thread);
  return thread.machine->loadShared(thread, address, bytes, Site(site));
}

int32_t tw_sim_store_shared(ThreadState *state, uint64_t address, uint64_t bytes, const char *site, const char *value) {
  auto &thread = static_cast<Thread &>(*state);
  return thread.machine->storeShared(thread, address, bytes, Site(site), value);
}

int32_t tw_sim_copy_shared(ThreadState *state, uint64_t address, uint64_t bytes, const char *site, const char *value) {
  auto &thread = static_cast<Thread &>(*state);
  return thread.machine->copyShared(thread, address, bytes, Site(site), value);
}

void tw_sim_commit_copies(ThreadState *state) {
  auto &thread = static_cast<Thread &>(*state);
  thread.machine->commitCopies(thread);
}

void tw_sim_wait_copies(ThreadState *state, int32_t underWay) {
  auto &thread = static_cast<Thread &>(*state);
  thread.machine->waitForCopies(thread, underWay);
}

void tw_sim_report(ThreadState *state, int32_t defect, int32_t flags, const char *site, int32_t rank, int64_t elements,
                   const int64_t *places) {
  auto &thread = static_cast<Thread &>(*state);
  thread.machine->reportAccess(thread, static_cast<Defect>(defect), flags, Site(site), rank, elements, places);
}
}
