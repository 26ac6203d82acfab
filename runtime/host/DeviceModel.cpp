//===- DeviceModel.cpp - launches of a model as CUDA graphs ---------------===//
#include "runtime/host/DeviceModel.h"
#include "runtime/host/Failure.h"
#include "runtime/host/LibraryCall.h"

#include <cstdlib>

using namespace tilewright::host;

__thread SharedWorkspace *tilewright::host::sharedWorkspace = nullptr;

namespace {

enum : int32_t {
  NonBlocking = 1, // CU_STREAM_NON_BLOCKING
  ThreadLocal = 1, // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
  mostFailures = 3,
};

/// CUgraphExecUpdateResultInfo of the driver's ABI.
struct UpdateResult {
  int32_t result;
  void *errorNode, *errorFromNode;
};
static_assert(sizeof(UpdateResult) == 24, "CUgraphExecUpdateResultInfo of the driver's ABI");

struct DeviceGuard {
  DeviceModel &device;
  explicit DeviceGuard(DeviceModel &device) : device(device) { pthread_mutex_lock(&device.lock); }
  ~DeviceGuard() { pthread_mutex_unlock(&device.lock); }
};

bool hasGraphs(const TilewrightCudaDriver &driver) {
  return driver.streamCreate && driver.streamDestroy && driver.streamIsCapturing && driver.streamBeginCapture &&
         driver.streamEndCapture && driver.graphDestroy && driver.graphInstantiate && driver.graphExecUpdate &&
         driver.graphExecDestroy && driver.graphLaunch;
}

LaunchGraph *findGraph(DeviceModel &device, const int64_t *key, int64_t keySize) {
  for (LaunchGraph &graph : device.graphs)
    if (graph.exec && std::memcmp(graph.key, key, keySize * sizeof(int64_t)) == 0)
      return &graph;
  return nullptr;
}

/// The launches as a graph that has not been instantiated, or null.
void *capture(DeviceModel &device, const Launches &launches) {
  const TilewrightCudaDriver &driver = *device.driver;
  if (!device.stream && driver.streamCreate(&device.stream, NonBlocking))
    return ++device.numFailures, nullptr;
  if (driver.streamBeginCapture(device.stream, ThreadLocal))
    return ++device.numFailures, nullptr;
  SharedWorkspace &workspace = *sharedWorkspace;
  workspace.isCapturing = true;
  int32_t failed = launches.launch(launches.context, device.stream);
  workspace.isCapturing = false;
  void *graph = nullptr;
  int32_t code = driver.streamEndCapture(device.stream, &graph);
  if (!failed && !code && graph)
    return graph;
  // Launched one by one they say what is wrong, where it is not the capture.
  tilewrightHostTakeFailure();
  if (!code && graph)
    driver.graphDestroy(graph);
  // The next call has more workspace, and the libraries' plans.
  if (workspace.needed <= workspace.bytes && !workspace.isNew)
    ++device.numFailures;
  return nullptr;
}

/// Puts a graph into the place of the one that was used longest ago, whose instance becomes this one's where both have
/// the same kernels. Null where it cannot be instantiated.
LaunchGraph *keep(DeviceModel &device, void *graph, const int64_t *key, int64_t keySize) {
  const TilewrightCudaDriver &driver = *device.driver;
  LaunchGraph *place = device.graphs;
  for (LaunchGraph &other : device.graphs)
    if (other.lastUse < place->lastUse)
      place = &other;
  if (!place->key && !(place->key = static_cast<int64_t *>(std::malloc(keySize * sizeof(int64_t) + 1))))
    return nullptr;
  // What runs already is not changed by this. A kernel of a library's may not follow an update of its parameters.
  UpdateResult result = {};
  if (place->exec && (device.numLibraries || driver.graphExecUpdate(place->exec, graph, &result))) {
    driver.graphExecDestroy(place->exec);
    place->exec = nullptr;
  }
  if (!place->exec && driver.graphInstantiate(&place->exec, graph, 0)) {
    place->exec = nullptr;
    place->lastUse = 0;
    ++device.numFailures;
    return nullptr;
  }
  std::memcpy(place->key, key, keySize * sizeof(int64_t));
  return place;
}

/// The graph of a call, captured if need be, or null where there is none.
LaunchGraph *findOrCapture(DeviceModel &device, const int64_t *key, int64_t keySize, const Launches &launches) {
  if (LaunchGraph *graph = findGraph(device, key, keySize))
    return graph;
  void *captured = capture(device, launches);
  if (!captured)
    return nullptr;
  LaunchGraph *graph = keep(device, captured, key, keySize);
  device.driver->graphDestroy(captured);
  return graph;
}

} // namespace

bool tilewright::host::isCapturing(const TilewrightCudaDriver &driver, void *stream) {
  int32_t status = 0;
  return driver.streamIsCapturing && (driver.streamIsCapturing(stream, &status) || status);
}

