//===- HoistLocalArrays.cpp - arrays on the stack, allocated once ---------===//
#include "passes/PassSupport.h"

#include "passes/gpu-to-sim/SimSupport.h"

namespace tilewright {
#define GEN_PASS_DEF_HOISTLOCALARRAYS
#include "passes/gpu-to-sim/Passes.h.inc"

using namespace mlir;
namespace {

struct HoistLocalArrays : impl::HoistLocalArraysBase<HoistLocalArrays> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(kSimKernelAttr))
        continue;
      Block &entry = function.getBody().front();
      SmallVector<memref::AllocaOp> arrays;
      function.walk([&](memref::AllocaOp array) { arrays.push_back(array); });
      for (memref::AllocaOp array : llvm::reverse(arrays))
        array->moveBefore(&entry, entry.begin());
    }
  }
};

} // namespace
} // namespace tilewright
