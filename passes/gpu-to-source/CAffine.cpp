//===- CAffine.cpp - affine expressions as C++ ----------------------------===//
#include "passes/gpu-to-source/CWriter.h"

using namespace mlir;

namespace tilewright::source {

bool CWriter::isNonNegative(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && isNonNegative(loop.getLowerBound());
  }
  Operation *op = value.getDefiningOp();
  if (llvm::APInt number; matchPattern(value, m_ConstantInt(&number)))
    return number.isNonNegative();
  if (isa<gpu::ThreadIdOp, gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp, gpu::ClusterIdOp, gpu::ClusterBlockIdOp,
          memref::DimOp>(op))
    return true;
  // Half of an unsigned number is none with the highest bit.
  if (llvm::APInt by; isa<arith::DivUIOp, arith::RemUIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&by)))
    return by.sgt(isa<arith::DivUIOp>(op) ? 1 : 0) || isNonNegative(op->getOperand(0));
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return isNonNegative(apply.getAffineMap().getResult(0), op->getOperands(), apply.getAffineMap().getNumDims());
  return false;
}

bool CWriter::isNonNegative(AffineExpr expr, ValueRange operands, unsigned numDims) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(expr).getValue() >= 0;
  case AffineExprKind::DimId:
    return isNonNegative(operands[cast<AffineDimExpr>(expr).getPosition()]);
  case AffineExprKind::SymbolId:
    return isNonNegative(operands[numDims + cast<AffineSymbolExpr>(expr).getPosition()]);
  case AffineExprKind::Mod:
    return true;
  default: {
    auto both = cast<AffineBinaryOpExpr>(expr);
    return isNonNegative(both.getLHS(), operands, numDims) && isNonNegative(both.getRHS(), operands, numDims);
  }
  }
}

Expression CWriter::affine(AffineExpr expr, ValueRange operands, unsigned numDims) {
  auto number = [&](int64_t value) {
    return Expression{std::to_string(value) + (indexType == "int" ? "" : "LL"),
                      value < 0 ? Binding::Unary : Binding::Primary};
  };
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return number(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return expression(operands[cast<AffineDimExpr>(expr).getPosition()]);
  case AffineExprKind::SymbolId:
    return expression(operands[numDims + cast<AffineSymbolExpr>(expr).getPosition()]);
  default:
    break;
  }
  auto both = cast<AffineBinaryOpExpr>(expr);
  Expression left = affine(both.getLHS(), operands, numDims);
  auto constant = dyn_cast<AffineConstantExpr>(both.getRHS());
  if (expr.getKind() == AffineExprKind::Add) {
    if (constant && constant.getValue() < 0)
      return infix(left, "-", number(-constant.getValue()));
    // x * -1 and x * -4 are subtracted.
    auto product = dyn_cast<AffineBinaryOpExpr>(both.getRHS());
    auto factor = product && product.getKind() == AffineExprKind::Mul ? dyn_cast<AffineConstantExpr>(product.getRHS())
                                                                      : AffineConstantExpr();
    if (factor && factor.getValue() < 0)
      return infix(left, "-", affine(product.getLHS() * -factor.getValue(), operands, numDims));
    return infix(left, "+", affine(both.getRHS(), operands, numDims));
  }
  Expression right = affine(both.getRHS(), operands, numDims);
  if (expr.getKind() == AffineExprKind::Mul)
    return infix(left, "*", right);
  bool isPlain = isNonNegative(both.getLHS(), operands, numDims);
  if (isPlain && expr.getKind() != AffineExprKind::CeilDiv)
    return infix(left, expr.getKind() == AffineExprKind::Mod ? "%" : "/", right);
  StringRef function = expr.getKind() == AffineExprKind::Mod        ? "floor_mod"
                       : expr.getKind() == AffineExprKind::FloorDiv ? "floor_div"
                                                                    : "ceil_div";
  needs(function);
  return {function.str() + "(" + left.text + ", " + right.text + ")"};
}

Expression CWriter::affineMinMax(AffineMap map, ValueRange operands, StringRef function) {
  Expression made = affine(map.getResult(0), operands, map.getNumDims());
  // Both sides have the index's type, literals too.
  for (AffineExpr expr : map.getResults().drop_front())
    made = {functionName(function) + "(" + made.text + ", " + affine(expr, operands, map.getNumDims()).text + ")"};
  return made;
}

} // namespace tilewright::source
