//===- Launch.cpp - programs run through the CUDA driver ------------------===//
#include "runtime/Launcher.h"
#include "runtime/host/DeviceModel.h"
#include "runtime/host/Failure.h"
#include "runtime/host/LoadedProgram.h"

using namespace tilewright::host;

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

enum : int32_t {
  MaxDynamicSharedBytes = 8,     // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  Cooperative = 2,               // CU_LAUNCH_ATTRIBUTE_COOPERATIVE
  ProgrammaticSerialization = 6, // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
};

/// The context of the launcher: one for each call of a program.
struct Launch {
  LoadedProgram *loaded;
  void *stream;
  uint64_t zeros = 0; // memory that stands for tensors without elements, once there is one
};

struct Limit {
  const char *name;
  int32_t attribute;
};
constexpr Limit configLimits[] = {{"grid.x", 5},  {"grid.y", 6},  {"grid.z", 7},        {"block.x", 2},
                                  {"block.y", 3}, {"block.z", 4}, {"shared memory", 97}};

/// The numbers of a launch that the GPU cannot have.
void addOverLimits(Text &text, const LoadedProgram &loaded, const uint64_t *config) {
  auto compare = [&](const char *name, int32_t attribute, uint64_t number) {
    int32_t limit = 0;
    if (loaded.details->driver->deviceGetAttribute(&limit, attribute, loaded.device) == 0 && number > uint64_t(limit))
      text << "; expected at most " << limit << " for " << name << ", got " << number;
  };
  for (int32_t i = 0; i < TilewrightConfigSize; ++i) {
    if (i == 6)
      compare("threads a block", 1, config[3] * config[4] * config[5]);
    compare(configLimits[i].name, configLimits[i].attribute, config[i]);
  }
  for (int32_t i = 0; i < 3; ++i)
    if (int32_t blocks = loaded.details->program->cluster[i]; config[i] % blocks)
      text << "; expected " << configLimits[i].name << " to be a multiple of the cluster's " << blocks << ", got "
           << config[i];
}

__attribute__((cold, noinline)) int32_t failLaunch(const LoadedProgram &loaded, const char *call, int32_t kernel,
                                                   const uint64_t *config, int32_t code) {
  const TilewrightProgram &program = *loaded.details->program;
  Text text = beginFailure(*loaded.details->driver, call, code);
  bool known = kernel >= 0 && kernel < loaded.kernelCount;
  text << (known ? program.kernels[kernel] : "an unknown kernel") << " with grid (" << config[0] << ", " << config[1]
       << ", " << config[2] << "), block (" << config[3] << ", " << config[4] << ", " << config[5] << ") and "
       << config[6] << " bytes of shared memory on cuda:" << loaded.device;
  if (code == InvalidValue || code == InvalidClusterSize)
    addOverLimits(text, loaded, config);
  text << adviceFor(code);
  return -1;
}

/// Lets the kernel use that much shared memory, unless it may already.
__attribute__((cold, noinline)) int32_t raiseSharedLimit(LoadedProgram &loaded, int32_t kernel,
                                                         const uint64_t *config) {
  // Under the lock, so that no other thread's smaller launch takes the limit down again.
  LoadGuard guard;
  LoadedKernel &known = loaded.kernels()[kernel];
  uint64_t bytes = config[6];
  if (bytes <= known.sharedLimit)
    return 0;
  int32_t code = InvalidValue;
  if (bytes <= INT32_MAX)
    code = loaded.details->driver->funcSetAttribute(known.function, MaxDynamicSharedBytes, int32_t(bytes));
  if (code)
    return failLaunch(loaded, "cuFuncSetAttribute", kernel, config, code);
  __atomic_store_n(&known.sharedLimit, bytes, __ATOMIC_RELEASE);
  return 0;
}

