//===- DLPack.h - arrays handed out by DLPack -----------------------------===//
//
// The structs of dlpack.h that the project's own arrays are handed out in. The deleters are C, for a consumer may call
// them from any thread and after the interpreter has gone; what they need of Python comes as function pointers, so that
// the library depends on no version of it.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_DLPACK_H
#define TILEWRIGHT_RUNTIME_DLPACK_H

#include <cstdint>

extern "C" {

struct TilewrightDLTensor {
  void *data;
  int32_t deviceType, deviceId;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};

/// The functions of Python's stable ABI that handing out takes.
struct TilewrightPython {
  int (*isInitialized)();
  int (*gilEnsure)();
  void (*gilRelease)(int);
  void (*incRef)(void *);
  void (*decRef)(void *);
  void *(*capsuleNew)(void *pointer, const char *name, void (*destructor)(void *));
  int (*capsuleIsValid)(void *capsule, const char *name);
  void *(*capsuleGetPointer)(void *capsule, const char *name);
};

/// A new capsule of `tensor`, whose shape and strides are copied; `owner` lives until the consumer is done. `versioned`
/// makes a DLManagedTensorVersioned of DLPack 1.0, with `flags`. Called with the GIL held.
void *tilewrightDLPackCapsule(const TilewrightPython *python, const TilewrightDLTensor *tensor, void *owner,
                              int32_t versioned, uint64_t flags);
}

#endif
