//===- EnvThreads.cpp - threads that a kernel has whatever is bound -------===//
#include "passes/linalg-to-loops/BoundInference.h"
#include "passes/linalg-to-loops/LoopEmitter.h"

using namespace mlir;

namespace tilewright {

LogicalResult BoundInference::verifyEnvThreads(const ScheduledStage &stage) {
  for (auto [thread, extent, loc] : stage.envThreads) {
    auto error = [&, loc = loc] { return emitError(loc) << "env_threads of stage '" << stage.name << "': "; };
    if (stage.attachStage)
      return error() << "expected a stage that is computed at the root, as a kernel is, got one that is computed at a "
                        "loop of stage '"
                     << stage.attachStage->name << "'";
    SmallVector<const Axis *> loops = bounds.getLoopsOn(stage, thread);
    for (const Axis *loop : loops) {
      auto known = dyn_cast<AffineConstantExpr>(bounds[loop].extent);
      if (known && known.getValue() == extent)
        continue;
      InFlightDiagnostic diag = error() << "expected loops on " << schedule::stringifyThreadTag(thread) << " of extent "
                                        << extent << ", got axis '" << loop->name << "' of stage '" << loop->stage->name
                                        << "' of ";
      if (known)
        return diag << known.getValue();
      return diag << "a symbolic extent";
    }
    if (loops.empty() && thread < schedule::ThreadTag::ThreadIdxX)
      return error() << "expected a loop bound to " << schedule::stringifyThreadTag(thread)
                     << ", as blocks do not compute the same side by side, got none";
  }
  return success();
}

void LoopEmitter::openEnvThreads(const ScheduledStage &stage) {
  for (auto [thread, extent, loc] : stage.envThreads) {
    if (!bounds.getLoopsOn(stage, thread).empty())
      continue;
    StringRef name = schedule::stringifyThreadTag(thread);
    auto loop = scf::ForOp::create(builder, NameLoc::get(builder.getStringAttr(name), loc), getConstant(0),
                                   getConstant(extent), getConstant(1));
    loop->setAttr(schedule::kAxisAttr, schedule::AxisAttr::get(builder.getContext(), name, stage.name));
    loop->setAttr(schedule::kBindAttr, schedule::ThreadTagAttr::get(builder.getContext(), thread));
    markKernel(stage, loop);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  }
}
} // namespace tilewright
