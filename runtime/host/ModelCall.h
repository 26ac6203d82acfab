//===- ModelCall.h - one call of a whole model ----------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_MODELCALL_H
#define TILEWRIGHT_RUNTIME_HOST_MODELCALL_H

#include "runtime/host/Arena.h"
#include "runtime/host/LoadedProgram.h"
#include "runtime/host/Model.h"
#include "runtime/host/Tensor.h"

#include <cstdlib>

namespace tilewright::host {

struct DeviceModel;
struct SharedWorkspace;

/// One call. What it returns is as of functions of tvm-ffi's ABI: where it is not 0 an error has been raised.
struct ModelCall {
  TilewrightModel &model;
  const TilewrightSignature &signature;
  TilewrightProgram *program;
  /// Who allocates the outputs that are not given, where that is neither tvm-ffi's environment nor the run time.
  const TilewrightOutputs *caller = nullptr;

  TilewrightAny *all = nullptr;
  int64_t *numbers = nullptr;
  TilewrightDLTensor *tensors = nullptr; // of the values that are no arguments
  int64_t *shapes = nullptr;
  TilewrightAny *arguments = nullptr;
  ArenaBuffer *buffers = nullptr;
  ArenaBuffer **order = nullptr;
  void *memory = nullptr;

  TilewrightAny *outputs = nullptr;
  int32_t numOutputs = 0;
  int32_t deviceType = TilewrightDeviceCPU, deviceId = 0;
  int64_t arenaBytes = 0;
  char *arena = nullptr, *weights = nullptr;
  /// The phase that runs, and the arena of each, which lives to the end of the call.
  int64_t phase = 0;
  void **arenas = nullptr;
  LoadedProgram *loaded = nullptr;
  DeviceModel *device = nullptr;
  /// The addresses and the numbers of a call, which say whether a graph of another call is this one's, too.
  int64_t *key = nullptr;
  void *stream = nullptr;

  ~ModelCall() {
    for (int32_t i = 0; i < numOutputs; ++i)
      tilewrightFFI.decRef(outputs[i].pointer);
    std::free(memory);
  }

  int32_t run(const TilewrightAny *given, int32_t count, TilewrightAny *result);
  /// The same, but for what is returned.
  int32_t runWith(const TilewrightAny *given, int32_t count, bool inputsAlone);

  /// The value as it is an argument of the model, or null.
  const TilewrightDLTensor *argumentOf(const TilewrightModelValue &value) const {
    return value.memory == TilewrightInArguments ? tensorOf(all[value.place]) : nullptr;
  }

  /// What comes before anything runs: the call's own tables in one allocation; the checks of what is given, all but the
  /// extents that are expressions of others; the numbers; the tensors but for where they lie, after which whatever is
  /// wrong with the inputs is known; the outputs that are not given.
  int32_t allocateTables();
  int32_t check(const TilewrightAny *given, int32_t count, bool inputsAlone);
  int32_t computeNumbers();
  int32_t describeTensors();
  int32_t allocateOutputs();
  /// The last three, of what the current phase adds.
  int32_t beginPhase() { return computeNumbers() || describeTensors() || allocateOutputs() ? -1 : 0; }

  void placeTensors();
  TilewrightAny valueOf(int64_t i);
  int32_t copy(const TilewrightModelCopy &copied, void *onStream);
  /// Runs the groups of the phase, and in the last one copies outputs that are other values; on a GPU in the order of
  /// that stream.
  int32_t runGroups(void *onStream);
  int32_t runOnHost();
  int32_t runOnDevice();

  int32_t fail(const char *kind, const char *message) const {
    const char *parts[] = {message};
    tilewrightFFI.raise(kind, parts, 1);
    return -1;
  }

private:
  bool shapeOf(const TilewrightModelValue &value, int64_t *shape, int64_t &bytes) const;
  int32_t failShape(const TilewrightModelValue &value, const int64_t *shape) const;
  int32_t checkShape(const TilewrightModelValue &value, const TilewrightDLTensor &given, const int64_t *shape) const;
  /// The numbers of `key`.
  int64_t keySize() const { return model.numberCount + signature.argumentCount + 1; }
  /// Reads the numbers that groups have made, and with which the phase begins: they say how large others' results are.
  int32_t readNumbers();
  int32_t readOnDevice();
  bool isRead(int64_t number) const {
    return model.numbers[number].phase == phase && model.numbers[number].operation == TilewrightNumberRead;
  }
  const TilewrightDLTensor &tensorOfValue(int64_t value) {
    return model.values[value].memory == TilewrightInArguments ? *tensorOf(all[model.values[value].place])
                                                               : tensors[value];
  }
  void describeCall();
  int32_t copyOnDevice(const TilewrightDLTensor &from, const TilewrightDLTensor &to, int64_t bytes, void *onStream);
  int32_t launchGroups();
  int32_t allocateArena(SharedWorkspace &workspace);
  int32_t runWithMemory(SharedWorkspace &workspace);
  int32_t runHere();
  /// Runs a group by a library. Returns 1 where the group's own kernel is to run.
  int32_t runByLibrary(int64_t call, void *onStream);
};

} // namespace tilewright::host

#endif
