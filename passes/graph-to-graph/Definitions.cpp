//===- Definitions.cpp - what the te function of an operator says of it ----===//
#include "passes/graph-to-graph/Definitions.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {

/// The axis that `expr` is, maybe with a factor of 1 or -1 and an offset; -1 where it is anything else.
static int64_t getOnlyAxis(AffineExpr expr, ValueRange indices, te::ComputeOp compute) {
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
    bool isOffset = expr.getKind() == AffineExprKind::Add && constant;
    bool isFactor = expr.getKind() == AffineExprKind::Mul && constant && constant.getValue() != 0;
    return isOffset || isFactor ? getOnlyAxis(binary.getLHS(), indices, compute) : -1;
  }
  auto dim = dyn_cast<AffineDimExpr>(expr);
  auto axis = dim ? dyn_cast<BlockArgument>(indices[dim.getPosition()]) : BlockArgument();
  return axis && axis.getOwner() == &compute.getBody().front() ? int64_t(axis.getArgNumber()) : -1;
}

static void addRead(te::ReadOp read, te::ComputeOp compute, OperandUse &use) {
  llvm::SmallBitVector isAlone(compute.getNumAxes());
  auto from = cast<RankedTensorType>(read.getTensor().getType());
  auto to = cast<RankedTensorType>(compute.getResult(0).getType());
  bool isBroadcast = read.getMap().getNumResults() == compute.getNumAxes();
  for (auto [d, expr] : llvm::enumerate(read.getMap().getResults())) {
    int64_t axis = getOnlyAxis(expr, read.getIndices(), compute);
    if (axis >= 0)
      isAlone.set(axis);
    bool isSame = isa<AffineDimExpr>(expr) && axis == int64_t(d);
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    isBroadcast &= isSame || (from.getDimSize(d) == 1 && constant && constant.getValue() == 0);
  }
  use.isBroadcast &= isBroadcast;
  use.isElementwise &= isBroadcast && from.getShape() == to.getShape();
  for (unsigned axis = 0; axis < compute.getNumAxes(); ++axis)
    use.isReadOnce &= isAlone.test(axis) || compute.getStaticExtents()[axis] == 1;
}

/// Whether an op in a te.compute only finds out which element is meant.
static bool isMove(Operation *op) {
  if (isa<te::ReadOp, te::YieldOp, scf::IfOp, scf::YieldOp, arith::ConstantOp>(op))
    return true;
  return llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIndex() || type.isInteger(1); });
}

std::optional<Definition> readDefinition(func::FuncOp function) {
  Definition definition;
  Block &body = function.getBody().front();
  definition.operands.resize(body.getNumArguments());
  SmallVector<unsigned> numReads(body.getNumArguments());
  // By a stage's result, how it is read, and the operands behind it.
  llvm::MapVector<Value, std::pair<OperandUse, llvm::SmallSetVector<unsigned, 4>>> stages;
  unsigned numStages = 0;
  for (Operation &op : body) {
    if (isa<te::ExternOp>(op)) {
      definition.reduces = true;
      definition.onlyMoves = false;
      for (OperandUse &use : definition.operands)
        use = {/*isReadOnce=*/false, /*isElementwise=*/false, /*isBroadcast=*/false};
    }
    auto compute = dyn_cast<te::ComputeOp>(op);
    if (!compute)
      continue;
    ++numStages;
    definition.reduces |= compute.getReducer().has_value() || compute.getScan();
    llvm::SmallSetVector<unsigned, 4> behind;
    llvm::DenseSet<Value> readStages;
    compute.getBody().walk([&](Operation *inner) {
      definition.onlyMoves &= isMove(inner);
      auto read = dyn_cast<te::ReadOp>(inner);
      if (!read)
        return;
      if (auto stage = stages.find(read.getTensor()); stage != stages.end()) {
        auto &[use, operands] = stage->second;
        behind.insert(operands.begin(), operands.end());
        addRead(read, compute, use);
        use.isReadOnce &= readStages.insert(read.getTensor()).second;
        for (unsigned i : operands)
          definition.operands[i].isReadOnce &= use.isReadOnce;
      }
      auto argument = dyn_cast<BlockArgument>(read.getTensor());
      if (!argument)
        return;
      unsigned i = argument.getArgNumber();
      behind.insert(i);
      if (++numReads[i] > 1)
        definition.operands[i].isReadOnce = false;
      addRead(read, compute, definition.operands[i]);
    });
    for (Value result : compute.getResults())
      stages.insert({result, {OperandUse(), behind}});
  }
  if (numStages == 0 && !definition.reduces)
    return std::nullopt;
  definition.onlyMoves &= !definition.reduces;
  // What reads through another stage of its own is not looked through.
  if (numStages > 1)
    for (OperandUse &use : definition.operands)
      use.isElementwise = use.isBroadcast = false;
  return definition;
}

} // namespace tilewright
