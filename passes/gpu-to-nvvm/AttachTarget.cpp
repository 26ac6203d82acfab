//===- AttachTarget.cpp - the architecture that kernels are compiled for --===//
#include "passes/Passes.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_ATTACHTARGET
#include "passes/Passes.h.inc"

/// The PTX version for an architecture: the first that knows it, and no older than relaxed arrives need (8.6), so that
/// any driver of CUDA 13 takes it.
static StringRef getPTXFeature(StringRef arch) {
  arch.consume_front("sm_");
  unsigned version = 0;
  arch.consumeInteger(10, version);
  if (version == 110 || version == 88)
    return "+ptx90";
  if (version == 103 || arch == "f")
    return "+ptx88";
  return "+ptx86";
}

namespace {
struct AttachTarget : impl::AttachTargetBase<AttachTarget> {
  using AttachTargetBase::AttachTargetBase;

  void runOnOperation() override {
    auto target = NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", arch,
                                            getPTXFeature(arch));
    getOperation().setTargetsAttr(ArrayAttr::get(&getContext(), {target}));
  }
};
} // namespace
} // namespace tilewright
