//===- ApplySchedule.cpp - linalg on tensors to the loops of the schedule -===//
#include "dialects/Program/Program.h"
#include "dialects/Schedule/BoundIndices.h"
#include "passes/ArgumentLayouts.h"
#include "passes/linalg-to-loops/LoopEmitter.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DECL_APPLYSCHEDULE
#define GEN_PASS_DEF_APPLYSCHEDULE
#include "passes/linalg-to-loops/Passes.h.inc"

namespace {
struct ApplySchedule : impl::ApplyScheduleBase<ApplySchedule> {
  using Base::Base;

  void runOnOperation() override {
    SymbolTableCollection tables;
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      // Functions that hold no tensor expressions are not ours.
      if (llvm::none_of(function.getArgumentTypes(), llvm::IsaPred<RankedTensorType>))
        continue;
      schedule::OfOp schedule;
      for (auto of : getOperation().getOps<schedule::OfOp>())
        if (of.getFunction() == function.getName())
          schedule = of;
      if (onProcessor && !schedule && !hasScanOfStages(function))
        continue;
      if (failed(lower(function, schedule)))
        return signalPassFailure();
      if (schedule)
        schedule.erase();
    }
  }

  LogicalResult lower(func::FuncOp function, schedule::OfOp schedule) {
    StageModel model(function);
    if (failed(model.collect()) || failed(model.apply(schedule)))
      return failure();
    // A processor has one memory: what is computed at a loop is the loop's own.
    for (auto &stage : model.stages)
      if (onProcessor && stage->attachStage && !stage->follows && stage->followers.empty() &&
          stage->scope == schedule::Scope::Global)
        stage->scope.reset();
    if (failed(model.inferBounds()))
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
    LoopEmitter emitter(model, target);
    if (failed(emitter.emit()))
      return failure();
    if (!onProcessor)
      schedule::noteBoundIndices(target);
    function.erase();
    return success();
  }
};
} // namespace
} // namespace tilewright
