//===- Layout.cpp - where the elements of a tensor lie --------------------===//
#include "runtime/host/Layout.h"

namespace {

/// How many bytes there are from the first to the last of a tensor's, in all of its dimensions but those with that
/// step.
int64_t countBytesWithout(const TilewrightDLTensor &tensor, int64_t without) {
  int64_t span = tilewright::host::countElements(tensor) ? 1 : 0, bytes = tensor.bits / 8;
  for (int32_t dim = 0; span && dim < tensor.ndim; ++dim)
    if (int64_t stride = tilewright::host::strideOf(tensor, dim); tensor.shape[dim] > 1 && stride * bytes != without)
      span += (tensor.shape[dim] - 1) * stride;
  return span * bytes;
}

/// The largest distance in bytes from one element of a tensor to the next along a dimension.
int64_t largestStep(const TilewrightDLTensor &tensor) {
  int64_t largest = 0;
  for (int32_t dim = 0; dim < tensor.ndim; ++dim)
    if (int64_t step = tilewright::host::strideOf(tensor, dim) * (tensor.bits / 8);
        tensor.shape[dim] > 1 && step > largest)
      largest = step;
  return largest;
}

} // namespace

int64_t tilewright::host::countElements(const TilewrightDLTensor &tensor) {
  int64_t count = 1;
  for (int32_t dim = 0; dim < tensor.ndim; ++dim)
    count *= tensor.shape[dim];
  return count;
}

bool tilewright::host::isRowMajor(const TilewrightDLTensor &tensor) {
  if (!tensor.strides)
    return true;
  int64_t expected = 1;
  bool row = true;
  for (int32_t dim = tensor.ndim; dim-- > 0;) {
    int64_t extent = tensor.shape[dim];
    if (extent == 0)
      return true;
    row &= extent == 1 || tensor.strides[dim] == expected;
    expected *= extent;
  }
  return row;
}

bool tilewright::host::areElementsApart(const TilewrightDLTensor &tensor) {
  int64_t span = 1, reached = 0;
  for (;;) {
    // The smallest stride that is not yet looked at. There are few dimensions, and those of one element do not count.
    int64_t smallest = INT64_MAX, steps = 0;
    int32_t count = 0;
    for (int32_t dim = 0; dim < tensor.ndim; ++dim) {
      int64_t stride = strideOf(tensor, dim);
      if (tensor.shape[dim] <= 1 || (reached && stride <= reached) || stride > smallest)
        continue;
      count = stride == smallest ? count + 1 : 1;
      smallest = stride, steps = tensor.shape[dim] - 1;
    }
    if (!count)
      return true;
    if (count > 1 || smallest < span)
      return false;
    span += steps * smallest;
    reached = smallest;
  }
}

int64_t tilewright::host::countSpanBytes(const TilewrightDLTensor &tensor) {
  return countBytesWithout(tensor, /*without=*/-1);
}

bool tilewright::host::areBesideEachOther(const TilewrightDLTensor &a, const TilewrightDLTensor &b) {
  int64_t first = largestStep(a), second = largestStep(b), row = first > second ? first : second;
  if (!row)
    return false;
  uint64_t from = addressOf(a), to = addressOf(b);
  int64_t distance = from <= to ? (to - from) % row : (row - int64_t((from - to) % row)) % row;
  return distance >= countBytesWithout(a, row) && distance + countBytesWithout(b, row) <= row;
}
