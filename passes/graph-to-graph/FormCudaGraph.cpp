//===- FormCudaGraph.cpp - launches of a model as one graph ---------------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_FORMCUDAGRAPH
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

bool hasCount(func::FuncOp function) {
  return llvm::any_of(llvm::seq(function.getNumResults()),
                      [&](unsigned i) { return function.getResultAttr(i, graph::kCountAttr) != nullptr; });
}

struct FormCudaGraph : impl::FormCudaGraphBase<FormCudaGraph> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (llvm::hasNItemsOrMore(function.getOps<graph::GroupOp>(), 2) && !hasCount(function))
        function->setAttr(graph::kCudaGraphAttr, UnitAttr::get(&getContext()));
  }
};

} // namespace
} // namespace tilewright
