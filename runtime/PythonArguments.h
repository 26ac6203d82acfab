//===- PythonArguments.h - Python's objects as arguments ------------------===//
#ifndef TILEWRIGHT_RUNTIME_PYTHONARGUMENTS_H
#define TILEWRIGHT_RUNTIME_PYTHONARGUMENTS_H

#include "runtime/PythonCallable.h"

namespace tilewright {

/// Py_buffer of the stable ABI.
struct BufferView {
  void *data, *object;
  ptrdiff_t bytes, itemBytes;
  int readOnly, ndim;
  char *format;
  ptrdiff_t *shape, *strides, *suboffsets;
  void *internal;
};

/// The arguments of one call: of each item its value.
struct TILEWRIGHT_HIDDEN Call {
  TilewrightAny args[TilewrightCaller::maxArguments];
  TilewrightDLTensor tensors[TilewrightCaller::maxArguments];
  void *objects[TilewrightCaller::maxArguments];
  /// References to elements that no tuple of the caller's holds.
  void *kept[TilewrightCaller::maxArguments];
  int numKept = 0;
  /// Of the first tensor on a GPU.
  const ExchangeAPI *streamApi = nullptr;
  /// Of the first argument, where that has one.
  const ExchangeType *firstType = nullptr;
  int numBuffers = 0;
  static constexpr int maxBufferRank = 8;
  struct Buffer {
    BufferView view;
    int64_t shape[maxBufferRank], strides[maxBufferRank];
  };
  // Made where an argument is NumPy's, for torch's have no use for them.
  Buffer *buffers = nullptr;
  // Made where there are groups: of each one the array that the compiled function takes it as.
  TilewrightArray *groups = nullptr;

  ~Call() {
    for (int i = 0; i < numBuffers; ++i)
      python.releaseBuffer(&buffers[i].view);
    for (int i = 0; i < numKept; ++i)
      python.decRef(kept[i]);
    delete[] buffers;
    delete[] groups;
  }

  bool read(const TilewrightCaller &caller, int position, void *object);
  bool readNumber(int position, void *object, void *type);
  bool readPointer(int position, void *object, void *type);
  bool readGroup(const TilewrightCaller &caller, int position, void *object, void *type);
  bool readElement(const TilewrightCaller &caller, int position, void *element);
  bool readBuffer(const TilewrightCaller &caller, int position, void *object);
};

} // namespace tilewright

#endif
