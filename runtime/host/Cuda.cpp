//===- Cuda.cpp - kernels loaded and launched through the CUDA driver -----===//
#include "runtime/host/Cuda.h"
#include "runtime/Launcher.h"
#include "runtime/host/ABI.h"
#include "runtime/host/Text.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>

using tilewright::host::Text;

/// What every call runs, put together.
#define HOT __attribute__((hot))

namespace {

// The parts of the driver's ABI that a launch needs, as cuda.h declares them.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void *stream;
  void *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56, "CUlaunchConfig of the driver's ABI");

struct LaunchAttribute {
  int32_t id;
  int32_t padding;
  int32_t flag;
  unsigned char rest[60];
};
static_assert(sizeof(LaunchAttribute) == 72, "CUlaunchAttribute of the driver's ABI");

struct MemPoolProperties {
  int32_t allocationType = 1; // CU_MEM_ALLOCATION_TYPE_PINNED
  int32_t handleTypes = 0;
  int32_t locationType = 1; // CU_MEM_LOCATION_TYPE_DEVICE
  int32_t locationId = 0;
  void *securityAttributes = nullptr;
  size_t maxBytes = 0;
  unsigned char rest[56] = {};
};
static_assert(sizeof(MemPoolProperties) == 88, "CUmemPoolProps of the driver's ABI");

enum : int32_t {
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  NoBinaryForGPU = 209,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchFailed = 719,
  MaxDynamicSharedBytes = 8, // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  ReleaseThreshold = 4,      // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
  CapabilityMajor = 75,      // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  CapabilityMinor = 76,
  Cooperative = 2,           // CU_LAUNCH_ATTRIBUTE_COOPERATIVE
  ProgrammaticSerialization = 6, // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  InvalidClusterSize = 912,  // CUDA_ERROR_INVALID_CLUSTER_SIZE
  CooperativeTooLarge = 720, // CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
  MaxDevices = 64,
};
constexpr uint64_t defaultSharedLimit = 48 << 10;
constexpr char instead[] = " (targets \"sim\" and \"cpu\" need none)";

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct Guard {
  Guard() { pthread_mutex_lock(&lock); }
  ~Guard() { pthread_mutex_unlock(&lock); }
};

// -------------------------------------------------------------------- failures

__thread TilewrightFailure lastFailure;
__thread bool hasFailure;

Text beginFailure(const char *call = nullptr, int32_t code = 0) {
  hasFailure = true;
  lastFailure.call = call;
  lastFailure.code = code;
  lastFailure.name = "";
  return Text(lastFailure.detail, sizeof(lastFailure.detail));
}

/// Raises the failure that was begun. Returns -1.
int32_t raiseFailure() {
  const TilewrightFailure &failure = lastFailure;
  char head[256];
  Text text(head, sizeof(head));
  if (failure.call)
    text << failure.call << " failed with " << failure.name << " (" << failure.code << ")" << (*failure.detail ? ": " : "");
  const char *parts[] = {head, failure.detail};
  tilewrightFFI.raise("RuntimeError", parts, 2);
  return -1;
}

// -------------------------------------------------------------------- the driver

const TilewrightCudaDriver *usedDriver = nullptr;

void nameFailure(const TilewrightCudaDriver &driver) {
  const char *name = nullptr;
  if (driver.getErrorName(lastFailure.code, &name) || !name)
    name = "an unknown code";
  lastFailure.name = name;
}

/// libcuda, opened and initialised once, or null with a failure begun.
const TilewrightCudaDriver *findDriver() {
  if (const TilewrightCudaDriver *driver = __atomic_load_n(&usedDriver, __ATOMIC_ACQUIRE))
    return driver;
  Guard guard;
  if (usedDriver)
    return usedDriver;
  static TilewrightCudaDriver opened;
  if (const char *error = tilewrightCudaOpen("libcuda.so.1", &opened)) {
    if (void *there = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
      dlclose(there);
      beginFailure() << "no CUDA driver: " << error;
    } else {
      beginFailure() << "no CUDA driver: libcuda.so.1 was not found; install NVIDIA's driver to run on a GPU" << instead;
    }
    return nullptr;
  }
  if (int32_t code = opened.init(0)) {
    beginFailure("cuInit", code) << "the driver is there, but " << (code == NoDevice ? "no GPU is" : "does not start")
                                 << instead;
    nameFailure(opened);
    return nullptr;
  }
  __atomic_store_n(&usedDriver, &opened, __ATOMIC_RELEASE);
  return &opened;
}

