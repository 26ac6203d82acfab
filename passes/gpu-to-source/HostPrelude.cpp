//===- HostPrelude.cpp - what printed host programs need ------------------===//
#include "passes/gpu-to-source/HostPrelude.h"

namespace tilewright::source {

const char *const hostPrelude = R"cpp(#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

/// DLPack's numbers for the kinds of elements, and for the places of memory.
enum Kind { Int = 0, UInt = 1, Float = 2, BFloat = 4, Bool = 6, Float8E4M3FN = 10, Float8E5M2 = 12 };
enum Place { ThisMachine = 1, GPU = 2, ThisMachinePinned = 3, GPUManaged = 13 };

/// An array, laid out as DLPack's DLTensor.
struct Tensor {
  void *data;
  struct {
    int32_t type, index;  // the type is a Place
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;  // the code is a Kind
    uint16_t lanes;
  } dtype;
  const int64_t *shape, *strides;  // in elements; without strides it is row-major
  uint64_t byte_offset;
};

namespace {

void check(CUresult result, const std::string &call) {
  if (result == CUDA_SUCCESS) return;
  const char *name = nullptr;
  cuGetErrorName(result, &name);
  throw std::runtime_error(call + ": " + (name ? name : "unknown error") + " (" + std::to_string(result) + ")");
}

template <typename T> T ceil_div(T a, T b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }
template <typename T> T floor_div(T a, T b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
template <typename T> T floor_mod(T a, T b) { return a - floor_div(a, b) * b; }

[[noreturn]] void refuse(const char *function, int number, const char *name, const std::string &why) {
  throw std::invalid_argument(std::string(function) + ": argument " + std::to_string(number) + " (" + name + "): " + why);
}

/// An array while it is checked: what is wrong names it, and what was given.
struct Argument {
  const char *function;
  int number;
  const char *name;
  const Tensor &given;

  [[noreturn]] void fail(const std::string &why) const { refuse(function, number, name, why); }
  std::string shape() const {
    std::string text = "(";
    for (int dim = 0; dim < given.ndim; ++dim) text += (dim ? ", " : "") + std::to_string(given.shape[dim]);
    return text + (given.ndim == 1 ? ",)" : ")");
  }
  char *data() const { return static_cast<char *>(given.data) + given.byte_offset; }
  int64_t bytes() const {
    int64_t count = given.dtype.bits / 8;
    for (int dim = 0; dim < given.ndim; ++dim) count *= given.shape[dim];
    return count;
  }

  /// A row-major array of elements of that type and of so many dimensions, in that place.
  void expect(Kind kind, int bits, const char *dtype, int ndim, Place place) const {
    if (given.dtype.code != kind || given.dtype.bits != bits || given.dtype.lanes != 1)
      fail(std::string("expected dtype ") + dtype + ", got code " + std::to_string(given.dtype.code) + " with " +
           std::to_string(given.dtype.bits) + " bits and " + std::to_string(given.dtype.lanes) + " lanes");
    if (given.ndim != ndim) fail("expected " + std::to_string(ndim) + (ndim == 1 ? " dimension" : " dimensions") + ", got shape " + shape());
    const int found = given.device.type == ThisMachinePinned ? ThisMachine : given.device.type == GPUManaged ? GPU : given.device.type;
    if (found != place)
      fail(std::string("expected an array in the memory of ") + (place == GPU ? "a GPU" : "this machine") + ", got one on DLPack's device " +
           std::to_string(given.device.type));
    int64_t stride = 1;
    for (int dim = ndim - 1; given.strides && bytes() && dim >= 0; stride *= given.shape[dim--])
      if (given.shape[dim] != 1 && given.strides[dim] != stride)
        fail("expected a row-major array, got stride " + std::to_string(given.strides[dim]) + " in dimension " + std::to_string(dim) + " of shape " + shape());
    if (bytes() && reinterpret_cast<uintptr_t>(data()) < 4096)
      fail("expected an array with memory, got the address " + std::to_string(reinterpret_cast<uintptr_t>(data())));
    if (bytes() && reinterpret_cast<uintptr_t>(data()) % 16)
      fail("expected memory aligned to 16 bytes, got an address " + std::to_string(reinterpret_cast<uintptr_t>(data()) % 16) + " bytes past that");
  }
  void expect_extent(int dim, int64_t wanted, const std::string &what) const {
    if (given.shape[dim] != wanted) fail("expected extent " + what + " in dimension " + std::to_string(dim) + ", got shape " + shape());
  }
  void expect_multiple(int dim, int64_t unit, const std::string &what) const {
    if (given.shape[dim] % unit)
      fail("expected extent " + what + " in dimension " + std::to_string(dim) + " to be divisible by " + std::to_string(unit) + ", got shape " + shape());
  }
  void expect_at_least(int dim, int64_t least, const std::string &what) const {
    if (given.shape[dim] < least)
      fail("expected extent " + what + " in dimension " + std::to_string(dim) + " to be at least " + std::to_string(least) + ", got shape " + shape());
  }
  void expect_at_most(int dim, int64_t most, const std::string &what) const {
    if (given.shape[dim] > most)
      fail("expected extent " + what + " in dimension " + std::to_string(dim) + " to be at most " + std::to_string(most) + ", got shape " + shape());
  }
  /// The function writes to one of the two.
  void expect_apart(const Argument &other) const {
    if (data() < other.data() + other.bytes() && other.data() < data() + bytes())
      fail(std::string("expected memory of its own beside ") + other.name);
  }
};

/// The kernels in the current context, loaded at the first call there.
struct Kernels {
  CUmodule module = nullptr;
  CUfunction functions[@COUNT@];
};

void use_first_gpu_if_none() {
  check(cuInit(0), "cuInit");
  CUcontext context = nullptr;
  check(cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  if (context) return;
  CUdevice device;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

const Kernels &kernels() {
  static std::map<CUcontext, Kernels> loaded;
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  CUcontext context = nullptr;
  check(cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  Kernels &found = loaded[context];
  if (!found.module) {
    check(cuModuleLoadData(&found.module, @CUBIN@), "cuModuleLoadData");
    const char *const names[] = {@NAMES@};
    for (int i = 0; i < @COUNT@; ++i) check(cuModuleGetFunction(&found.functions[i], found.module, names[i]), "cuModuleGetFunction");
  }
  return found;
}

void launch(int kernel, const char *name, const unsigned grid[3], const unsigned block[3], unsigned shared_bytes, CUstream stream, void **parameters) {
  if (!grid[0] || !grid[1] || !grid[2]) return;  // there is nothing to do
  CUfunction function = kernels().functions[kernel];
  if (shared_bytes > 48 << 10)  // a GPU gives more only where it is asked to
    check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(shared_bytes)), std::string("cuFuncSetAttribute for ") + name);
@LAUNCH@}

/// Memory of the GPU, freed in the order of the stream when it goes.
class Memory {
public:
  Memory(int64_t bytes, CUstream stream) : stream(stream) {
    if (bytes) check(cuMemAllocAsync(&address, size_t(bytes), stream), "cuMemAllocAsync of " + std::to_string(bytes) + " bytes");
  }
  Memory(const Memory &) = delete;
  ~Memory() {
    if (address) cuMemFreeAsync(address, stream);
  }
  CUdeviceptr address = 0;

private:
  CUstream stream;
};

}  // namespace
)cpp";

} // namespace tilewright::source
