//===- StageReads.cpp - what a stage reads --------------------------------===//
#include "passes/linalg-to-loops/StageModel.h"

using namespace mlir;

namespace tilewright {

AffineExpr getIndexExpr(linalg::GenericOp op, Value value) {
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return getAffineDimExpr(index.getDim(), op.getContext());
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), op.getContext());
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return nullptr;
  SmallVector<AffineExpr> dims, symbols;
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
    AffineExpr expr = getIndexExpr(op, operand);
    if (!expr)
      return nullptr;
    (i < apply.getAffineMap().getNumDims() ? dims : symbols).push_back(expr);
  }
  return simplify(apply.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, symbols));
}

SmallVector<Access> getReads(const ScheduledStage &stage) {
  SmallVector<Access> reads;
  // Statements may read any element of what an extern reads.
  if (stage.externOp) {
    for (Value tensor : te::ExternOp(stage.externOp).getInputs())
      reads.push_back({tensor, SmallVector<AffineExpr>(cast<RankedTensorType>(tensor.getType()).getRank())});
    return reads;
  }
  linalg::GenericOp op = stage.op;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isa<RankedTensorType>(operand->get().getType()) && op.payloadUsesValueFromOperand(operand))
      reads.push_back({operand->get(), SmallVector<AffineExpr>(op.getMatchingIndexingMap(operand).getResults())});
  op.getBody()->walk([&](tensor::ExtractOp extract) {
    Access access{extract.getTensor(), {}};
    for (Value index : extract.getIndices())
      access.indices.push_back(getIndexExpr(op, index));
    reads.push_back(access);
  });
  return reads;
}
} // namespace tilewright
