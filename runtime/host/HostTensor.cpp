//===- HostTensor.cpp - results in this machine's memory ------------------===//
//
// Where the environment of tvm-ffi has no allocator, as in a process with neither torch nor one set, a model's outputs
// are allocated here.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Outputs.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace tilewright::host;

namespace {

/// DLManagedTensorVersioned of DLPack 1.
struct ManagedTensor {
  uint32_t major, minor;
  void *context;
  void (*deleter)(ManagedTensor *);
  uint64_t flags;
  TilewrightDLTensor tensor;
};

struct HostTensor {
  ManagedTensor managed;
  int64_t shape[mostRank], strides[mostRank];
};

void destroy(ManagedTensor *managed) {
  std::free(managed->tensor.data);
  std::free(managed);
}

/// The tensors may outlive their library, whose code frees them: it stays.
void keepLibrary() {
  static bool isKept = false;
  Dl_info info;
  if (__atomic_load_n(&isKept, __ATOMIC_RELAXED) || !dladdr(&isKept, &info))
    return;
  dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  __atomic_store_n(&isKept, true, __ATOMIC_RELAXED);
}

} // namespace

int32_t tilewright::host::allocateOnHost(const TilewrightSignature &signature, const TilewrightArgument &argument,
                                         const int64_t *shape, TilewrightAny &made) {
  int64_t bytes = (argument.dtype >> 8 & 0xff) / 8;
  for (int32_t dim = 0; dim < argument.rank; ++dim)
    bytes *= shape[dim];
  void *data = tilewrightHostAllocate(signature.name, bytes);
  auto *tensor = data ? static_cast<HostTensor *>(std::calloc(1, sizeof(HostTensor))) : nullptr;
  if (!tensor) {
    if (data) {
      const char *parts[] = {signature.name, ": no memory for an output"};
      tilewrightFFI.raise("MemoryError", parts, 2);
    }
    std::free(data);
    return -1;
  }
  int64_t stride = 1;
  for (int32_t dim = argument.rank; dim-- > 0;) {
    tensor->shape[dim] = shape[dim];
    tensor->strides[dim] = stride;
    stride *= shape[dim];
  }
  tensor->managed = {1,
                     0,
                     nullptr,
                     destroy,
                     0,
                     {data, TilewrightDeviceCPU, 0, argument.rank, uint8_t(argument.dtype),
                      uint8_t(argument.dtype >> 8), 1, tensor->shape, tensor->strides, 0}};
  if (int32_t failed = tilewrightFFI.adoptTensor(&tensor->managed, 0, 0, &made.pointer)) {
    destroy(&tensor->managed);
    return failed;
  }
  keepLibrary();
  made.type = TilewrightTypeTensor;
  return 0;
}
