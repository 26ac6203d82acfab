//===- PrintLoopBounds.cpp - the bounds of a schedule as text -------------===//
#include "passes/linalg-to-loops/BoundInference.h"
#include "passes/linalg-to-loops/Passes.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PRINTLOOPBOUNDS
#include "passes/linalg-to-loops/Passes.h.inc"

static void printList(raw_ostream &stream, ArrayRef<AffineExpr> exprs) {
  stream << "[";
  llvm::interleaveComma(exprs, stream);
  stream << "]";
}

void LoopBounds::print(raw_ostream &stream) const {
  for (auto &stage : model->stages) {
    const StageBounds &found = (*this)[*stage];
    auto scope = found.scope.value_or(schedule::Scope::Global);
    bool inWarp = stage->isWarp && stage->attachStage && scope == schedule::Scope::Shared;
    stream << "stage " << stage->name << " in " << schedule::stringifyScope(inWarp ? schedule::Scope::Warp : scope)
           << " memory";
    for (auto tag : {schedule::ThreadTag::ThreadIdxY, schedule::ThreadTag::ThreadIdxZ})
      if (found.warpRows & getWarpRow(tag))
        stream << ", one for each " << schedule::stringifyThreadTag(tag);
    if (stage->attachStage)
      stream << (stage->follows ? ", after its producer in loop " : ", in loop ") << stage->attachAxis->name
             << " of stage " << stage->attachStage->name;
    stream << "\n";
    for (auto [i, root] : llvm::enumerate(stage->roots)) {
      stream << "  axis " << root->name << ": " << (*this)[root].extent;
      if (i < stage->numSpatial)
        stream << " of " << root->wholeExtent << " from " << found.mins[i];
      else
        stream << " reduced";
      stream << ", index " << (*this)[root].index << "\n";
    }
    if (!stage->externOp) {
      stream << "  buffer ";
      printList(stream, found.bufferExtents);
      stream << " from ";
      printList(stream, found.origin);
      if (found.bufferAxis)
        stream << " in loop " << found.bufferAxis->name;
      if (!found.instances.empty()) {
        stream << ", one for each iteration of ";
        llvm::interleaveComma(found.instances, stream, [&](const Axis *loop) { stream << loop->name; });
      }
      if (found.rollingDim)
        stream << ", windows move by " << found.rollingStep << " along " << stage->roots[*found.rollingDim]->name;
      stream << "\n";
    }
    for (const Axis *loop : found.loops) {
      stream << "  loop d" << (*this)[loop].dim << " " << loop->name << ": extent " << (*this)[loop].extent;
      if (loop->bind)
        stream << ", " << schedule::stringifyThreadTag(*loop->bind);
      stream << "\n";
    }
  }
  for (auto [number, symbol] : llvm::enumerate(model->getSymbols())) {
    stream << "symbol s" << number << ": ";
    if (!symbol.name.empty())
      stream << symbol.name;
    else if (symbol.argument)
      stream << "dimension " << symbol.dimension << " of argument " << symbol.argument.getArgNumber();
    else
      stream << "a value of the program";
    if (symbol.unit != 1)
      stream << " / " << symbol.unit;
    stream << "\n";
  }
}

namespace {
struct PrintLoopBounds : impl::PrintLoopBoundsBase<PrintLoopBounds> {
  using Base::Base;

  void runOnOperation() override {
    for (auto [function, schedule] : getScheduledFunctions(getOperation(), onProcessor)) {
      // Splits by a symbol make its value, which is not to stay.
      OwningOpRef<func::FuncOp> copy = function.clone();
      FailureOr<StageModel> model = StageModel::resolve(*copy, schedule);
      if (failed(model))
        return signalPassFailure();
      FailureOr<LoopBounds> bounds = inferBounds(*model, onProcessor);
      if (failed(bounds))
        return signalPassFailure();
      llvm::outs() << "bounds of @" << function.getName() << "\n";
      bounds->print(llvm::outs());
    }
    llvm::outs().flush();
    markAllAnalysesPreserved();
  }
};
} // namespace
} // namespace tilewright
