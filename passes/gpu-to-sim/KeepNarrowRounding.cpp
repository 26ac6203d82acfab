//===- KeepNarrowRounding.cpp - every narrow operation rounds -------------===//
#include "passes/PassSupport.h"

namespace tilewright {
#define GEN_PASS_DEF_KEEPNARROWROUNDING
#include "passes/gpu-to-sim/Passes.h.inc"

using namespace mlir;
namespace {

struct KeepNarrowRounding : impl::KeepNarrowRoundingBase<KeepNarrowRounding> {
  void runOnOperation() override {
    getOperation()->walk([](arith::TruncFOp op) { op.setFastmath(std::nullopt); });
    getOperation()->walk([](arith::ExtFOp op) { op.setFastmath(std::nullopt); });
  }
};

} // namespace
} // namespace tilewright
