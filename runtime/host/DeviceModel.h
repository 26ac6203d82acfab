//===- DeviceModel.h - what a model keeps for each GPU --------------------===//
//
// Its launches as CUDA graphs, and how much workspace its groups take. Launching hundreds of kernels one by one takes
// the processor longer than most of them take the GPU; a graph is launched at once.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_DEVICEMODEL_H
#define TILEWRIGHT_RUNTIME_HOST_DEVICEMODEL_H

#include "runtime/host/LoadedProgram.h"
#include "runtime/host/Model.h"

namespace tilewright::host {

/// Workspace that the groups of a call share, one after the other.
struct SharedWorkspace {
  char *begin;
  int64_t bytes;
  /// The most that a group of this call took.
  int64_t needed;
  /// Whether a library has no plan for a group of this call.
  bool isNew;
  /// While launches are captured, a group that takes more than there is fails: an allocation would be the graph's. So
  /// does one for which a library has no plan.
  bool isCapturing;
};

/// That of the model's call that the thread is in, or null.
extern __thread SharedWorkspace *sharedWorkspace;

/// Runs something with so many bytes of workspace: those that the model's call shares, or else an allocation on the
/// stream. `name` is for messages. Not 0 with a failure begun.
int32_t runWithWorkspace(LoadedProgram &loaded, void *stream, int64_t bytes, const char *name,
                         int32_t (*run)(void *context, void *workspace), void *context);

/// Whether the stream is capturing a graph of somebody else's, which the launches are to become part of; or cannot say.
bool isCapturing(const TilewrightCudaDriver &driver, void *stream);

struct LibraryState;

/// The launches of a call, captured.
struct LaunchGraph {
  int64_t *key;
  void *exec;
  int64_t lastUse;
};

constexpr int32_t maxLaunchGraphs = 8;

struct DeviceModel {
  const TilewrightCudaDriver *driver;
  void *context;
  pthread_mutex_t lock;
  /// The most workspace that a group has taken, rounded up.
  int64_t workspaceBytes;
  /// Whether a call has loaded all kernels, which a capture does not allow.
  int32_t isLoaded;
  /// How many captures have failed. After a few there are no more.
  int32_t numFailures;
  /// On which launches are captured. Nothing runs on it.
  void *stream;
  /// Memory that the GPU writes to by itself, where numbers go that the host reads. Null while a call has it.
  int64_t *numbers;
  /// Of the calls of libraries; null where there are none.
  LibraryState *libraries;
  int64_t numLibraries;
  int64_t numUses;
  LaunchGraph graphs[maxLaunchGraphs];
};

/// Takes the memory for so many numbers, a model's own, or null where there is none; and gives it back.
int64_t *takeNumbers(DeviceModel &device, int64_t count);
void giveNumbersBack(DeviceModel &device, int64_t *numbers);

/// What launches a call's kernels on a stream; not 0 with an error raised.
struct Launches {
  int32_t (*launch)(void *context, void *stream);
  void *context;
};

/// What the model keeps for that GPU, or null with a failure begun.
DeviceModel *findDeviceModel(TilewrightModel &model, const LoadedProgram &loaded);

/// Launches on the stream: as one graph, which another call with this key may have left, or one by one where no graph
/// can be. The key is `keySize`
/// numbers, in all calls of a model as many. Not 0 with an error raised.
int32_t launchAsGraph(DeviceModel &device, const char *name, const int64_t *key, int64_t keySize, void *stream,
                      const Launches &launches);

} // namespace tilewright::host

#endif
