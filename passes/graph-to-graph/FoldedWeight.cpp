//===- FoldedWeight.cpp - weights that are computed at compile time -------===//
#include "passes/graph-to-graph/FoldedWeight.h"
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"

using namespace mlir;

namespace tilewright {

/// The module of the functions that compute folded weights.
static ModuleOp getWeightModule(Operation *op) {
  static constexpr llvm::StringLiteral kName = "graph.weights";
  auto module = op->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<ModuleOp>(kName))
    return known;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  return ModuleOp::create(builder, module.getLoc(), kName);
}

Value foldToWeight(Operation *root, Type type, llvm::function_ref<Value(OpBuilder &)> compute) {
  ModuleOp module = getWeightModule(root);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string name = "folded." + std::to_string(llvm::range_size(module.getOps<func::FuncOp>()));
  auto made = func::FuncOp::create(builder, root->getLoc(), name, builder.getFunctionType({}, {type}));
  builder.createBlock(&made.getBody());
  Value result = compute(builder);
  func::ReturnOp::create(builder, root->getLoc(), result);
  builder.setInsertionPoint(root);
  auto weight = graph::WeightOp::create(builder, root->getLoc(), type, name);
  weight->setAttr(graph::kFoldedAttr,
                  SymbolRefAttr::get(builder.getContext(), *module.getSymName(), {FlatSymbolRefAttr::get(made)}));
  return weight;
}

} // namespace tilewright