// -------------------------------------------------------------------- kernels in a GPU

/// A kernel in a GPU, and the bytes of dynamic shared memory that it may use as things stand.
struct LoadedKernel {
  void *function;
  uint64_t sharedLimit;
};

/// A program's kernels in one GPU's primary context. What a launch needs lies together: the driver, at work between
/// launches, takes the caches for itself.
struct alignas(64) Loaded {
  void *context;
  int32_t (*ctxGetCurrent)(void **context);
  int32_t (*launchKernelEx)(const void *config, void *function, void **params, void **extra);
  int32_t (*host)(void **data, const int64_t *shape, void *workspace, void *launcher);
  int64_t (*workspaceBytes)(const int64_t *shape);
  LoadedKernel *kernels;
  int32_t kernelCount, launchFlags;
  const TilewrightCudaDriver *driver;

  TilewrightProgram *program;
  void *module, *pool;
  int32_t device;
  /// For tilewrightHostFunctionsCuda.
  void **functions;
};

/// What a program's state is: its kernels by GPU.
struct State {
  Loaded *loaded[MaxDevices];
};

struct Architecture {
  int32_t major = 0, minor = 0;
  char kind = '\0';
};

Architecture parseArchitecture(const char *text) {
  Architecture arch;
  int32_t number = 0;
  for (text += 3; *text >= '0' && *text <= '9'; ++text)
    number = number * 10 + (*text - '0');
  arch.major = number / 10;
  arch.minor = number % 10;
  arch.kind = *text;
  return arch;
}

/// A cubin runs on later GPUs of its major version; with `a` on its very own, with `f` on its family.
bool runsOn(const Architecture &arch, int32_t major, int32_t minor) {
  if (arch.kind == 'a')
    return arch.major == major && arch.minor == minor;
  return arch.major == major && arch.minor <= minor;
}

/// The best image for a GPU: of those that run there the newest, and its very own before all.
const TilewrightImage *chooseImage(const TilewrightProgram &program, int32_t major, int32_t minor) {
  const TilewrightImage *best = nullptr;
  int32_t bestRank = -1;
  for (int32_t i = 0; i < program.imageCount; ++i) {
    Architecture arch = parseArchitecture(program.images[i].arch);
    int32_t rank = arch.minor * 3 + (arch.kind == 'a' ? 2 : arch.kind == 'f' ? 1 : 0);
    if (runsOn(arch, major, minor) && rank > bestRank) {
      best = &program.images[i];
      bestRank = rank;
    }
  }
  return best;
}

void addOtherArchitecture(Text &text, const TilewrightCudaDriver &driver, const TilewrightProgram &program, int32_t device,
                          int32_t major, int32_t minor) {
  char name[256] = "";
  driver.deviceGetName(name, sizeof(name), device);
  text << program.signature->name << " is compiled for ";
  for (int32_t i = 0; i < program.imageCount; ++i)
    text << (i ? ", " : "") << program.images[i].arch;
  text << ", and cuda:" << device << " (" << name << ") is sm_" << major << minor << ": build it with target=tw.Target(\"cuda\", "
       << "arch=\"sm_" << major << minor << "\")";
}

int32_t failDriver(const TilewrightCudaDriver &driver, const char *call, int32_t code) {
  beginFailure(call, code);
  nameFailure(driver);
  return -1;
}

/// The pool that workspaces come from, one for each GPU, which keeps what it was given back.
void *findPool(const TilewrightCudaDriver &driver, int32_t device) {
  static void *pools[MaxDevices];
  static const TilewrightCudaDriver *owner = nullptr;
  if (owner != &driver) {
    owner = &driver;
    std::memset(pools, 0, sizeof(pools));
  }
  if (!pools[device]) {
    MemPoolProperties properties;
    properties.locationId = device;
    if (int32_t code = driver.memPoolCreate(&pools[device], &properties))
      return failDriver(driver, "cuMemPoolCreate", code), nullptr;
    uint64_t all = UINT64_MAX;
    driver.memPoolSetAttribute(pools[device], ReleaseThreshold, &all);
  }
  return pools[device];
}