/// A launch that the schedule wants attributes for.
__attribute__((noinline)) int32_t launchWithAttributes(const LoadedProgram &loaded, LaunchConfig &numbers,
                                                       void *function, void **params, void **extra) {
  LaunchAttribute attributes[2];
  numbers.attributes = attributes;
  if (loaded.launchFlags & TilewrightLaunchDependent)
    attributes[numbers.attributeCount++] = {ProgrammaticSerialization, 0, 1, {}};
  if (loaded.launchFlags & TilewrightLaunchCooperative)
    attributes[numbers.attributeCount++] = {Cooperative, 0, 1, {}};
  return loaded.launchKernelEx(&numbers, function, params, extra);
}

HOT int32_t launchKernel(void *context, int32_t kernel, const uint64_t *config, void **params, int32_t count) {
  auto &launch = *static_cast<Launch *>(context);
  LoadedProgram &loaded = *launch.loaded;
  // What the driver would cut off to 32 bits must not come out as some other launch.
  static_assert(TilewrightConfigSize == 7, "all numbers of a launch");
  uint64_t all = config[0] | config[1] | config[2] | config[3] | config[4] | config[5] | config[6];
  if (__builtin_expect(uint32_t(kernel) >= uint32_t(loaded.kernelCount) || all > UINT32_MAX, 0))
    return failLaunch(loaded, "cuLaunchKernelEx", kernel, config, InvalidValue);
  LoadedKernel &known = loaded.kernels()[kernel];
  if (__builtin_expect(config[6] > __atomic_load_n(&known.sharedLimit, __ATOMIC_ACQUIRE), 0))
    if (int32_t failed = raiseSharedLimit(loaded, kernel, config))
      return failed;
  LaunchConfig numbers = {unsigned(config[0]),
                          unsigned(config[1]),
                          unsigned(config[2]),
                          unsigned(config[3]),
                          unsigned(config[4]),
                          unsigned(config[5]),
                          unsigned(config[6]),
                          launch.stream,
                          nullptr,
                          0};
  // As one block of bytes (CU_LAUNCH_PARAM_*) they cost the driver less than one by one.
  size_t bytes = 0;
  void *block[] = {reinterpret_cast<void *>(1), params[0], reinterpret_cast<void *>(2), &bytes, nullptr};
  void **extra = nullptr;
  if (void *end = params[count]) {
    bytes = static_cast<char *>(end) - static_cast<char *>(params[0]);
    extra = block;
    params = nullptr;
  }
  int32_t code = __builtin_expect(loaded.launchFlags, 0)
                     ? launchWithAttributes(loaded, numbers, known.function, params, extra)
                     : loaded.launchKernelEx(&numbers, known.function, params, extra);
  return __builtin_expect(code, 0) ? failLaunch(loaded, "cuLaunchKernelEx", kernel, config, code) : 0;
}

/// The tensor, and its strides that are not of whole 16 bytes.
__attribute__((cold, noinline)) void addTensor(Text &text, const uint64_t *tensor) {
  text << "a tensor with the extents (";
  uint64_t rank = tensor[TilewrightTensorRank];
  for (uint64_t i = 0; i < rank; ++i)
    text << (i ? ", " : "") << tensor[TilewrightTensorExtents + rank - 1 - i];
  text << ")";
  for (uint64_t i = 1; i < rank; ++i)
    if (tensor[TilewrightTensorStrides + i] % 16)
      text << "; expected a stride of a multiple of 16 bytes in dimension " << rank - 1 - i << ", got "
           << tensor[TilewrightTensorStrides + i];
}

__attribute__((cold, noinline)) int32_t failEncode(const LoadedProgram &loaded, const uint64_t *tensor, int32_t code) {
  Text text = beginFailure(*loaded.details->driver, "cuTensorMapEncodeTiled", code);
  addTensor(text, tensor);
  return -1;
}

/// Threads copy 16 bytes at a time.
__attribute__((cold, noinline)) int32_t failCopies(const uint64_t *tensor) {
  Text text = beginFailure();
  text << "threads cannot copy 16 bytes at a time of ";
  addTensor(text, tensor);
  if (tensor[TilewrightTensorData] % 16)
    text << "; expected its first element at a multiple of 16 bytes";
  return -1;
}

