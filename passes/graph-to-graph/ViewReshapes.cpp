//===- ViewReshapes.cpp - reshapes at the ends of groups are views --------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/Groups.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_VIEWRESHAPES
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// Whether the operator before it makes its operand, and it alone reads that within the group.
bool isFirst(Operation *view, graph::GroupOp group) {
  Value operand = view->getOperand(0);
  Operation *maker = operand.getDefiningOp();
  if (maker && maker->getParentOp() == group)
    return false;
  return llvm::none_of(operand.getUsers(),
                       [&](Operation *user) { return user != view && user->getParentOp() == group; });
}

/// Moves views of what the group reads before the group.
void moveBefore(graph::GroupOp group, DenseMap<std::pair<Value, Type>, Value> &reshapes) {
  for (Operation &op : llvm::make_early_inc_range(group.getBody().front())) {
    if (!isView(&op) || !isFirst(&op, group))
      continue;
    op.removeAttr(graph::kDefinitionAttr);
    op.moveBefore(group);
    if (!isa<graph::ReshapeOp>(op))
      continue;
    Value result = op.getResult(0);
    if (auto [known, isNew] = reshapes.try_emplace({op.getOperand(0), result.getType()}, result); !isNew) {
      result.replaceAllUsesWith(known->second);
      op.erase();
    }
  }
}

/// Moves a reshape of what the group makes behind the group.
void moveBehind(graph::GroupOp group) {
  Operation *yield = group.getBody().front().getTerminator();
  for (OpOperand &yielded : yield->getOpOperands()) {
    auto reshape = yielded.get().getDefiningOp<graph::ReshapeOp>();
    if (!reshape || reshape->getParentOp() != group || !reshape->hasOneUse())
      continue;
    Operation *maker = reshape.getX().getDefiningOp();
    if (!maker || maker->getParentOp() != group || !maker->hasTrait<graph::Operator>())
      continue;
    Value result = group.getResult(yielded.getOperandNumber());
    yielded.set(reshape.getX());
    reshape->removeAttr(graph::kDefinitionAttr);
    reshape->moveAfter(group);
    result.replaceAllUsesWith(reshape);
    result.setType(yielded.get().getType());
    reshape.getXMutable().assign(result);
  }
}

/// Names the group for its operators. One that makes nothing itself is none.
void settle(graph::GroupOp group) {
  SmallVector<Operation *> operators;
  for (Operation &op : group.getBody().front())
    if (op.hasTrait<graph::Operator>())
      operators.push_back(&op);
  group.setName(getGroupName(operators));
  if (!operators.empty())
    return;
  group->replaceAllUsesWith(group.getBody().front().getTerminator()->getOperands());
  group->erase();
}

struct ViewReshapes : impl::ViewReshapesBase<ViewReshapes> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      DenseMap<std::pair<Value, Type>, Value> reshapes;
      for (auto group : llvm::make_early_inc_range(function.getOps<graph::GroupOp>())) {
        // Attention reads views that are not row-major.
        if (llvm::any_of(group.getBody().front(), [](Operation &op) { return op.hasTrait<graph::Attends>(); }))
          continue;
        moveBefore(group, reshapes);
        moveBehind(group);
        settle(group);
      }
    }
  }
};

} // namespace
} // namespace tilewright
