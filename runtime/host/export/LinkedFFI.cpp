//===- LinkedFFI.cpp - libtvm_ffi, as an exported library links it --------===//
#include "runtime/host/ABI.h"

extern "C" {
void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t count);
void *TVMFFIEnvGetStream(int32_t deviceType, int32_t deviceId);
int TVMFFIStringFromByteArray(const void *bytes, TilewrightAny *result);
int TVMFFIEnvTensorAlloc(TilewrightDLTensor *prototype, void **tensor);
int TVMFFIObjectDecRef(void *object);
int TVMFFIFunctionGetGlobal(const void *name, void **function);
int TVMFFIFunctionCall(void *function, const TilewrightAny *args, int32_t count, TilewrightAny *result);
void *TVMFFIEnvGetDLPackManagedTensorAllocator();

TilewrightFFI tilewrightFFI = {TVMFFIErrorSetRaisedFromCStrParts, TVMFFIEnvGetStream, TVMFFIStringFromByteArray,
                               TVMFFIEnvTensorAlloc,              TVMFFIObjectDecRef, TVMFFIFunctionGetGlobal,
                               TVMFFIFunctionCall,                TVMFFIEnvGetDLPackManagedTensorAllocator};
}
