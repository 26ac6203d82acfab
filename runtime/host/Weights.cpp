//===- Weights.cpp - a model's weights, mapped from their file ------------===//
//
// The file is data from outside. Nothing in it is parsed: the library has the bytes that the file begins with, which
// say what the tensors are, and the bytes of the whole. A file that differs in them is refused.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Weights.h"
#include "runtime/host/Failure.h"

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilewright::host;

namespace {

constexpr int32_t maxDevices = 64;

/// What a model's state points to.
struct Weights {
  /// The file's absolute path, or null where the library's own cannot be found.
  char *path;
  char *mapped;
  int64_t bytes;
  uint64_t onDevice[maxDevices];
  Weights *next;
};

pthread_mutex_t weightsLock = PTHREAD_MUTEX_INITIALIZER;
Weights *allWeights = nullptr;

struct WeightsGuard {
  WeightsGuard() { pthread_mutex_lock(&weightsLock); }
  ~WeightsGuard() { pthread_mutex_unlock(&weightsLock); }
};

/// The path of a file beside the library that has that address.
char *pathBeside(const void *address, const char *name) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname)
    return nullptr;
  const char *slash = std::strrchr(info.dli_fname, '/');
  size_t length = slash ? slash - info.dli_fname + 1 : 0, nameLength = std::strlen(name);
  auto *folder = static_cast<char *>(std::malloc(length + 3));
  if (!folder)
    return nullptr;
  std::memcpy(folder, info.dli_fname, length);
  std::strcpy(folder + length, length ? "" : ".");
  // A relative path is one of now, and not of the first call.
  char *whole = realpath(folder, nullptr);
  std::free(folder);
  size_t wholeLength = whole ? std::strlen(whole) : 0;
  char *path = whole ? static_cast<char *>(std::realloc(whole, wholeLength + nameLength + 2)) : nullptr;
  if (!path) {
    std::free(whole);
    return nullptr;
  }
  path[wholeLength] = '/';
  std::memcpy(path + wholeLength + 1, name, nameLength + 1);
  return path;
}

/// Maps the file. Says what is wrong, and returns false.
bool map(const TilewrightWeightFile &file, Weights &weights, Text &text) {
  if (!weights.path) {
    text << "the path of the library is not known, beside which " << file.name << " lies";
    return false;
  }
  int opened = open(weights.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened < 0) {
    text << "expected the weights in " << weights.path << ", beside the library: " << strerror(errno);
    return false;
  }
  struct stat found;
  char *mapped = nullptr;
  bool isFile = fstat(opened, &found) == 0 && S_ISREG(found.st_mode);
  if (!isFile)
    text << "expected the weights in " << weights.path << ", which is no file";
  else if (found.st_size != file.bytes)
    text << "expected the weights that the library was exported with, of " << file.bytes << " bytes, in "
         << weights.path << ", got " << int64_t(found.st_size) << " bytes";
  else if (void *made = mmap(nullptr, file.bytes, PROT_READ, MAP_PRIVATE, opened, 0); made == MAP_FAILED)
    text << "mapping " << file.bytes << " bytes of " << weights.path << ": " << strerror(errno);
  else if (std::memcmp(made, file.header, file.headerBytes) != 0) {
    munmap(made, file.bytes);
    text << "expected the weights that the library was exported with in " << weights.path
         << ", got a file with another header";
  } else
    mapped = static_cast<char *>(made);
  close(opened);
  __atomic_store_n(&weights.mapped, mapped, __ATOMIC_RELEASE);
  return mapped;
}

Weights *weightsOf(TilewrightModel &model) {
  return static_cast<Weights *>(__atomic_load_n(&model.state, __ATOMIC_ACQUIRE));
}

/// When the library is unloaded. What lies on a GPU is the process's until it ends, for calls may be under way.
__attribute__((destructor)) void unmapAll() {
  while (Weights *weights = allWeights) {
    allWeights = weights->next;
    if (weights->mapped)
      munmap(weights->mapped, weights->bytes);
    std::free(weights->path);
    std::free(weights);
  }
}

} // namespace

void tilewrightHostOpenModel(TilewrightModel *model) {
  auto *weights = static_cast<Weights *>(std::calloc(1, sizeof(Weights)));
  if (!weights)
    return;
  WeightsGuard guard;
  weights->next = allWeights;
  allWeights = weights;
  if (model->weights) {
    char message[64];
    Text text(message, sizeof(message)); // the first call says it, where it is still so
    weights->bytes = model->weights->bytes;
    weights->path = pathBeside(model, model->weights->name);
    map(*model->weights, *weights, text);
  }
  __atomic_store_n(&model->state, weights, __ATOMIC_RELEASE);
}

const char *tilewright::host::findWeights(TilewrightModel &model, const char *name) {
  Weights *weights = weightsOf(model);
  const char *mapped = weights ? __atomic_load_n(&weights->mapped, __ATOMIC_ACQUIRE) : nullptr;
  char message[1024];
  Text text(message, sizeof(message));
  text << name << ": ";
  if (!mapped && weights) {
    WeightsGuard guard;
    mapped = weights->mapped || map(*model.weights, *weights, text) ? weights->mapped : nullptr;
  } else if (!weights)
    text << "no memory when the library was loaded";
  if (mapped)
    return mapped + model.weights->headerBytes;
  const char *parts[] = {message};
  tilewrightFFI.raise("RuntimeError", parts, 1);
  return nullptr;
}

uint64_t tilewright::host::findWeightsOn(LoadedProgram &loaded, TilewrightModel &model, const char *name, void *stream,
                                         bool &isRaised) {
  const char *here = findWeights(model, name);
  isRaised = !here;
  if (!here)
    return 0;
  uint64_t &place = weightsOf(model)->onDevice[loaded.device];
  if (uint64_t there = __atomic_load_n(&place, __ATOMIC_ACQUIRE))
    return there;
  void *pool = findPool(loaded);
  if (!pool)
    return 0;
  WeightsGuard guard;
  if (place)
    return place;
  const TilewrightCudaDriver &driver = *loaded.details->driver;
  int64_t bytes = model.weights->bytes - model.weights->headerBytes;
  uint64_t there = 0;
  const char *call = "cuMemAllocFromPoolAsync";
  int32_t code = driver.memAllocFromPoolAsync(&there, bytes, pool, stream);
  if (!code) {
    code = driver.memcpyHtoDAsync(there, here, bytes, stream);
    call = "cuMemcpyHtoDAsync";
  }
  // Calls on other streams read them, too.
  if (!code) {
    code = driver.streamSynchronize(stream);
    call = "cuStreamSynchronize";
  }
  if (code) {
    beginFailure(driver, call, code) << bytes << " bytes of the weights of " << name << " on cuda:" << loaded.device
                                     << adviceFor(code)
                                     << (code == CaptureUnsupported ? "; load the model before a capture" : "");
    if (there)
      driver.memFreeAsync(there, stream);
    return 0;
  }
  __atomic_store_n(&place, there, __ATOMIC_RELEASE);
  return there;
}