/// Fills in what needs the context to be current.
int32_t loadModule(Loaded &loaded, const TilewrightImage &image, int32_t major, int32_t minor) {
  const TilewrightCudaDriver &driver = *loaded.driver;
  if (int32_t code = driver.moduleLoadData(&loaded.module, image.data)) {
    Text text = beginFailure("cuModuleLoadData", code);
    nameFailure(driver);
    if (code == NoBinaryForGPU)
      addOtherArchitecture(text, driver, *loaded.program, loaded.device, major, minor);
    else
      text << "loading " << loaded.program->signature->name << " (" << image.arch << ") into cuda:" << loaded.device;
    return -1;
  }
  for (int32_t i = 0; i < loaded.program->kernelCount; ++i) {
    loaded.kernels[i].sharedLimit = defaultSharedLimit;
    if (int32_t code = driver.moduleGetFunction(&loaded.functions[i], loaded.module, loaded.program->kernels[i])) {
      Text text = beginFailure("cuModuleGetFunction", code);
      nameFailure(driver);
      text << loaded.program->kernels[i];
      return -1;
    }
    loaded.kernels[i].function = loaded.functions[i];
  }
  return 0;
}

void destroy(Loaded *loaded) {
  std::free(loaded->functions);
  std::free(loaded->kernels);
  std::free(loaded);
}

/// Loads a program's kernels, or returns null with a failure begun.
Loaded *load(const TilewrightCudaDriver &driver, TilewrightProgram &program, int32_t device) {
  int32_t count = 0, major = 0, minor = 0;
  if (int32_t code = driver.deviceGetCount(&count))
    return failDriver(driver, "cuDeviceGetCount", code), nullptr;
  if (device < 0 || device >= count || device >= MaxDevices) {
    beginFailure() << "no GPU cuda:" << device << ": the driver has " << count << " of them";
    return nullptr;
  }
  int32_t code = driver.deviceGetAttribute(&major, CapabilityMajor, device);
  if (!code)
    code = driver.deviceGetAttribute(&minor, CapabilityMinor, device);
  if (code)
    return failDriver(driver, "cuDeviceGetAttribute", code), nullptr;
  const TilewrightImage *image = chooseImage(program, major, minor);
  if (!image) {
    Text text = beginFailure();
    addOtherArchitecture(text, driver, program, device, major, minor);
    return nullptr;
  }
  size_t kernels = program.kernelCount > 0 ? program.kernelCount : 1;
  auto *loaded = static_cast<Loaded *>(std::aligned_alloc(alignof(Loaded), sizeof(Loaded)));
  std::memset(static_cast<void *>(loaded), 0, sizeof(Loaded));
  loaded->driver = &driver;
  loaded->ctxGetCurrent = driver.ctxGetCurrent;
  loaded->launchKernelEx = driver.launchKernelEx;
  loaded->program = &program;
  loaded->host = program.host;
  loaded->workspaceBytes = program.workspaceBytes;
  loaded->kernelCount = program.kernelCount;
  loaded->launchFlags = program.launchFlags;
  loaded->device = device;
  loaded->functions = static_cast<void **>(std::calloc(kernels, sizeof(void *)));
  loaded->kernels = static_cast<LoadedKernel *>(std::calloc(kernels, sizeof(LoadedKernel)));
  // The primary context is kept for the life of the process: arrays of other libraries live in it as well.
  if ((code = driver.primaryCtxRetain(&loaded->context, device)) || (code = driver.ctxPushCurrent(loaded->context))) {
    failDriver(driver, "cuDevicePrimaryCtxRetain", code);
    destroy(loaded);
    return nullptr;
  }
  int32_t failed = loadModule(*loaded, *image, major, minor);
  if (failed && loaded->module)
    driver.moduleUnload(loaded->module);
  void *popped;
  driver.ctxPopCurrent(&popped);
  if (failed) {
    destroy(loaded);
    return nullptr;
  }
  return loaded;
}

