// Runs the exported ResNet: with libtvm_ffi and nothing else. resnet.py has the commands.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/module.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace ffi = tvm::ffi;

// Row-major memory of this machine's; a model asks for memory that is aligned to 16 bytes.
struct HostAllocator {
  void AllocData(DLTensor *tensor) {
    size_t bytes = (ffi::GetDataSize(*tensor) + 63) / 64 * 64;
    tensor->data = std::aligned_alloc(64, bytes ? bytes : 64);
  }
  void FreeData(DLTensor *tensor) { std::free(tensor->data); }
};

ffi::Tensor make_tensor(ffi::Shape shape) {
  return ffi::Tensor::FromNDAlloc(HostAllocator(), shape, DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCPU, 0});
}

void read(const char *path, const ffi::Tensor &tensor) {
  std::ifstream file(path, std::ios::binary);
  file.read(static_cast<char *>(tensor.data_ptr()), ffi::GetDataSize(*tensor.GetDLTensorPtr()));
}

int main(int argc, char **argv) {
  try {
    ffi::Module library = ffi::Module::LoadFromFile(argc > 1 ? argv[1] : "./resnet.so");
    ffi::Function model = library->GetFunction("model").value();
    ffi::Tensor image = make_tensor({1, 3, 64, 64}), scores = make_tensor({1, 10}), expected = make_tensor({1, 10});
    read("image.bin", image);
    read("scores.bin", expected);
    model(image, scores);
    auto *got = static_cast<float *>(scores.data_ptr()), *wanted = static_cast<float *>(expected.data_ptr());
    double error = 0, most = 0;
    for (int i = 0; i < 10; ++i) {
      error = std::fmax(error, std::fabs(got[i] - wanted[i]));
      most = std::fmax(most, std::fabs(wanted[i]));
    }
    std::puts(error <= 1e-5 * (1 + most) ? "right" : "wrong");
    return error <= 1e-5 * (1 + most) ? 0 : 1;
  } catch (const ffi::Error &error) {
    std::printf("%s: %s\n", error.kind().c_str(), error.message().c_str());
    return 1;
  }
}
