//===- FormCudaGraph.cpp - launches of a model as one graph ---------------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_FORMCUDAGRAPH
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

struct FormCudaGraph : impl::FormCudaGraphBase<FormCudaGraph> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (llvm::hasNItemsOrMore(function.getOps<graph::GroupOp>(), 2))
        function->setAttr(graph::kCudaGraphAttr, UnitAttr::get(&getContext()));
  }
};

} // namespace
} // namespace tilewright
