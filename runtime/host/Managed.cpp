//===- Managed.cpp - programs on a GPU for arrays of this machine's -------===//
#include "runtime/host/Failure.h"
#include "runtime/host/LoadedProgram.h"

using namespace tilewright::host;

namespace {

/// What the arrays of one call have on the GPU: one allocation, in the order of the arguments.
struct Arrays {
  LoadedProgram &loaded;
  void *stream;
  void **here;
  const int64_t *shape;
  void **there;
  uint64_t memory = 0;

  const TilewrightCudaDriver &driver() const { return *loaded.details->driver; }
  const TilewrightSignature &signature() const { return *loaded.details->program->signature; }

  /// Calls `visit(argument, position, offset, bytes)` of each. Returns the bytes of all, or -1 where a visit is not 0.
  template <typename Visit> int64_t forEach(Visit visit) const {
    constexpr int64_t alignment = 256;
    const int64_t *extents = shape;
    int64_t offset = 0;
    for (int32_t i = 0; i < signature().argumentCount; ++i) {
      const TilewrightArgument &argument = signature().arguments[i];
      // A number goes to the kernels from its place among the extents.
      bool isNumber = argument.kind == TilewrightIsNumber;
      extents += isNumber;
      int64_t bytes = isNumber ? 0 : countBytes(argument, extents);
      if (argument.optional && !here[i])
        bytes = 0;
      if (visit(argument, i, offset, bytes))
        return -1;
      offset += (bytes + alignment - 1) / alignment * alignment;
    }
    return offset;
  }

  int32_t fail(const char *call, int32_t code, const TilewrightArgument &argument, int64_t bytes) const {
    beginFailure(driver(), call, code) << bytes << " bytes of " << argument.name << " of " << signature().name
                                       << " on cuda:" << loaded.device << adviceFor(code);
    return -1;
  }

  int32_t allocate() {
    int64_t all = forEach([](const TilewrightArgument &, int32_t, int64_t, int64_t) { return 0; });
    if (all) {
      void *pool = findPool(loaded);
      if (!pool)
        return -1;
      if (int32_t code = driver().memAllocFromPoolAsync(&memory, all, pool, stream)) {
        beginFailure(driver(), "cuMemAllocFromPoolAsync", code)
            << all << " bytes for the arrays of " << signature().name << " on cuda:" << loaded.device
            << adviceFor(code);
        return -1;
      }
    }
    forEach([&](const TilewrightArgument &, int32_t i, int64_t offset, int64_t) {
      there[i] = reinterpret_cast<void *>(memory + offset);
      return 0;
    });
    return 0;
  }

  int32_t copyThere() const {
    int64_t copied = forEach([&](const TilewrightArgument &argument, int32_t i, int64_t offset, int64_t bytes) {
      if (argument.output || !bytes)
        return 0;
      int32_t code = driver().memcpyHtoDAsync(memory + offset, here[i], bytes, stream);
      return code ? fail("cuMemcpyHtoDAsync", code, argument, bytes) : 0;
    });
    return copied < 0 ? -1 : 0;
  }

  int32_t copyBack() const {
    int64_t copied = forEach([&](const TilewrightArgument &argument, int32_t i, int64_t offset, int64_t bytes) {
      if (!argument.output || !bytes)
        return 0;
      int32_t code = driver().memcpyDtoHAsync(here[i], memory + offset, bytes, stream);
      return code ? fail("cuMemcpyDtoHAsync", code, argument, bytes) : 0;
    });
    return copied < 0 ? -1 : 0;
  }

  int32_t free() const {
    int32_t code = memory ? driver().memFreeAsync(memory, stream) : 0;
    return code ? failDriver(driver(), "cuMemFreeAsync", code) : 0;
  }

  int32_t wait() const {
    int32_t code = driver().streamSynchronize(stream);
    if (code)
      beginFailure(driver(), "cuStreamSynchronize", code)
          << "while " << signature().name << " ran on cuda:" << loaded.device << adviceFor(code);
    return code ? -1 : 0;
  }

  int32_t run() {
    if (allocate())
      return -1;
    bool failed = copyThere() || runInContext(loaded, stream, there, shape) || copyBack();
    // What is under way reads the caller's arrays, also where something failed after it; the first failure is told.
    if (failed) {
      if (memory)
        driver().memFreeAsync(memory, stream);
      driver().streamSynchronize(stream);
      return -1;
    }
    return free() || wait() ? -1 : 0;
  }
};

} // namespace

int32_t tilewrightHostRunManaged(TilewrightProgram *program, void *const *stream, int32_t device, void **data,
                                 const int64_t *shape) {
  const TilewrightCudaDriver *driver = findDriver();
  if (!driver)
    return raiseFailure();
  if (!stream && driver->ctxGetDevice(&device))
    device = 0;
  LoadedProgram *loaded = findLoaded(program, device);
  if (!loaded)
    return -1;
  void *launchStream = stream ? *stream : tilewrightFFI.getStream(TilewrightDeviceCUDA, device);
  if (int32_t code = driver->ctxPushCurrent(loaded->context)) {
    failDriver(*driver, "cuCtxPushCurrent", code);
    return raiseFailure();
  }
  auto **there = static_cast<void **>(__builtin_alloca(sizeof(void *) * (program->signature->argumentCount + 1)));
  Arrays arrays = {*loaded, launchStream, data, shape, there};
  int32_t failed = arrays.run();
  void *popped;
  driver->ctxPopCurrent(&popped);
  return failed ? raiseFailure() : 0;
}
