//===- ModelOnDevice.cpp - calls of a whole model on a GPU ----------------===//
#include "runtime/host/DeviceModel.h"
#include "runtime/host/Failure.h"
#include "runtime/host/LibraryCall.h"
#include "runtime/host/ModelCall.h"
#include "runtime/host/Weights.h"

using namespace tilewright::host;

namespace {

constexpr int64_t workspaceAlignment = 512;

/// As much as is needed, and some more where the next call's extents are a little larger.
int64_t roundWorkspace(int64_t bytes) {
  int64_t rounded = workspaceAlignment;
  while (rounded < bytes)
    rounded += rounded / 4 / workspaceAlignment * workspaceAlignment + workspaceAlignment;
  return rounded;
}

uint64_t addressOf(const TilewrightDLTensor &tensor) {
  return reinterpret_cast<uint64_t>(tensor.data) + tensor.byteOffset;
}

} // namespace

int32_t ModelCall::copyOnDevice(const TilewrightDLTensor &from, const TilewrightDLTensor &to, int64_t bytes,
                                void *onStream) {
  const TilewrightCudaDriver &driver = *loaded->details->driver;
  int32_t code = driver.memcpyDtoDAsync(addressOf(to), addressOf(from), bytes, onStream);
  if (!code)
    return 0;
  beginFailure(driver, "cuMemcpyDtoDAsync", code)
      << bytes << " bytes of an output of " << signature.name << adviceFor(code);
  return raiseFailure();
}

/// Waits for the stream once, for all numbers.
int32_t ModelCall::readOnDevice() {
  const TilewrightCudaDriver &driver = *loaded->details->driver;
  // Where the GPU writes by itself, a copy does not wait.
  int64_t *taken = takeNumbers(*device, model.numberCount), *to = taken ? taken : numbers;
  const char *call = "cuMemcpyDtoHAsync";
  int32_t code = 0;
  for (int64_t i = 0; !code && i < model.numberCount; ++i)
    if (isRead(i))
      code = driver.memcpyDtoHAsync(&to[i], addressOf(tensorOfValue(model.numbers[i].a)), sizeof(int64_t), stream);
  if (!code) {
    call = "cuStreamSynchronize";
    code = driver.streamSynchronize(stream);
  }
  for (int64_t i = 0; !code && i < model.numberCount; ++i)
    if (isRead(i))
      numbers[i] = to[i];
  if (taken)
    giveNumbersBack(*device, taken);
  if (!code)
    return 0;
  beginFailure(driver, call, code) << "a number that says how large results of " << signature.name << " are"
                                   << adviceFor(code);
  return raiseFailure();
}

namespace {

int32_t loadGroup(const TilewrightModelGroup &group, int32_t device) {
  TilewrightAny number = {}, none = {};
  number.type = TilewrightTypeInt;
  number.integer = device;
  return group.load(nullptr, &number, 1, &none);
}

} // namespace

int32_t ModelCall::runByLibrary(int64_t number, void *onStream) {
  if (!device->libraries)
    return 1;
  struct Run {
    LibraryState &state;
    LibraryPlan &plan;
    ModelCall &of;
    const TilewrightLibraryCall &call;
    void *stream;
    bool hasRun = false;
  };
  LibraryState &state = device->libraries[number];
  const TilewrightLibraryCall &call = model.libraryCalls[number];
  LibraryGuard guard(state);
  bool mayMake = !sharedWorkspace->isCapturing && !isCapturing(*loaded->details->driver, onStream);
  LibraryPlan *plan = nullptr;
  PlanIs found = findPlan(state, call, arguments, loaded->device, mayMake, plan);
  if (found == PlanIs::Missing && sharedWorkspace->isCapturing) {
    sharedWorkspace->isNew = true;
    beginFailure() << "expected a call of a library that has run before";
    return -1;
  }
  // Where the library fails later, in a capture, the group's own kernels are there.
  if (found == PlanIs::Made && loadGroup(model.groups[call.group], loaded->device))
    return -1;
  if (found == PlanIs::Missing)
    Text(state.problem, sizeof(state.problem)) << "a stream was captured before a call with these extents ran";
  if (found == PlanIs::Missing || found == PlanIs::Refused)
    return 1;
  Run run = {state, *plan, *this, call, onStream};
  auto launch = [](void *context, void *workspace) -> int32_t {
    Run &run = *static_cast<Run *>(context);
    run.hasRun = runPlan(run.state, run.plan, run.call, run.of.arguments, run.of.loaded->device, run.stream, workspace);
    return 0;
  };
  if (runWithWorkspace(*loaded, onStream, plan->workspaceBytes, signature.name, launch, &run))
    return raiseFailure();
  return run.hasRun ? 0 : 1;
}

/// What the launches depend on: the numbers, and where the tensors lie.
void ModelCall::describeCall() {
  int64_t *next = std::copy(numbers, numbers + model.numberCount, key);
  for (int32_t i = 0; i < signature.argumentCount; ++i)
    *next++ = int64_t(addressOf(*tensorOf(all[i])));
  *next = reinterpret_cast<int64_t>(arena);
}

