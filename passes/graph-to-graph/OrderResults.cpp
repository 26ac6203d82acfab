//===- OrderResults.cpp - results are returned before they are transposed ----===//
#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/Passes.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_ORDERRESULTS
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

void orderResults(func::FuncOp function) {
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  llvm::SmallPtrSet<Value, 8> returned(end.operand_begin(), end.operand_end());
  SmallVector<Type> types(function.getResultTypes());
  for (OpOperand &result : end->getOpOperands()) {
    unsigned position = result.getOperandNumber();
    auto order = function.getResultAttrOfType<DenseI64ArrayAttr>(position, graph::kOrderAttr);
    auto transpose = result.get().getDefiningOp<graph::TransposeOp>();
    // What is an argument, or another result, is no tensor of its own.
    if (!order || !transpose || isa<BlockArgument>(transpose.getX()) || !returned.insert(transpose.getX()).second)
      continue;
    SmallVector<int64_t> composed;
    for (int64_t d : order.asArrayRef())
      composed.push_back(transpose.getPermutation()[d]);
    result.set(transpose.getX());
    types[position] = transpose.getX().getType();
    function.setResultAttr(position, graph::kOrderAttr, DenseI64ArrayAttr::get(function.getContext(), composed));
    if (transpose.use_empty())
      transpose.erase();
  }
  function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(), types));
}

struct OrderResults : impl::OrderResultsBase<OrderResults> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && function.getBody().hasOneBlock())
        orderResults(function);
  }
};

} // namespace
} // namespace tilewright