/// Loads the program's kernels into a GPU, unless another thread has done so. Null with an error raised.
__attribute__((noinline, cold)) Loaded *loadInto(TilewrightProgram *program, int32_t device) {
  const TilewrightCudaDriver *driver = findDriver();
  if (!driver)
    return raiseFailure(), nullptr;
  Loaded *loaded = nullptr;
  {
    Guard guard;
    auto *state = static_cast<State *>(program->state);
    if (!state) {
      state = static_cast<State *>(std::calloc(1, sizeof(State)));
      __atomic_store_n(&program->state, state, __ATOMIC_RELEASE);
    }
    if (uint32_t(device) < MaxDevices)
      loaded = state->loaded[device];
    if (!loaded) {
      loaded = load(*driver, *program, device);
      if (loaded)
        __atomic_store_n(&state->loaded[device], loaded, __ATOMIC_RELEASE);
    }
  }
  if (!loaded)
    raiseFailure();
  return loaded;
}

/// The program's kernels in a GPU, loaded if need be, or null with an error raised.
HOT inline Loaded *findLoaded(TilewrightProgram *program, int32_t device) {
  auto *state = static_cast<State *>(__atomic_load_n(&program->state, __ATOMIC_ACQUIRE));
  if (__builtin_expect(state && uint32_t(device) < MaxDevices, 1))
    if (Loaded *loaded = __atomic_load_n(&state->loaded[device], __ATOMIC_ACQUIRE))
      return loaded;
  return loadInto(program, device);
}

// -------------------------------------------------------------------- launches

/// The context of the launcher: one for each call of a program.
struct Launch {
  Loaded *loaded;
  void *stream;
};

struct Limit {
  const char *name;
  int32_t attribute;
};
constexpr Limit configLimits[] = {{"grid.x", 5},  {"grid.y", 6},  {"grid.z", 7}, {"block.x", 2},
                                  {"block.y", 3}, {"block.z", 4}, {"shared memory", 97}};

/// The numbers of a launch that the GPU cannot have.
void addOverLimits(Text &text, const Loaded &loaded, const uint64_t *config) {
  auto compare = [&](const char *name, int32_t attribute, uint64_t number) {
    int32_t limit = 0;
    if (loaded.driver->deviceGetAttribute(&limit, attribute, loaded.device) == 0 && number > uint64_t(limit))
      text << "; expected at most " << limit << " for " << name << ", got " << number;
  };
  for (int32_t i = 0; i < TilewrightConfigSize; ++i) {
    if (i == 6)
      compare("threads a block", 1, config[3] * config[4] * config[5]);
    compare(configLimits[i].name, configLimits[i].attribute, config[i]);
  }
  for (int32_t i = 0; i < 3; ++i)
    if (int32_t blocks = loaded.program->cluster[i]; config[i] % blocks)
      text << "; expected " << configLimits[i].name << " to be a multiple of the cluster's " << blocks << ", got " << config[i];
}

const char *adviceFor(int32_t code) {
  switch (code) {
  case OutOfMemory:
    return "; free memory on the GPU, or let fewer programs share it";
  case IllegalAddress:
  case LaunchFailed:
    return "; an earlier kernel of this process did that, and the GPU's context is lost with it: target \"sim\" names "
           "such an access of a kernel of Tilewright's, compute-sanitizer of any";
  case CooperativeTooLarge:
    return "; the schedule asks for all blocks at once: launch fewer, or smaller ones";
  case LaunchOutOfResources:
    return "; the block's threads need more registers than a multiprocessor has: make the block smaller";
  }
  return "";
}

__attribute__((cold, noinline)) int32_t failLaunch(const Loaded &loaded, const char *call, int32_t kernel,
                                                   const uint64_t *config, int32_t code) {
  Text text = beginFailure(call, code);
  nameFailure(*loaded.driver);
  bool known = kernel >= 0 && kernel < loaded.program->kernelCount;
  text << (known ? loaded.program->kernels[kernel] : "an unknown kernel") << " with grid (" << config[0] << ", " << config[1]
       << ", " << config[2] << "), block (" << config[3] << ", " << config[4] << ", " << config[5] << ") and " << config[6]
       << " bytes of shared memory on cuda:" << loaded.device;
  if (code == InvalidValue || code == InvalidClusterSize)
    addOverLimits(text, loaded, config);
  text << adviceFor(code);
  return -1;
}

