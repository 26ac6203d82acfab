//===- AttachLoopAnnotations.cpp - what loops say reaches LLVM ------------===//
#include "passes/PassSupport.h"
#include "passes/gpu-to-nvvm/UnrolledLoops.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_ATTACHLOOPANNOTATIONS
#include "passes/linalg-to-cpu/Passes.h.inc"

namespace {

struct AttachLoopAnnotations : impl::AttachLoopAnnotationsBase<AttachLoopAnnotations> {
  void runOnOperation() override { attachLoopAnnotations(getOperation()); }
};

} // namespace
} // namespace tilewright
