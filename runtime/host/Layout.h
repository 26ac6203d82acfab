//===- Layout.h - where the elements of a tensor lie ----------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_LAYOUT_H
#define TILEWRIGHT_RUNTIME_HOST_LAYOUT_H

#include "runtime/host/Tensor.h"

namespace tilewright::host {

/// The stride of a dimension in elements: strides that are null are row-major.
inline int64_t strideOf(const TilewrightDLTensor &tensor, int32_t dim) {
  if (tensor.strides)
    return tensor.strides[dim];
  int64_t stride = 1;
  for (int32_t inner = tensor.ndim; --inner > dim;)
    stride *= tensor.shape[inner];
  return stride;
}

/// How many elements there are from the first to the last of an array, with those between them that are not its own.
inline int64_t countSpan(int32_t rank, const int64_t *shape, const int64_t *strides) {
  int64_t span = 1;
  for (int32_t dim = 0; dim < rank; ++dim) {
    if (shape[dim] == 0)
      return 0;
    span += (shape[dim] - 1) * strides[dim];
  }
  return span;
}

int64_t countElements(const TilewrightDLTensor &tensor);

bool isRowMajor(const TilewrightDLTensor &tensor);

inline uint64_t addressOf(const TilewrightDLTensor &tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data) + tensor.byteOffset;
}

/// Whether no two elements are one: each stride goes beyond all that the smaller ones reach.
bool areElementsApart(const TilewrightDLTensor &tensor);

/// How many bytes there are from the first to the last of a tensor's, with those between them that are not its own. Of
/// strides that are not negative.
int64_t countSpanBytes(const TilewrightDLTensor &tensor);

/// Whether two tensors whose memory interleaves have no byte in common, as those have that are columns of one matrix:
/// within rows at one distance the bytes of one lie beside the other's.
bool areBesideEachOther(const TilewrightDLTensor &a, const TilewrightDLTensor &b);

} // namespace tilewright::host

#endif
