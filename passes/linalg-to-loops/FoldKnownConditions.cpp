//===- FoldKnownConditions.cpp - conditions that the extents decide -------===//
#include "dialects/Schedule/BoundIndices.h"
#include "passes/PassSupport.h"
#include "passes/index/KnownValues.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_FOLDKNOWNCONDITIONS
#include "passes/linalg-to-loops/Passes.h.inc"

namespace {
struct FoldKnownConditions : impl::FoldKnownConditionsBase<FoldKnownConditions> {
  void runOnOperation() override;
};
} // namespace

/// What a comparison comes to, where that is known.
static std::optional<bool> decide(arith::CmpIOp op) {
  index::KnownValues values(op->getContext());
  Value a = op.getLhs(), b = op.getRhs();
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::sgt:
    std::swap(a, b);
    [[fallthrough]];
  case arith::CmpIPredicate::slt:
    return values.isLess(a, b, 0) ? std::optional(true) : values.isLess(b, a, -1) ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::sge:
    std::swap(a, b);
    [[fallthrough]];
  case arith::CmpIPredicate::sle:
    return values.isLess(a, b, -1) ? std::optional(true) : values.isLess(b, a, 0) ? std::optional(false) : std::nullopt;
  default:
    return std::nullopt;
  }
}

void FoldKnownConditions::runOnOperation() {
  IRRewriter rewriter(&getContext());
  SmallVector<arith::CmpIOp> conditions;
  getOperation().walk([&](arith::CmpIOp op) {
    if (op.getLhs().getType().isIndex())
      conditions.push_back(op);
  });
  for (arith::CmpIOp op : conditions)
    if (std::optional<bool> known = decide(op)) {
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getBoolAttr(*known));
    }
  getOperation().walk([&](arith::AndIOp op) {
    for (auto [one, other] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
      if (matchPattern(one, m_One()) && op.getType().isInteger(1))
        return rewriter.replaceOp(op, other);
  });
  getOperation().walk<WalkOrder::PostOrder>([&](scf::IfOp branch) {
    BoolAttr known;
    if (!matchPattern(branch.getCondition(), m_Constant(&known)))
      return;
    Block *taken = known.getValue() ? branch.thenBlock() : branch.elseBlock();
    SmallVector<Value> results;
    if (taken) {
      Operation *yield = taken->getTerminator();
      results.assign(yield->operand_begin(), yield->operand_end());
      rewriter.inlineBlockBefore(taken, branch);
      rewriter.eraseOp(yield);
    }
    rewriter.replaceOp(branch, results);
  });
  // A loop may have no effect now.
  if (getOperation()->hasAttr(schedule::kBoundAttr))
    schedule::noteBoundIndices(getOperation());
}
} // namespace tilewright
