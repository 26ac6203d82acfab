//===- LoadedProgram.cpp - a program's kernels put into a GPU -------------===//
#include "runtime/host/LoadedProgram.h"
#include "runtime/host/Failure.h"

#include <cstdlib>

using namespace tilewright::host;

namespace {

enum : int32_t {
  CapabilityMajor = 75, // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  CapabilityMinor = 76,
  ReleaseThreshold = 4, // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
};
constexpr uint64_t defaultSharedLimit = 48 << 10;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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

void addOtherArchitecture(Text &text, const TilewrightCudaDriver &driver, const TilewrightProgram &program,
                          int32_t device, int32_t major, int32_t minor) {
  char name[256] = "";
  driver.deviceGetName(name, sizeof(name), device);
  text << program.signature->name << " is compiled for ";
  for (int32_t i = 0; i < program.imageCount; ++i)
    text << (i ? ", " : "") << program.images[i].arch;
  text << ", and cuda:" << device << " (" << name << ") is sm_" << major << minor
       << ": build it with target=tw.Target(\"cuda\", "
       << "arch=\"sm_" << major << minor << "\")";
}

/// Fills in what needs the context to be current.
int32_t loadModule(LoadedProgram &loaded, const TilewrightImage &image, int32_t major, int32_t minor) {
  LoadedDetails &details = *loaded.details;
  const TilewrightCudaDriver &driver = *details.driver;
  if (int32_t code = driver.moduleLoadData(&details.module, image.data)) {
    Text text = beginFailure(driver, "cuModuleLoadData", code);
    if (code == NoBinaryForGPU)
      addOtherArchitecture(text, driver, *details.program, loaded.device, major, minor);
    else
      text << "loading " << details.program->signature->name << " (" << image.arch << ") into cuda:" << loaded.device;
    return -1;
  }
  for (int32_t i = 0; i < loaded.kernelCount; ++i) {
    const char *name = details.program->kernels[i];
    if (int32_t code = driver.moduleGetFunction(&details.functions[i], details.module, name)) {
      beginFailure(driver, "cuModuleGetFunction", code) << name;
      return -1;
    }
    loaded.kernels()[i] = {details.functions[i], defaultSharedLimit};
  }
  return 0;
}

void destroy(LoadedProgram *loaded) {
  std::free(loaded->details->functions);
  std::free(loaded->details);
  std::free(loaded);
}

LoadedProgram *create(const TilewrightCudaDriver &driver, TilewrightProgram &program, int32_t device) {
  size_t count = program.kernelCount > 0 ? program.kernelCount : 1;
  // Of whole lines, as aligned_alloc wants it.
  size_t bytes = (sizeof(LoadedProgram) + count * sizeof(LoadedKernel) + 63) / 64 * 64;
  void *memory = std::aligned_alloc(alignof(LoadedProgram), bytes);
  auto *loaded = static_cast<LoadedProgram *>(std::memset(memory, 0, bytes));
  loaded->ctxGetCurrent = driver.ctxGetCurrent;
  loaded->launchKernelEx = driver.launchKernelEx;
  loaded->host = program.host;
  loaded->workspaceBytes = program.workspaceBytes;
  loaded->device = device;
  loaded->kernelCount = program.kernelCount;
  loaded->launchFlags = program.launchFlags;
  loaded->details = static_cast<LoadedDetails *>(std::calloc(1, sizeof(LoadedDetails)));
  loaded->details->driver = &driver;
  loaded->details->program = &program;
  loaded->details->functions = static_cast<void **>(std::calloc(count, sizeof(void *)));
  return loaded;
}

/// Loads a program's kernels, or returns null with a failure begun.
LoadedProgram *load(const TilewrightCudaDriver &driver, TilewrightProgram &program, int32_t device) {
  int32_t count = 0, major = 0, minor = 0;
  if (int32_t code = driver.deviceGetCount(&count))
    return failDriver(driver, "cuDeviceGetCount", code), nullptr;
  if (device < 0 || device >= count || device >= maxDevices) {
    beginFailure() << "no GPU cuda:" << device << ": the driver has " << count << " of them";
    return nullptr;
  }
  int32_t code = driver.deviceGetAttribute(&major, CapabilityMajor, device);
  if (!code)
    code = driver.deviceGetAttribute(&minor, CapabilityMinor, device);
  if (code)
    return failDriver(driver, "cuDeviceGetAttribute", code), nullptr;
  // A model has none of its own, for its groups have them.
  const TilewrightImage *image = chooseImage(program, major, minor);
  if (!image && program.kernelCount) {
    Text text = beginFailure();
    addOtherArchitecture(text, driver, program, device, major, minor);
    return nullptr;
  }
  LoadedProgram *loaded = create(driver, program, device);
  // The primary context is kept for the life of the process: arrays of other libraries live in it as well.
  if ((code = driver.primaryCtxRetain(&loaded->context, device)) || (code = driver.ctxPushCurrent(loaded->context))) {
    failDriver(driver, "cuDevicePrimaryCtxRetain", code);
    destroy(loaded);
    return nullptr;
  }
  loaded->details->hasTMA = major >= 9;
  int32_t failed = image ? loadModule(*loaded, *image, major, minor) : 0;
  if (failed && loaded->details->module)
    driver.moduleUnload(loaded->details->module);
  void *popped;
  driver.ctxPopCurrent(&popped);
  if (failed) {
    destroy(loaded);
    return nullptr;
  }
  return loaded;
}

/// What a program's state points to, or null.
LoadedProgram *firstOf(const TilewrightProgram &program) {
  return static_cast<LoadedProgram *>(__atomic_load_n(&program.state, __ATOMIC_ACQUIRE));
}

/// The program in a GPU, or null where it has not been loaded into that.
LoadedProgram *findInDevice(const TilewrightProgram &program, int32_t device) {
  LoadedProgram *first = firstOf(program);
  if (!first || uint32_t(device) >= uint32_t(maxDevices))
    return nullptr;
  return __atomic_load_n(&first->details->byDevice[device], __ATOMIC_ACQUIRE);
}

/// The same under the lock, loaded if need be, or null with a failure begun.
LoadedProgram *loadInto(const TilewrightCudaDriver &driver, TilewrightProgram &program, int32_t device) {
  LoadGuard guard;
  if (LoadedProgram *loaded = findInDevice(program, device)) // by another thread meanwhile
    return loaded;
  LoadedProgram *loaded = load(driver, program, device), *first = firstOf(program);
  if (!loaded)
    return nullptr;
  loaded->details->byDevice = first ? first->details->byDevice
                                    : static_cast<LoadedProgram **>(std::calloc(maxDevices, sizeof(LoadedProgram *)));
  __atomic_store_n(&loaded->details->byDevice[device], loaded, __ATOMIC_RELEASE);
  if (!first)
    __atomic_store_n(&program.state, loaded, __ATOMIC_RELEASE);
  return loaded;
}

} // namespace