/// Lets the kernel use that much shared memory, unless it may already.
__attribute__((cold, noinline)) int32_t raiseSharedLimit(Loaded &loaded, int32_t kernel, const uint64_t *config) {
  // Under the lock, so that no other thread's smaller launch takes the limit down again.
  Guard guard;
  uint64_t bytes = config[6];
  if (bytes <= loaded.kernels[kernel].sharedLimit)
    return 0;
  if (bytes > INT32_MAX)
    return failLaunch(loaded, "cuFuncSetAttribute", kernel, config, InvalidValue);
  if (int32_t code = loaded.driver->funcSetAttribute(loaded.functions[kernel], MaxDynamicSharedBytes, int32_t(bytes)))
    return failLaunch(loaded, "cuFuncSetAttribute", kernel, config, code);
  __atomic_store_n(&loaded.kernels[kernel].sharedLimit, bytes, __ATOMIC_RELEASE);
  return 0;
}

HOT int32_t launchKernel(void *context, int32_t kernel, const uint64_t *config, void **params, int32_t) {
  auto &launch = *static_cast<Launch *>(context);
  Loaded &loaded = *launch.loaded;
  // What the driver would cut off to 32 bits must not come out as some other launch.
  uint64_t all = 0;
  for (int32_t i = 0; i < TilewrightConfigSize; ++i)
    all |= config[i];
  if (__builtin_expect(uint32_t(kernel) >= uint32_t(loaded.kernelCount) || all > UINT32_MAX, 0))
    return failLaunch(loaded, "cuLaunchKernelEx", kernel, config, InvalidValue);
  LoadedKernel &known = loaded.kernels[kernel];
  if (__builtin_expect(config[6] > __atomic_load_n(&known.sharedLimit, __ATOMIC_ACQUIRE), 0))
    if (int32_t failed = raiseSharedLimit(loaded, kernel, config))
      return failed;
  LaunchConfig numbers = {unsigned(config[0]), unsigned(config[1]), unsigned(config[2]), unsigned(config[3]),
                          unsigned(config[4]), unsigned(config[5]), unsigned(config[6]), launch.stream,
                          nullptr,             0};
  LaunchAttribute attributes[2];
  if (int32_t flags = loaded.launchFlags; __builtin_expect(flags, 0)) {
    numbers.attributes = attributes;
    if (flags & TilewrightLaunchDependent)
      attributes[numbers.attributeCount++] = {ProgrammaticSerialization, 0, 1, {}};
    if (flags & TilewrightLaunchCooperative)
      attributes[numbers.attributeCount++] = {Cooperative, 0, 1, {}};
  }
  if (int32_t code = loaded.launchKernelEx(&numbers, known.function, params, nullptr))
    return failLaunch(loaded, "cuLaunchKernelEx", kernel, config, code);
  return 0;
}

__attribute__((cold, noinline)) int32_t failEncode(const Loaded &loaded, const uint64_t *tensor, int32_t code) {
  Text text = beginFailure("cuTensorMapEncodeTiled", code);
  nameFailure(*loaded.driver);
  text << "a tensor with the extents (";
  uint64_t rank = tensor[TilewrightTensorRank];
  for (uint64_t i = 0; i < rank; ++i)
    text << (i ? ", " : "") << tensor[TilewrightTensorExtents + rank - 1 - i];
  text << ")";
  for (uint64_t i = 1; i < rank; ++i)
    if (tensor[TilewrightTensorStrides + i] % 16)
      text << "; expected a stride of a multiple of 16 bytes in dimension " << rank - 1 - i << ", got "
           << tensor[TilewrightTensorStrides + i];
  return -1;
}