/// So many bytes of zeros an element takes, in the stream's order.
constexpr size_t zeroBytes = 16;

__attribute__((noinline, cold)) int32_t provideZeros(Launch &launch) {
  if (launch.zeros)
    return 0;
  static const char zeros[zeroBytes] = {};
  const TilewrightCudaDriver &driver = *launch.loaded->details->driver;
  void *pool = tilewright::host::findPool(*launch.loaded);
  if (!pool)
    return -1;
  if (int32_t code = driver.memAllocFromPoolAsync(&launch.zeros, zeroBytes, pool, launch.stream)) {
    launch.zeros = 0;
    return failDriver(driver, "cuMemAllocFromPoolAsync", code);
  }
  int32_t code = driver.memcpyHtoDAsync(launch.zeros, zeros, zeroBytes, launch.stream);
  return code ? failDriver(driver, "cuMemcpyHtoDAsync", code) : 0;
}

__attribute__((noinline, cold)) int32_t freeZeros(const Launch &launch) {
  const TilewrightCudaDriver &driver = *launch.loaded->details->driver;
  int32_t code = driver.memFreeAsync(launch.zeros, launch.stream);
  return code ? failDriver(driver, "cuMemFreeAsync", code) : 0;
}

int32_t encodeTensorMap(void *context, void *map, const uint64_t *tensor) {
  Launch &launch = *static_cast<Launch *>(context);
  const LoadedProgram &loaded = *launch.loaded;
  if (!loaded.details->hasTMA)
    return tilewright::writeMapForThreads(map, tensor) ? 0 : failCopies(tensor);
  auto *encode = loaded.details->driver->tensorMapEncodeTiled;
  if (!encode) {
    beginFailure()
        << "no cuTensorMapEncodeTiled, which kernels with tensor maps need: install a driver for CUDA 12 or later";
    return -1;
  }
  uint64_t element[TilewrightTensorSize];
  if (tilewright::replaceEmptyTensor(tensor, element)) {
    if (int32_t failed = provideZeros(launch))
      return failed;
    element[TilewrightTensorData] = launch.zeros;
    tensor = element;
  }
  // To the driver a box is what it lies across.
  uint32_t box[5], steps[5];
  for (int32_t i = 0; i < 5; ++i) {
    steps[i] = uint32_t(tensor[TilewrightTensorSteps + i]);
    box[i] = uint32_t(tensor[TilewrightTensorBox + i]) * steps[i];
  }
  uint64_t span = tensor[TilewrightTensorSwizzle];
  int32_t swizzle = span == 128 ? 3 : span == 64 ? 2 : span == 32 ? 1 : 0; // CU_TENSOR_MAP_SWIZZLE_*
  // The driver knows the innermost stride. Lines of 256 bytes go to the cache of level 2; outside are zeros.
  constexpr int32_t interleaveNone = 0, promotion256 = 3, fillZeros = 0;
  int32_t code =
      encode(map, int32_t(tensor[TilewrightTensorElement]), uint32_t(tensor[TilewrightTensorRank]),
             reinterpret_cast<void *>(tensor[TilewrightTensorData]), tensor + TilewrightTensorExtents,
             tensor + TilewrightTensorStrides + 1, box, steps, interleaveNone, swizzle, promotion256, fillZeros);
  return code ? failEncode(loaded, tensor, code) : 0;
}

/// Runs a program with a workspace, which is the stream's for as long as its kernels run.
__attribute__((noinline)) int32_t runProgram(LoadedProgram &loaded, void *stream, void **data, const int64_t *shape,
                                             TilewrightLauncher &launcher) {
  struct Run {
    LoadedProgram &loaded;
    void **data;
    const int64_t *shape;
    TilewrightLauncher &launcher;
  };
  const char *name = loaded.details->program->signature->name;
  int64_t bytes = loaded.workspaceBytes(shape);
  if (bytes < 0) {
    beginFailure() << "the temporaries of " << name << " need more bytes of workspace than 63 bits count";
    return -1;
  }
  Run run = {loaded, data, shape, launcher};
  auto launch = [](void *context, void *workspace) {
    Run &run = *static_cast<Run *>(context);
    return run.loaded.host(run.data, run.shape, workspace, &run.launcher);
  };
  return runWithWorkspace(loaded, stream, bytes, name, launch, &run);
}

