// The library from C++, built for cpu or managed: with its header, libtvm_ffi and nothing else.
//   g++ -std=c++17 with_cpp.cpp ./kernels.so $(tvm-ffi-config --cxxflags --ldflags --libs) -o with_cpp
//   LD_LIBRARY_PATH=$(tvm-ffi-config --libdir) ./with_cpp
#include "kernels.h"

#include <cstdio>
#include <cstdlib>

// Row-major, on this machine; the functions ask for memory that is aligned to 16 bytes.
template <typename T> struct Array {
  DLTensor tensor{};
  int64_t shape[1];
  T *data;

  Array(int64_t length, DLDataTypeCode code) : shape{length} {
    data = static_cast<T *>(std::aligned_alloc(64, (length * sizeof(T) + 63) / 64 * 64));
    tensor.data = data, tensor.shape = shape, tensor.ndim = 1;
    tensor.device = {kDLCPU, 0};
    tensor.dtype = {static_cast<uint8_t>(code), 8 * sizeof(T), 1};
  }
  Array(const Array &) = delete;
  ~Array() { std::free(data); }
};

void print_error() {
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  auto *cell = reinterpret_cast<TVMFFIErrorCell *>(static_cast<char *>(error) + sizeof(TVMFFIObject));
  std::printf("%.*s: %.*s\n", int(cell->kind.size), cell->kind.data, int(cell->message.size), cell->message.data);
  TVMFFIObjectDecRef(error);
}

template <typename T> bool try_add(int64_t length, DLDataTypeCode code) {
  Array<T> a(length, code), b(length, code), c(length, code);
  for (int64_t i = 0; i < length; ++i)
    a.data[i] = T(i), b.data[i] = T(2);
  if (add(&a.tensor, &b.tensor, &c.tensor))
    return print_error(), false;
  for (int64_t i = 0; i < length; ++i)
    if (c.data[i] != T(i + 2))
      return false;
  return true;
}

int main() {
  if (!try_add<float>(1000, kDLFloat) || !try_add<float>(1001, kDLFloat) || !try_add<int32_t>(10, kDLInt))
    return 1;
  if (try_add<double>(10, kDLFloat))
    return 1; // none is for double: the error says what there is
  std::puts("right");
}