int32_t ModelCall::launchGroups() {
  if (!model.cudaGraph)
    return runGroups(stream);
  describeCall();
  Launches launches = {[](void *call, void *onStream) { return static_cast<ModelCall *>(call)->runGroups(onStream); },
                       this};
  return launchAsGraph(*device, signature.name, key, keySize(), stream, launches);
}

/// The arena of the phase and, behind that of the first one, the workspace that groups share.
int32_t ModelCall::allocateArena(SharedWorkspace &workspace) {
  const TilewrightCudaDriver &driver = *loaded->details->driver;
  int64_t begin = (arenaBytes + workspaceAlignment - 1) / workspaceAlignment * workspaceAlignment;
  bool hasWorkspace = workspace.bytes && phase == 0;
  int64_t bytes = hasWorkspace ? begin + workspace.bytes : arenaBytes;
  uint64_t allocated = 0;
  if (bytes) {
    void *pool = findPool(*loaded);
    if (!pool)
      return raiseFailure();
    if (int32_t code = driver.memAllocFromPoolAsync(&allocated, bytes, pool, stream)) {
      Text text = beginFailure(driver, "cuMemAllocFromPoolAsync", code);
      text << bytes << " bytes for the arena of " << signature.name << " on cuda:" << loaded->device;
      if (hasWorkspace)
        text << ", with " << workspace.bytes << " for the workspace of its groups";
      if (model.weights)
        text << ", beside " << model.weights->bytes - model.weights->headerBytes << " bytes of weights";
      text << adviceFor(code);
      return raiseFailure();
    }
  }
  arenas[phase] = arena = reinterpret_cast<char *>(allocated);
  if (hasWorkspace)
    workspace.begin = arena + begin;
  return 0;
}

int32_t ModelCall::runWithMemory(SharedWorkspace &workspace) {
  const TilewrightCudaDriver &driver = *loaded->details->driver;
  int32_t failed = 0, code = 0;
  for (; !failed && phase < model.phaseCount; ++phase) {
    if ((failed = (phase ? beginPhase() : 0) || allocateArena(workspace) ? -1 : 0))
      break;
    placeTensors();
    failed = launchGroups();
  }
  // In the stream's order: the memory is another's once the groups are done.
  for (int64_t i = 0; i < model.phaseCount; ++i)
    if (arenas[i])
      if (int32_t found = driver.memFreeAsync(reinterpret_cast<uint64_t>(arenas[i]), stream))
        code = found;
  if (failed || !code)
    return failed;
  failDriver(driver, "cuMemFreeAsync", code);
  return raiseFailure();
}

/// On the GPU whose context is current.
int32_t ModelCall::runHere() {
  bool isRaised = false;
  if (model.weights) {
    weights = reinterpret_cast<char *>(findWeightsOn(*loaded, model, signature.name, stream, isRaised));
    if (!weights)
      return isRaised ? -1 : raiseFailure();
  }
  if (!(device = findDeviceModel(model, *loaded)))
    return raiseFailure();
  SharedWorkspace workspace = {}, *outer = sharedWorkspace;
  workspace.bytes = __atomic_load_n(&device->workspaceBytes, __ATOMIC_RELAXED);
  sharedWorkspace = &workspace;
  int32_t failed = runWithMemory(workspace);
  sharedWorkspace = outer;
  // Another thread may have found that more is needed.
  int64_t known = workspace.bytes;
  while (workspace.needed > known &&
         !__atomic_compare_exchange_n(&device->workspaceBytes, &known, roundWorkspace(workspace.needed), false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return failed;
}

int32_t ModelCall::runOnDevice() {
  if (!(loaded = findLoaded(program, deviceId)))
    return -1;
  stream = tilewrightFFI.getStream(TilewrightDeviceCUDA, loaded->device);
  const TilewrightCudaDriver &driver = *loaded->details->driver;
  if (int32_t code = driver.ctxPushCurrent(loaded->context)) {
    failDriver(driver, "cuCtxPushCurrent", code);
    return raiseFailure();
  }
  int32_t failed = runHere();
  void *popped;
  driver.ctxPopCurrent(&popped);
  return failed;
}

int32_t tilewrightHostLoadModel(TilewrightModel *model, TilewrightProgram *program, const TilewrightAny *args,
                                int32_t count) {
  if (int32_t failed = tilewrightHostLoad(program, args, count))
    return failed;
  TilewrightAny none = {};
  for (int64_t i = 0; i < model->groupCount; ++i)
    if (model->groups[i].load(nullptr, args, count, &none))
      return -1;
  if (!model->weights)
    return 0;
  LoadedProgram *loaded = findLoaded(program, count ? int32_t(args[0].integer) : 0);
  if (!loaded)
    return -1;
  const TilewrightCudaDriver &driver = *loaded->details->driver;
  if (int32_t code = driver.ctxPushCurrent(loaded->context)) {
    failDriver(driver, "cuCtxPushCurrent", code);
    return raiseFailure();
  }
  void *stream = tilewrightFFI.getStream(TilewrightDeviceCUDA, loaded->device), *popped;
  bool isRaised = false;
  bool isThere = findWeightsOn(*loaded, *model, program->signature->name, stream, isRaised);
  driver.ctxPopCurrent(&popped);
  return isThere ? 0 : isRaised ? -1 : raiseFailure();
}