int32_t encodeTensorMap(void *context, void *map, const uint64_t *tensor) {
  const Loaded &loaded = *static_cast<Launch *>(context)->loaded;
  auto *encode = loaded.driver->tensorMapEncodeTiled;
  if (!encode) {
    beginFailure() << "no cuTensorMapEncodeTiled, which kernels with tensor maps need: install a driver for CUDA 12 or later";
    return -1;
  }
  uint32_t box[5], steps[5] = {1, 1, 1, 1, 1};
  for (int32_t i = 0; i < 5; ++i)
    box[i] = uint32_t(tensor[TilewrightTensorBox + i]);
  uint64_t span = tensor[TilewrightTensorSwizzle];
  int32_t swizzle = span == 128 ? 3 : span == 64 ? 2 : span == 32 ? 1 : 0; // CU_TENSOR_MAP_SWIZZLE_*
  // The driver knows the innermost stride. Lines of 256 bytes go to the cache of level 2; outside are zeros.
  constexpr int32_t interleaveNone = 0, promotion256 = 3, fillZeros = 0;
  int32_t code = encode(map, int32_t(tensor[TilewrightTensorElement]), uint32_t(tensor[TilewrightTensorRank]),
                        reinterpret_cast<void *>(tensor[TilewrightTensorData]), tensor + TilewrightTensorExtents,
                        tensor + TilewrightTensorStrides + 1, box, steps, interleaveNone, swizzle, promotion256, fillZeros);
  return code ? failEncode(loaded, tensor, code) : 0;
}

/// Runs a program with a workspace, which is the stream's for as long as its kernels run.
__attribute__((noinline)) int32_t runWithWorkspace(Loaded &loaded, void *stream, void **data, const int64_t *shape,
                                                   TilewrightLauncher &launcher) {
  const TilewrightCudaDriver &driver = *loaded.driver;
  int64_t bytes = loaded.workspaceBytes(shape);
  if (bytes <= 0)
    return loaded.host(data, shape, nullptr, &launcher);
  if (!__atomic_load_n(&loaded.pool, __ATOMIC_ACQUIRE)) {
    Guard guard;
    void *pool = findPool(driver, loaded.device);
    if (!pool)
      return -1;
    __atomic_store_n(&loaded.pool, pool, __ATOMIC_RELEASE);
  }
  uint64_t workspace = 0;
  if (int32_t code = driver.memAllocFromPoolAsync(&workspace, bytes, loaded.pool, stream)) {
    Text text = beginFailure("cuMemAllocFromPoolAsync", code);
    nameFailure(driver);
    text << bytes << " bytes of workspace for " << loaded.program->signature->name << " on cuda:" << loaded.device
         << adviceFor(code);
    return -1;
  }
  int32_t result = loaded.host(data, shape, reinterpret_cast<void *>(workspace), &launcher);
  // In the stream's order: the memory is another's once the kernels are done.
  int32_t code = driver.memFreeAsync(workspace, stream);
  return result ? result : code ? failDriver(driver, "cuMemFreeAsync", code) : 0;
}

/// Runs the host program in the GPU's context, which is current. A failure is begun, not raised.
HOT inline int32_t runInContext(Loaded &loaded, void *stream, void **data, const int64_t *shape) {
  Launch launch = {&loaded, stream};
  TilewrightLauncher launcher = {&launch, launchKernel, encodeTensorMap};
  if (loaded.workspaceBytes)
    return runWithWorkspace(loaded, stream, data, shape, launcher);
  return loaded.host(data, shape, nullptr, &launcher);
}

/// The same where another context is the thread's current one, which it is again afterwards.
__attribute__((noinline)) int32_t runElsewhere(Loaded &loaded, void *stream, void **data, const int64_t *shape) {
  const TilewrightCudaDriver &driver = *loaded.driver;
  if (int32_t code = driver.ctxPushCurrent(loaded.context)) {
    failDriver(driver, "cuCtxPushCurrent", code);
    return raiseFailure();
  }
  int32_t result = runInContext(loaded, stream, data, shape);
  void *popped;
  driver.ctxPopCurrent(&popped);
  return result ? raiseFailure() : 0;
}

} // namespace

