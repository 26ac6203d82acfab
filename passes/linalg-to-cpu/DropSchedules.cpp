//===- DropSchedules.cpp - a target that schedules by itself --------------===//
#include "passes/PassSupport.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_DROPSCHEDULES
#include "passes/linalg-to-cpu/Passes.h.inc"

namespace {

struct DropSchedules : impl::DropSchedulesBase<DropSchedules> {
  void runOnOperation() override {
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<schedule::OfOp>()))
      op.erase();
  }
};

} // namespace
} // namespace tilewright
