//===- DropSchedules.cpp - schedules that a processor does not follow -----===//
//
// A schedule for a GPU says nothing of a processor: its loops are for thousands of threads. A schedule that leaves all
// loops as they are says nothing at all. In both cases target cpu makes the loops by itself (vectorize-linalg-loops).
//
//===----------------------------------------------------------------------===//
#include "dialects/Program/Program.h"
#include "passes/PassSupport.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_DROPSCHEDULES
#include "passes/linalg-to-cpu/Passes.h.inc"

namespace {

struct DropSchedules : impl::DropSchedulesBase<DropSchedules> {
  void runOnOperation() override;
};

/// Whether a primitive speaks of what a GPU alone has. Virtual threads of one thread are loops.
bool isOfGPU(Operation &primitive) {
  if (auto bind = dyn_cast<schedule::BindOp>(primitive))
    return bind.getThread() != schedule::ThreadTag::VThread;
  return primitive.hasTrait<schedule::GPUOnly>();
}

/// Whether a primitive leaves the stages and their loops as they are.
bool saysNothing(Operation &primitive) {
  return primitive.hasTrait<schedule::RootAxes>() || isa<schedule::StageOp, schedule::ComputeRootOp>(primitive);
}

/// Whether statements of the function have thread axes, which legalize-externs refuses.
bool hasThreadAxes(func::FuncOp function) {
  auto result = function.walk([](scf::ForOp loop) {
    return loop->hasAttr(schedule::kBindAttr) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void DropSchedules::runOnOperation() {
  SymbolTable symbols(getOperation());
  for (auto op : llvm::make_early_inc_range(getOperation().getOps<schedule::OfOp>())) {
    Block &primitives = op.getBody().front();
    auto function = symbols.lookup<func::FuncOp>(op.getFunction());
    if (op->hasAttr(kLaunchAttr) || llvm::any_of(primitives, isOfGPU) || llvm::all_of(primitives, saysNothing) ||
        (function && hasThreadAxes(function)))
      op.erase();
  }
}

} // namespace
} // namespace tilewright