HOT inline int32_t runHere(LoadedProgram &loaded, void *stream, void **data, const int64_t *shape) {
  Launch launch = {&loaded, stream};
  TilewrightLauncher launcher = {&launch, launchKernel, encodeTensorMap};
  int32_t result = __builtin_expect(loaded.workspaceBytes != nullptr, 0)
                       ? runProgram(loaded, stream, data, shape, launcher)
                       : loaded.host(data, shape, nullptr, &launcher);
  if (__builtin_expect(launch.zeros != 0, 0)) {
    int32_t failed = freeZeros(launch);
    return result ? result : failed;
  }
  return result;
}

/// The same where another context is the thread's current one, which it is again afterwards.
__attribute__((noinline, cold)) int32_t runElsewhere(LoadedProgram &loaded, void *stream, void **data,
                                                     const int64_t *shape) {
  const TilewrightCudaDriver &driver = *loaded.details->driver;
  if (int32_t code = driver.ctxPushCurrent(loaded.context)) {
    failDriver(driver, "cuCtxPushCurrent", code);
    return raiseFailure();
  }
  int32_t result = runHere(loaded, stream, data, shape);
  void *popped;
  driver.ctxPopCurrent(&popped);
  return result ? raiseFailure() : 0;
}

} // namespace

int32_t tilewright::host::runWithWorkspace(LoadedProgram &loaded, void *stream, int64_t bytes, const char *name,
                                           int32_t (*run)(void *context, void *workspace), void *context) {
  if (bytes == 0)
    return run(context, nullptr);
  if (SharedWorkspace *shared = sharedWorkspace) {
    shared->needed = bytes > shared->needed ? bytes : shared->needed;
    if (bytes <= shared->bytes)
      return run(context, shared->begin);
    if (shared->isCapturing) {
      beginFailure() << "expected at most " << shared->bytes << " bytes of workspace, got " << bytes;
      return -1;
    }
  }
  const TilewrightCudaDriver &driver = *loaded.details->driver;
  void *pool = findPool(loaded);
  if (!pool)
    return -1;
  uint64_t workspace = 0;
  if (int32_t code = driver.memAllocFromPoolAsync(&workspace, bytes, pool, stream)) {
    beginFailure(driver, "cuMemAllocFromPoolAsync", code)
        << bytes << " bytes of workspace for " << name << " on cuda:" << loaded.device << adviceFor(code);
    return -1;
  }
  int32_t result = run(context, reinterpret_cast<void *>(workspace));
  // In the stream's order: the memory is another's once the kernels are done.
  int32_t code = driver.memFreeAsync(workspace, stream);
  return result ? result : code ? failDriver(driver, "cuMemFreeAsync", code) : 0;
}

int32_t tilewright::host::runInContext(LoadedProgram &loaded, void *stream, void **data, const int64_t *shape) {
  return runHere(loaded, stream, data, shape);
}

HOT int32_t tilewrightHostRunCuda(TilewrightProgram *program, void *const *stream, int32_t device, void **data,
                                  const int64_t *shape) {
  LoadedProgram *loaded = findLoaded(program, device);
  if (__builtin_expect(!loaded, 0))
    return -1;
  void *launchStream =
      __builtin_expect(stream != nullptr, 1) ? *stream : tilewrightFFI.getStream(TilewrightDeviceCUDA, loaded->device);
  void *current = nullptr;
  loaded->ctxGetCurrent(&current);
  if (__builtin_expect(current == loaded->context, 1))
    return __builtin_expect(runHere(*loaded, launchStream, data, shape), 0) ? raiseFailure() : 0;
  return runElsewhere(*loaded, launchStream, data, shape);
}
