//===- Run.cpp - whole programs on the simulator --------------------------===//
#include "runtime/Launcher.h"
#include "runtime/host/Layout.h"
#include "runtime/sim/Simulator.h"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

namespace {
constexpr int64_t workspaceAlignment = 256;

void addArguments(TilewrightSimulator *simulator, const TilewrightSignature &signature, void **data,
                  const int64_t *shape) {
  for (int32_t i = 0; i < signature.argumentCount; ++i) {
    const TilewrightArgument &argument = signature.arguments[i];
    if (argument.kind == TilewrightIsNumber) {
      ++shape;
      continue;
    }
    uint64_t bytes = (argument.dtype >> 8 & 0xff) / 8;
    if (argument.strides) {
      bytes *= tilewright::host::countSpan(argument.rank, shape, shape + argument.rank);
      shape += 2 * argument.rank;
    } else {
      for (int32_t dim = 0; dim < argument.rank; ++dim)
        bytes *= *shape++;
    }
    if (argument.optional && !data[i])
      continue;
    tilewrightSimAddBuffer(simulator, argument.name, data[i], bytes, /*written=*/!argument.output);
  }
}
} // namespace

extern "C" int32_t tilewrightSimRun(TilewrightProgram *program, void *const *, int32_t, void **data,
                                    const int64_t *shape) {
  // A simulator has one call at a time; few programs run at once, so that one lock does for all of them.
  static std::mutex mutex;
  std::lock_guard<std::mutex> guard(mutex);
  auto *simulator = static_cast<TilewrightSimulator *>(program->state);
  tilewrightSimReset(simulator);
  addArguments(simulator, *program->signature, data, shape);
  std::unique_ptr<void, decltype(&std::free)> workspace(nullptr, std::free);
  if (int64_t bytes = program->workspaceBytes ? program->workspaceBytes(shape) : 0; bytes != 0) {
    uint64_t rounded = (uint64_t(bytes) + workspaceAlignment - 1) / workspaceAlignment * workspaceAlignment;
    workspace.reset(bytes < 0 ? nullptr : std::aligned_alloc(workspaceAlignment, rounded));
    if (!workspace) {
      std::string count = bytes < 0 ? "more than 2^63" : std::to_string(bytes);
      std::string text = std::string(program->signature->text) + ": no memory for " + count + " bytes of workspace";
      const char *parts[] = {text.c_str()};
      tilewrightFFI.raise("MemoryError", parts, 1);
      return -1;
    }
    tilewrightSimAddBuffer(simulator, "the workspace", workspace.get(), bytes, /*written=*/0);
  }
  TilewrightLauncher launcher = {simulator, tilewrightSimLaunch, tilewrightSimEncode};
  int32_t code = program->host(data, shape, workspace.get(), &launcher);
  std::string text = tilewrightSimReports(simulator);
  if (code && text.empty())
    text = std::string(program->signature->text) + ": the simulator returned " + std::to_string(code);
  if (text.empty())
    return 0;
  const char *parts[] = {text.c_str()};
  // An end that the caller asked for is no finding, whatever else was found before.
  bool isInterrupted = tilewrightSimIsInterrupted(simulator);
  tilewrightFFI.raise(isInterrupted ? "KeyboardInterrupt" : "SimulationError", parts, 1);
  return -1;
}
