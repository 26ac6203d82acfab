// The run time from many threads, for the thread sanitizer: programs that are loaded, launched, refused and copied for on
// two GPUs of a driver that does nothing, and calls from an interpreter that has no lock.
#include "runtime/ExchangeTypes.h"
#include "runtime/Launcher.h"
#include "runtime/PythonCallable.h"
#include "runtime/host/ABI.h"
#include "runtime/host/Cuda.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

TilewrightFFI tilewrightFFI;

namespace {

constexpr int numThreads = 8, numCalls = 400;

void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "expected %s\n", what);
  std::_Exit(1);
}

template <typename Work> void inThreads(Work work) {
  std::atomic<int> waiting{numThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < numThreads; ++i)
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting) // all at once
        std::this_thread::yield();
      work(i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

// -------------------------------------------------------------------- tvm-ffi, and a driver for two GPUs

thread_local std::string raised;
thread_local void *current = nullptr;
std::atomic<int> numLoads{0}, numLaunches{0}, numAllocations{0};

void setUp() {
  tilewrightFFI.raise = [](const char *kind, const char **parts, int32_t count) {
    raised = kind;
    for (int32_t i = 0; i < count; ++i)
      raised += parts[i] ? parts[i] : "";
  };
  tilewrightFFI.getStream = [](int32_t, int32_t) -> void * { return nullptr; };
  static TilewrightCudaDriver driver;
  driver.init = [](uint32_t) { return 0; };
  driver.deviceGetCount = [](int32_t *count) { return *count = 2, 0; };
  driver.deviceGetName = [](char *name, int32_t, int32_t) { return std::strcpy(name, "none"), 0; };
  driver.deviceGetAttribute = [](int32_t *value, int32_t attribute, int32_t) {
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1024;
    return 0;
  };
  driver.primaryCtxRetain = [](void **context, int32_t device) {
    return *context = reinterpret_cast<void *>(intptr_t(0xC0 + device)), 0;
  };
  driver.ctxGetCurrent = [](void **context) { return *context = current, 0; };
  driver.ctxPushCurrent = [](void *context) { return current = context, 0; };
  driver.ctxPopCurrent = [](void **context) { return *context = current, current = nullptr, 0; };
  driver.ctxGetDevice = [](int32_t *device) { return *device = 0, current ? 0 : 201; };
  driver.moduleLoadData = [](void **module, const void *) { return ++numLoads, *module = &driver, 0; };
  driver.moduleGetFunction = [](void **function, void *, const char *) { return *function = &driver, 0; };
  driver.moduleUnload = [](void *) { return 0; };
  driver.funcSetAttribute = [](void *, int32_t, int32_t value) { return value > 200000 ? 1 : 0; };
  driver.launchKernelEx = [](const void *, void *, void **, void **) { return ++numLaunches, 0; };
  driver.getErrorName = [](int32_t, const char **name) { return *name = "CUDA_ERROR_INVALID_VALUE", 0; };
  driver.memPoolCreate = [](void **pool, const void *) { return *pool = &driver, 0; };
  driver.memPoolSetAttribute = [](void *, int32_t, void *) { return 0; };
  driver.memAllocFromPoolAsync = [](uint64_t *address, size_t bytes, void *, void *) {
    return ++numAllocations, *address = reinterpret_cast<uint64_t>(std::malloc(bytes)), 0;
  };
  driver.memFreeAsync = [](uint64_t address, void *) {
    return --numAllocations, std::free(reinterpret_cast<void *>(address)), 0;
  };
  driver.memcpyHtoDAsync = [](uint64_t to, const void *from, size_t bytes, void *) {
    return std::memcpy(reinterpret_cast<void *>(to), from, bytes), 0;
  };
  driver.memcpyDtoHAsync = [](void *to, uint64_t from, size_t bytes, void *) {
    return std::memcpy(to, reinterpret_cast<void *>(from), bytes), 0;
  };
  driver.streamSynchronize = [](void *) { return 0; };
  tilewrightCudaUse(&driver);
}

// -------------------------------------------------------------------- a program: one kernel, shape[0] bytes of shared memory

int32_t host(void **, const int64_t *shape, void *, void *launcher) {
  auto &launch = *static_cast<TilewrightLauncher *>(launcher);
  uint64_t config[TilewrightConfigSize] = {1, 1, 1, 32, 1, 1, uint64_t(shape[0])};
  int64_t slots[1] = {0};
  void *params[2] = {slots, slots + 1};
  return launch.launch(launch.context, 0, config, params, 1);
}

const TilewrightExtent extent = {-1, "n", 1, 0, INT64_MAX};
const TilewrightArgument arguments[] = {
    {"A", &extent, 2 | 32 << 8 | 1 << 16, 1, 0, 16, TilewrightIsTensor, 0, "0", {TilewrightTypeLeftOut, 0, {0}}},
    {"B", &extent, 2 | 32 << 8 | 1 << 16, 1, 1, 16, TilewrightIsTensor, 0, "1", {TilewrightTypeLeftOut, 0, {0}}}};
const TilewrightSignature signature = {"f(A: float32[n], B: float32[n])", "f", arguments, 2, TilewrightDeviceCUDA, nullptr, 2};
const char *const kernels[] = {"f_kernel0"};
const TilewrightImage image = {"sm_90a", "ELF", 3};

int64_t workspaceBytes(const int64_t *shape) { return shape[0]; }

TilewrightProgram makeProgram(bool hasWorkspace) {
  return {&signature, host, hasWorkspace ? workspaceBytes : nullptr, kernels, &image, 1, 1, nullptr, 0, {1, 1, 1}};
}

void runOnTwoGPUs(bool hasWorkspace) {
  TilewrightProgram program = makeProgram(hasWorkspace);
  numLoads = numLaunches = 0;
  inThreads([&](int thread) {
    float here[64] = {};
    void *data[2] = {here, here}, *stream = nullptr;
    for (int i = 0; i < numCalls; ++i) {
      int32_t device = (thread + i) % 2;
      // Each more than the limit so far, for a while.
      int64_t shape[2] = {1000 * (i % 100), 1000 * (i % 100)};
      require(tilewrightHostRunCuda(&program, &stream, device, data, shape) == 0, "a launch");
      int64_t few[2] = {64, 64};
      require(tilewrightHostRunManaged(&program, nullptr, 0, data, few) == 0, "a managed call");
      int64_t tooMany[2] = {300000 + thread, 300000 + thread};
      require(tilewrightHostRunCuda(&program, &stream, device, data, tooMany) == -1, "a refusal");
      std::string expected = std::to_string(300000 + thread) + " bytes of shared memory on cuda:" + std::to_string(device);
      require(raised.find(expected) != std::string::npos, "this thread's own error");
      const TilewrightFailure *failure = tilewrightHostTakeFailure();
      require(failure && std::strstr(failure->detail, expected.c_str()), "this thread's own failure");
      require(tilewrightHostRunCuda(&program, &stream, 2, data, few) == -1, "no third GPU");
      require(tilewrightHostLoadCuda(&program, device) == 0 && tilewrightHostFunctionsCuda(&program, device), "it loaded");
    }
  });
  require(numLoads == 2, "one load for each GPU");
  require(numLaunches == 2 * numThreads * numCalls && numAllocations == 0, "each launch, and all memory given back");
  tilewrightHostUnloadCuda(&program);
}

// -------------------------------------------------------------------- an interpreter without lock

/// An object of its: what a capsule points to, or of a function its capsule, follows the header.
struct Object {
  std::atomic<int64_t> references{1};
  void *type = nullptr;
  void *content = nullptr;
};

/// One that tilewrightCallableSet gives what it calls: that takes five words.
struct Called : Object {
  void *rest[4] = {};
};

Object none, functionType, slow, raise_;
Object tensorTypes[tilewright::ExchangeTypes::capacity + 4];
int64_t extents[1] = {64}, strides[1] = {1};
thread_local void *seenStream;
std::atomic<int> numEntered{0}, numSlow{0};

tilewright::ExchangeAPI exchangeAPI = {1, 3, nullptr, nullptr, nullptr, nullptr,
                                       [](void *object, TilewrightDLTensor *tensor) {
                                         *tensor = {object, TilewrightDeviceCUDA, 0, 1, 2, 32, 1, extents, strides, 0};
                                         return 0;
                                       },
                                       [](int32_t, int32_t, void **stream) { return *stream = &exchangeAPI, 0; }};

void *take(void *object) { return ++static_cast<Object *>(object)->references, object; }
void drop(void *object) { --static_cast<Object *>(object)->references; }
void *makeObject(void *content, void *type) {
  auto *made = new Object; // kept: what is tested are races
  made->content = content;
  made->type = type;
  return made;
}

TilewrightInterpreter makeInterpreter() {
  TilewrightInterpreter python = {};
  python.incRef = [](void *object) { take(object); };
  python.decRef = drop;
  python.saveThread = []() -> void * { return &none; };
  python.restoreThread = [](void *) {};
  python.objectCall = [](void *callable, void *, void *) -> void * {
    return callable == &slow ? (++numSlow, take(&none)) : nullptr;
  };
  python.tupleNew = [](ptrdiff_t) { return makeObject(nullptr, nullptr); };
  python.tupleSetItem = [](void *, ptrdiff_t, void *) { return 0; };
  python.capsuleNew = [](void *pointer, const char *, void (*)(void *)) { return makeObject(pointer, nullptr); };
  python.capsuleGetPointer = [](void *capsule, const char *) { return static_cast<Object *>(capsule)->content; };
  python.functionNew = [](void *, void *self, void *) { return makeObject(take(self), &functionType); };
  python.getAttribute = [](void *object, const char *name) -> void * {
    if (std::strcmp(name, "__self__") == 0)
      return take(static_cast<Object *>(object)->content);
    return std::strcmp(name, "_cdata") ? makeObject(&exchangeAPI, nullptr) : nullptr;
  };
  python.clearError = [] {};
  python.typeIsSubtype = [](void *, void *) { return 0; };
  python.none = &none;
  python.arrayType = &functionType;
  python.typeOffset = offsetof(Object, type);
  return python;
}

int32_t enter(void *const *stream, const TilewrightAny *args, int32_t count) {
  require(count == 2 && args[0].pointer != args[1].pointer, "two tensors");
  seenStream = stream ? *stream : nullptr;
  ++numEntered;
  return 0;
}

void callOneObject() {
  TilewrightInterpreter interpreter = makeInterpreter();
  tilewright::setInterpreter(interpreter);
  Called called;
  inThreads([&](int thread) {
    // As the first call of each thread makes one.
    void *function = tilewrightCallerNew(&interpreter, "f", "", &slow, &slow, &raise_);
    const TilewrightCallerItem items[] = {{"A", TilewrightCallerInput, 0, 0, 0, {TilewrightTypeLeftOut, 0, {0}}},
                                          {"B", TilewrightCallerOutput, 0, 0, 0, {TilewrightTypeLeftOut, 0, {0}}}};
    tilewrightCallerSet(function, enter, TilewrightDeviceCUDA, 2, 2, items);
    tilewrightCallableSet(&called, function);
    using Vectorcall = void *(*)(void *, void *const *, size_t, void *);
    auto call = reinterpret_cast<Vectorcall>(called.content);
    for (int i = 0; i < numCalls; ++i) {
      // More types than are kept, met in all orders.
      constexpr int count = sizeof(tensorTypes) / sizeof(*tensorTypes);
      Object a, b;
      a.type = &tensorTypes[(i + thread) % count], b.type = &tensorTypes[(i / 3) % count];
      void *given[2] = {&a, &b};
      require(call(&called, given, 2, nullptr) == &none && seenStream == &exchangeAPI, "a call on the library's stream");
      tilewrightPushStream(0, &given);
      require(call(&called, given, 2, nullptr) == &none && seenStream == &given, "a call on the pushed stream");
      tilewrightPopStream();
      require(call(&called, given, 1, nullptr) == &none, "a call that goes the longer way");
    }
  });
  require(numEntered == 2 * numThreads * numCalls && numSlow == numThreads * numCalls, "each call");
}

} // namespace

int main() {
  setUp();
  runOnTwoGPUs(/*hasWorkspace=*/false);
  runOnTwoGPUs(/*hasWorkspace=*/true);
  callOneObject();
  std::puts("right");
}