DeviceModel *tilewright::host::findDeviceModel(TilewrightModel &model, const LoadedProgram &loaded) {
  auto **byDevice = static_cast<DeviceModel **>(__atomic_load_n(&model.devices, __ATOMIC_ACQUIRE));
  if (byDevice)
    if (DeviceModel *device = __atomic_load_n(&byDevice[loaded.device], __ATOMIC_ACQUIRE))
      return device;
  LoadGuard guard;
  byDevice = static_cast<DeviceModel **>(model.devices);
  if (!byDevice && !(byDevice = static_cast<DeviceModel **>(std::calloc(maxDevices, sizeof(DeviceModel *))))) {
    beginFailure() << "no memory for what a model keeps for each GPU";
    return nullptr;
  }
  __atomic_store_n(&model.devices, static_cast<void *>(byDevice), __ATOMIC_RELEASE);
  DeviceModel *device = byDevice[loaded.device];
  if (!device && (device = static_cast<DeviceModel *>(std::calloc(1, sizeof(DeviceModel))))) {
    device->driver = loaded.details->driver;
    device->context = loaded.context;
    pthread_mutex_init(&device->lock, nullptr);
    // Without memory for it the groups' own kernels run.
    if (model.libraryCallCount)
      device->libraries = static_cast<LibraryState *>(std::calloc(model.libraryCallCount, sizeof(LibraryState)));
    device->numLibraries = device->libraries ? model.libraryCallCount : 0;
    for (int64_t i = 0; i < device->numLibraries; ++i)
      pthread_mutex_init(&device->libraries[i].lock, nullptr);
    __atomic_store_n(&byDevice[loaded.device], device, __ATOMIC_RELEASE);
  }
  if (!device)
    beginFailure() << "no memory for what a model keeps for cuda:" << loaded.device;
  return device;
}

int64_t *tilewright::host::takeNumbers(DeviceModel &device, int64_t count) {
  if (int64_t *numbers = __atomic_exchange_n(&device.numbers, nullptr, __ATOMIC_ACQ_REL))
    return numbers;
  const TilewrightCudaDriver &driver = *device.driver;
  void *made = nullptr;
  if (!driver.memHostAlloc || !driver.memFreeHost || driver.memHostAlloc(&made, count * sizeof(int64_t), 0))
    return nullptr;
  return static_cast<int64_t *>(made);
}

void tilewright::host::giveNumbersBack(DeviceModel &device, int64_t *numbers) {
  if (void *other = __atomic_exchange_n(&device.numbers, numbers, __ATOMIC_ACQ_REL))
    device.driver->memFreeHost(other);
}

int32_t tilewright::host::launchAsGraph(DeviceModel &device, const char *name, const int64_t *key, int64_t keySize,
                                        void *stream, const Launches &launches) {
  const TilewrightCudaDriver &driver = *device.driver;
  bool canBe = __atomic_load_n(&device.isLoaded, __ATOMIC_ACQUIRE) && hasGraphs(driver) &&
               __atomic_load_n(&device.numFailures, __ATOMIC_RELAXED) < mostFailures && !isCapturing(driver, stream);
  if (canBe) {
    DeviceGuard guard(device);
    if (LaunchGraph *graph = findOrCapture(device, key, keySize, launches)) {
      graph->lastUse = ++device.numUses;
      int32_t code = driver.graphLaunch(graph->exec, stream);
      if (!code)
        return 0;
      beginFailure(driver, "cuGraphLaunch", code) << "the kernels of " << name << adviceFor(code);
      return raiseFailure();
    }
  }
  int32_t failed = launches.launch(launches.context, stream);
  if (!failed)
    __atomic_store_n(&device.isLoaded, 1, __ATOMIC_RELEASE);
  return failed;
}

void tilewrightHostCloseModel(TilewrightModel *model) {
  auto **byDevice = static_cast<DeviceModel **>(model->devices);
  if (!byDevice)
    return;
  model->devices = nullptr;
  for (int32_t i = 0; i < maxDevices; ++i) {
    DeviceModel *device = byDevice[i];
    if (!device)
      continue;
    const TilewrightCudaDriver &driver = *device->driver;
    void *popped;
    driver.ctxPushCurrent(device->context);
    for (LaunchGraph &graph : device->graphs) {
      if (graph.exec)
        driver.graphExecDestroy(graph.exec);
      std::free(graph.key);
    }
    if (device->stream)
      driver.streamDestroy(device->stream);
    if (device->numbers)
      driver.memFreeHost(device->numbers);
    for (int64_t i = 0; i < device->numLibraries; ++i)
      closeState(device->libraries[i]);
    std::free(device->libraries);
    driver.ctxPopCurrent(&popped);
    pthread_mutex_destroy(&device->lock);
    std::free(device);
  }
  std::free(byDevice);
}