tilewright::host::LoadGuard::LoadGuard() { pthread_mutex_lock(&lock); }
tilewright::host::LoadGuard::~LoadGuard() { pthread_mutex_unlock(&lock); }

LoadedProgram *tilewright::host::findLoadedElsewhere(TilewrightProgram *program, int32_t device) {
  const TilewrightCudaDriver *driver = nullptr;
  if (device == TilewrightCurrentDevice) {
    driver = findDriver();
    if (driver && driver->ctxGetDevice(&device))
      device = 0;
  }
  if (LoadedProgram *loaded = findInDevice(*program, device))
    return loaded;
  driver = findDriver();
  LoadedProgram *loaded = driver ? loadInto(*driver, *program, device) : nullptr;
  if (!loaded)
    raiseFailure();
  return loaded;
}

/// One for each GPU, which keeps what it was given back.
void *tilewright::host::findPool(LoadedProgram &loaded) {
  LoadedDetails &details = *loaded.details;
  if (void *pool = __atomic_load_n(&details.pool, __ATOMIC_ACQUIRE))
    return pool;
  LoadGuard guard;
  const TilewrightCudaDriver &driver = *details.driver;
  static void *pools[maxDevices];
  static const TilewrightCudaDriver *owner = nullptr;
  if (owner != &driver) {
    owner = &driver;
    std::memset(pools, 0, sizeof(pools));
  }
  void *&pool = pools[loaded.device];
  if (!pool) {
    MemPoolProperties properties;
    properties.locationId = loaded.device;
    if (int32_t code = driver.memPoolCreate(&pool, &properties))
      return failDriver(driver, "cuMemPoolCreate", code), nullptr;
    uint64_t all = UINT64_MAX;
    driver.memPoolSetAttribute(pool, ReleaseThreshold, &all);
  }
  __atomic_store_n(&details.pool, pool, __ATOMIC_RELEASE);
  return pool;
}

int32_t tilewrightHostLoadCuda(TilewrightProgram *program, int32_t device) {
  return findLoaded(program, device) ? 0 : -1;
}

int32_t tilewrightHostLoad(TilewrightProgram *program, const TilewrightAny *args, int32_t count) {
  if (count <= 0)
    return tilewrightHostLoadCuda(program, 0);
  if (count == 1 && args[0].type == 1 && args[0].integer >= 0 && args[0].integer < maxDevices)
    return tilewrightHostLoadCuda(program, int32_t(args[0].integer));
  const char *parts[] = {program->signature->name, "_load: expected the number of a GPU, or no argument"};
  tilewrightFFI.raise("TypeError", parts, 2);
  return -1;
}

void *const *tilewrightHostFunctionsCuda(const TilewrightProgram *program, int32_t device) {
  LoadedProgram *loaded = findInDevice(*program, device);
  return loaded ? loaded->details->functions : nullptr;
}

void tilewrightHostUnloadCuda(TilewrightProgram *program) {
  LoadedProgram *first = firstOf(*program);
  if (!first)
    return;
  program->state = nullptr;
  LoadedProgram **byDevice = first->details->byDevice;
  for (int32_t device = 0; device < maxDevices; ++device) {
    LoadedProgram *loaded = byDevice[device];
    if (!loaded)
      continue;
    // Waits for its kernels. In a context that has failed the module is gone with it, so no code is looked at.
    const TilewrightCudaDriver &driver = *loaded->details->driver;
    void *popped;
    driver.ctxPushCurrent(loaded->context);
    driver.moduleUnload(loaded->details->module);
    driver.ctxPopCurrent(&popped);
    destroy(loaded);
  }
  std::free(byDevice);
}
