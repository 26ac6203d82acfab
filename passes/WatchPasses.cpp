//===- WatchPasses.cpp - an end between two passes, where one is asked for -===//
#include "mlir/CAPI/IR.h"
#include "mlir/IR/Action.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

/// From here on `isOver` is asked before each pass that runs in `context`: once it gives back another number than 0, no
/// pass runs any more, and what runs them ends with a module that is not what it should be. Null ends that.
extern "C" void tilewrightWatchPasses(MlirContext context, int32_t (*isOver)()) {
  if (!isOver)
    return unwrap(context)->registerActionHandler({});
  unwrap(context)->registerActionHandler(
      [isOver, over = false](function_ref<void()> run, const tracing::Action &action) mutable {
        if (action.getTag() == PassExecutionAction::tag && (over = over || isOver()))
          return;
        run();
      });
}
