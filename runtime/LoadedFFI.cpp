//===- LoadedFFI.cpp - libtvm_ffi, found at run time ----------------------===//
//
// In process libtvm_ffi is the one that Python's package has loaded; this library is not linked against it, for the
// opt tool and a program that only compiles need none.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/ABI.h"
#include "runtime/host/BigInt.h"
#include "runtime/host/Raise.h"

#include <dlfcn.h>

#include <cstring>

extern "C" {
TilewrightFFI tilewrightFFI = {};

/// Finds the functions in libtvm_ffi at `path`. Returns what went wrong, or null.
const char *tilewrightOpenFFI(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return dlerror();
  struct {
    void *slot;
    const char *name;
  } functions[] = {{&tilewright::host::createError, "TVMFFIErrorCreate"},
                   {&tilewright::host::setRaised, "TVMFFIErrorSetRaised"},
                   {&tilewrightFFI.getStream, "TVMFFIEnvGetStream"},
                   {&tilewrightFFI.makeString, "TVMFFIStringFromByteArray"},
                   {&tilewrightFFI.allocateTensor, "TVMFFIEnvTensorAlloc"},
                   {&tilewrightFFI.decRef, "TVMFFIObjectDecRef"},
                   {&tilewrightFFI.findGlobal, "TVMFFIFunctionGetGlobal"},
                   {&tilewrightFFI.callFunction, "TVMFFIFunctionCall"},
                   {&tilewrightFFI.getAllocator, "TVMFFIEnvGetDLPackManagedTensorAllocator"}};
  for (auto &function : functions) {
    void *found = dlsym(handle, function.name);
    if (!found)
      return function.name;
    std::memcpy(function.slot, &found, sizeof(found));
  }
  tilewrightFFI.raise = tilewright::host::raiseError;
  // Of later versions.
  if (void *found = dlsym(handle, "TVMFFIBigIntGetContentByteArray")) {
    std::memcpy(&tilewright::host::bigIntContent, &found, sizeof(found));
    tilewrightFFI.readBigInt = tilewright::host::readBigInt;
  }
  return nullptr;
}
}
