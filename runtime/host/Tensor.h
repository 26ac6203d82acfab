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
    return reinterpret_cast<const TilewrightDLTensor *>(static_cast<const char *>(any.pointer) + TilewrightTensorOffset);
  return nullptr;
}

inline bool sameText(const char *a, const char *b) { return a == b || std::strcmp(a, b) == 0; }

} // namespace tilewright::host

#endif