const char *tilewrightCudaOpen(const char *library, TilewrightCudaDriver *driver) {
  static __thread char error[512];
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    Text(error, sizeof(error)) << dlerror();
    return error;
  }
  struct {
    void *slot;
    const char *name;
  } functions[] = {
      {&driver->launchKernelEx, "cuLaunchKernelEx"},
      {&driver->init, "cuInit"},
      {&driver->deviceGetCount, "cuDeviceGetCount"},
      {&driver->deviceGetName, "cuDeviceGetName"},
      {&driver->deviceGetAttribute, "cuDeviceGetAttribute"},
      {&driver->primaryCtxRetain, "cuDevicePrimaryCtxRetain"},
      {&driver->ctxGetCurrent, "cuCtxGetCurrent"},
      {&driver->ctxPushCurrent, "cuCtxPushCurrent_v2"},
      {&driver->ctxPopCurrent, "cuCtxPopCurrent_v2"},
      {&driver->moduleLoadData, "cuModuleLoadData"},
      {&driver->moduleGetFunction, "cuModuleGetFunction"},
      {&driver->moduleUnload, "cuModuleUnload"},
      {&driver->funcSetAttribute, "cuFuncSetAttribute"},
      {&driver->getErrorName, "cuGetErrorName"},
      {&driver->memPoolCreate, "cuMemPoolCreate"},
      {&driver->memPoolSetAttribute, "cuMemPoolSetAttribute"},
      {&driver->memAllocFromPoolAsync, "cuMemAllocFromPoolAsync"},
      {&driver->memFreeAsync, "cuMemFreeAsync"},
  };
  for (auto &function : functions) {
    void *found = dlsym(handle, function.name);
    if (!found) {
      Text(error, sizeof(error)) << library << " has no " << function.name;
      dlclose(handle);
      return error;
    }
    std::memcpy(function.slot, &found, sizeof(found));
  }
  void *encode = dlsym(handle, "cuTensorMapEncodeTiled");
  std::memcpy(&driver->tensorMapEncodeTiled, &encode, sizeof(encode));
  return nullptr;
}

void tilewrightCudaUse(const TilewrightCudaDriver *driver) { __atomic_store_n(&usedDriver, driver, __ATOMIC_RELEASE); }

const TilewrightFailure *tilewrightHostTakeFailure() {
  if (!hasFailure)
    return nullptr;
  hasFailure = false;
  return &lastFailure;
}

int32_t tilewrightHostLoadCuda(TilewrightProgram *program, int32_t device) {
  return findLoaded(program, device) ? 0 : -1;
}

int32_t tilewrightHostLoad(TilewrightProgram *program, const TilewrightAny *args, int32_t count) {
  if (count <= 0)
    return tilewrightHostLoadCuda(program, 0);
  if (count == 1 && args[0].type == 1 && args[0].integer >= 0 && args[0].integer < MaxDevices)
    return tilewrightHostLoadCuda(program, int32_t(args[0].integer));
  const char *parts[] = {program->signature->name, "_load: expected the number of a GPU, or no argument"};
  tilewrightFFI.raise("TypeError", parts, 2);
  return -1;
}

void *const *tilewrightHostFunctionsCuda(const TilewrightProgram *program, int32_t device) {
  auto *state = static_cast<State *>(__atomic_load_n(&program->state, __ATOMIC_ACQUIRE));
  if (!state || uint32_t(device) >= MaxDevices)
    return nullptr;
  Loaded *loaded = __atomic_load_n(&state->loaded[device], __ATOMIC_ACQUIRE);
  return loaded ? loaded->functions : nullptr;
}

void tilewrightHostUnloadCuda(TilewrightProgram *program) {
  auto *state = static_cast<State *>(program->state);
  if (!state)
    return;
  program->state = nullptr;
  for (Loaded *loaded : state->loaded) {
    if (!loaded)
      continue;
    // Waits for its kernels. In a context that has failed the module is gone with it, so no code is looked at.
    void *popped;
    loaded->driver->ctxPushCurrent(loaded->context);
    loaded->driver->moduleUnload(loaded->module);
    loaded->driver->ctxPopCurrent(&popped);
    destroy(loaded);
  }
  std::free(state);
}

HOT int32_t tilewrightHostRunCuda(TilewrightProgram *program, void *const *stream, int32_t device, void **data,
                                  const int64_t *shape) {
  Loaded *loaded = findLoaded(program, device);
  if (__builtin_expect(!loaded, 0))
    return -1;
  void *launchStream = stream ? *stream : tilewrightFFI.getStream(TilewrightDeviceCUDA, device);
  void *current = nullptr;
  loaded->ctxGetCurrent(&current);
  if (__builtin_expect(current == loaded->context, 1))
    return runInContext(*loaded, launchStream, data, shape) ? raiseFailure() : 0;
  return runElsewhere(*loaded, launchStream, data, shape);
}
