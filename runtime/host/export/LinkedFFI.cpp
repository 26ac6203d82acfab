//===- LinkedFFI.cpp - libtvm_ffi, as an exported library links it --------===//
#include "runtime/host/ABI.h"
#include "runtime/host/BigInt.h"
#include "runtime/host/Raise.h"

extern "C" {
int TVMFFIErrorCreate(const tilewright::host::TextBytes *kind, const tilewright::host::TextBytes *message,
                      const tilewright::host::TextBytes *backtrace, void **error);
void TVMFFIErrorSetRaised(void *error);
void *TVMFFIEnvGetStream(int32_t deviceType, int32_t deviceId);
int TVMFFIStringFromByteArray(const void *bytes, TilewrightAny *result);
int TVMFFIEnvTensorAlloc(TilewrightDLTensor *prototype, void **tensor);
int TVMFFIObjectDecRef(void *object);
int TVMFFIFunctionGetGlobal(const void *name, void **function);
int TVMFFIFunctionCall(void *function, const TilewrightAny *args, int32_t count, TilewrightAny *result);
void *TVMFFIEnvGetDLPackManagedTensorAllocator();
int TVMFFITensorFromDLPackVersioned(void *managed, int32_t alignment, int32_t contiguous, void **tensor);
/// Of later versions.
__attribute__((weak)) tilewright::host::WordBytes TVMFFIBigIntGetContentByteArray(const TilewrightAny *value);

static int32_t readLinkedBigInt(const TilewrightAny *value, uint64_t *bits) {
  tilewright::host::bigIntContent = TVMFFIBigIntGetContentByteArray;
  return tilewright::host::bigIntContent && tilewright::host::readBigInt(value, bits);
}

static void raiseLinked(const char *kind, const char **parts, int32_t count) {
  tilewright::host::createError = TVMFFIErrorCreate;
  tilewright::host::setRaised = TVMFFIErrorSetRaised;
  tilewright::host::raiseError(kind, parts, count);
}

TilewrightFFI tilewrightFFI = {raiseLinked,
                               TVMFFIEnvGetStream,
                               TVMFFIStringFromByteArray,
                               TVMFFIEnvTensorAlloc,
                               TVMFFIObjectDecRef,
                               TVMFFIFunctionGetGlobal,
                               TVMFFIFunctionCall,
                               TVMFFIEnvGetDLPackManagedTensorAllocator,
                               readLinkedBigInt,
                               TVMFFITensorFromDLPackVersioned};
}
