//===- FoldGroups.cpp - groups that read no input become weights -----------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/FoldedWeight.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_FOLDGROUPS
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// The bytes that a folded result has at most, and what is computed on the way to it.
constexpr int64_t kLargest = 1 << 20, kLargestOnTheWay = 16 << 20;

/// By the result of a group that reads nothing but such groups: they and the group itself, in their order.
using KnownGroups = DenseMap<Value, llvm::SetVector<graph::GroupOp>>;

bool isSmall(Operation &op) {
  return llvm::all_of(op.getResults(), [](Value result) {
    RankedTensorType type = typeOfTensor(result);
    return type.hasStaticShape() && bytesOfTensor(type) <= kLargestOnTheWay;
  });
}

/// Enters the group where it is known.
void enter(graph::GroupOp group, KnownGroups &known) {
  if (group.getNumResults() != 1)
    return;
  llvm::SetVector<graph::GroupOp> groups;
  for (Operation &op : group.getBody().front()) {
    if (!isSmall(op))
      return;
    for (Value operand : op.getOperands()) {
      if (operand.getParentBlock() == op.getBlock())
        continue;
      auto made = known.find(operand);
      if (made == known.end())
        return;
      groups.insert(made->second.begin(), made->second.end());
    }
  }
  groups.insert(group);
  known.insert({group.getResult(0), std::move(groups)});
}

Value compute(const llvm::SetVector<graph::GroupOp> &groups, OpBuilder &builder) {
  IRMapping mapping;
  for (graph::GroupOp group : groups) {
    Block &body = group.getBody().front();
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping)->removeAttr(graph::kDefinitionAttr);
    mapping.map(group.getResult(0), mapping.lookup(body.getTerminator()->getOperand(0)));
  }
  graph::GroupOp last = groups.back();
  return mapping.lookup(last.getResult(0));
}

/// What only folded groups have read is dropped.
void fold(graph::GroupOp group, const llvm::SetVector<graph::GroupOp> &groups) {
  Value result = group.getResult(0);
  if (!result.use_empty()) {
    if (bytesOfTensor(typeOfTensor(result)) > kLargest)
      return;
    result.replaceAllUsesWith(
        foldToWeight(group, result.getType(), [&](OpBuilder &builder) { return compute(groups, builder); }));
  }
  group->erase();
}

struct FoldGroups : impl::FoldGroupsBase<FoldGroups> {
  void runOnOperation() override {
    for (auto function : SmallVector<func::FuncOp>(getOperation().getOps<func::FuncOp>())) {
      KnownGroups known;
      SmallVector<graph::GroupOp> groups(function.getOps<graph::GroupOp>());
      for (graph::GroupOp group : groups)
        enter(group, known);
      for (graph::GroupOp group : llvm::reverse(groups))
        if (auto found = known.find(group->getResult(0)); found != known.end())
          fold(group, found->second);
    }
  }
};

} // namespace
} // namespace tilewright
