//===- ApplySchedule.cpp - linalg on tensors to the loops of the schedule -===//
#include "dialects/Program/Program.h"
#include "dialects/Schedule/BoundIndices.h"
#include "passes/ArgumentLayouts.h"
#include "passes/linalg-to-loops/LoopEmitter.h"
#include "passes/linalg-to-loops/Passes.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_APPLYSCHEDULE
#include "passes/linalg-to-loops/Passes.h.inc"

namespace {
struct ApplySchedule : impl::ApplyScheduleBase<ApplySchedule> {
  using Base::Base;

  void runOnOperation() override {
    for (auto [function, schedule] : getScheduledFunctions(getOperation(), onProcessor)) {
      if (failed(lower(function, schedule)))
        return signalPassFailure();
      if (schedule)
        schedule.erase();
    }
  }

  LogicalResult lower(func::FuncOp function, schedule::OfOp schedule) {
    FailureOr<StageModel> model = StageModel::resolve(function, schedule);
    if (failed(model))
      return failure();
    FailureOr<LoopBounds> bounds = inferBounds(*model, onProcessor);
    if (failed(bounds))
      return failure();
    OpBuilder builder(function);
    SmallVector<Type> types;
    SmallVector<Location> locs;
    for (BlockArgument argument : function.getArguments()) {
      auto tensor = dyn_cast<RankedTensorType>(argument.getType());
      types.push_back(tensor ? getArgumentMemRef(function, argument.getArgNumber(), tensor) : argument.getType());
      locs.push_back(argument.getLoc());
    }
    auto target =
        func::FuncOp::create(builder, function.getLoc(), function.getName(), builder.getFunctionType(types, {}));
    for (NamedAttribute attr : function->getDiscardableAttrs())
      target->setDiscardableAttr(attr.getName(), attr.getValue());
    if (Attribute launch = schedule ? schedule->getDiscardableAttr(kLaunchAttr) : Attribute())
      target->setDiscardableAttr(kLaunchAttr, launch);
    if (ArrayAttr attrs = function.getAllArgAttrs())
      target.setAllArgAttrs(attrs);
    Block *entry = builder.createBlock(&target.getBody(), {}, types, locs);
    (void)entry;
    if (failed(LoopEmitter(*model, *bounds, target).emit()))
      return failure();
    if (!onProcessor)
      schedule::noteBoundIndices(target);
    function.erase();
    return success();
  }
};
} // namespace
} // namespace tilewright
