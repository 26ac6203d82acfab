//===- KeepNarrowRounding.cpp - every narrow operation rounds -------------===//
#include "passes/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_KEEPNARROWROUNDING
#include "passes/Passes.h.inc"

using namespace mlir;
namespace {

struct KeepNarrowRounding : impl::KeepNarrowRoundingBase<KeepNarrowRounding> {
  void runOnOperation() override {
    auto clear = [](auto op) { op.setFastmath(arith::FastMathFlags::none); };
    getOperation()->walk([&](arith::TruncFOp op) { clear(op); });
    getOperation()->walk([&](arith::ExtFOp op) { clear(op); });
  }
};

} // namespace
} // namespace tilewright
