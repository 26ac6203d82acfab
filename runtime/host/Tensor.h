//===- Tensor.h - tensors as arguments of tvm-ffi's ABI -------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_TENSOR_H
#define TILEWRIGHT_RUNTIME_HOST_TENSOR_H

#include "runtime/host/ABI.h"

#include <cstring>

namespace tilewright::host {

/// The tensor that an argument is, or null.
inline const TilewrightDLTensor *tensorOf(const TilewrightAny &any) {
  if (!any.pointer)
    return nullptr;
  if (any.type == TilewrightTypeDLTensor)
    return static_cast<const TilewrightDLTensor *>(any.pointer);
  if (any.type == TilewrightTypeTensor)
    return reinterpret_cast<const TilewrightDLTensor *>(static_cast<const char *>(any.pointer) +
                                                        TilewrightTensorOffset);
  return nullptr;
}

/// The device as a check compares it: pinned memory is the cpu's, managed memory a GPU's.
inline int32_t kindOf(int32_t device) {
  return device == TilewrightDeviceCUDAHost  ? +TilewrightDeviceCPU
         : device == TilewrightDeviceManaged ? +TilewrightDeviceCUDA
                                             : device;
}

inline bool sameText(const char *a, const char *b) { return a == b || std::strcmp(a, b) == 0; }

} // namespace tilewright::host

#endif
