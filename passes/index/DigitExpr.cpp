//===- DigitExpr.cpp - quotients and remainders as digits of a number -----===//
#include "passes/index/DigitExpr.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;

namespace tilewright::index {

std::optional<std::pair<AffineExpr, DigitExpr>> getDigit(AffineExpr expr) {
  if (isa<AffineDimExpr, AffineSymbolExpr>(expr))
    return std::pair{expr, DigitExpr()};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto right = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  bool isDivided = expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::Mod;
  if (!right || !isDivided || right.getValue() <= 0)
    return std::nullopt;
  auto found = getDigit(binary.getLHS());
  if (!found)
    return std::nullopt;
  int64_t by = right.getValue();
  DigitExpr &digit = found->second;
  if (expr.getKind() == AffineExprKind::FloorDiv) {
    if (digit.extent && *digit.extent % by)
      return std::nullopt;
    digit = {digit.stride * by, digit.extent ? std::optional(*digit.extent / by) : std::nullopt};
    return found;
  }
  // What is cut off is a part of the digit's own places, or more than these.
  if (digit.extent && *digit.extent % by && by % *digit.extent)
    return std::nullopt;
  digit.extent = digit.extent ? std::min(*digit.extent, by) : by;
  return found;
}

std::optional<std::pair<Value, DigitExpr>> getDigit(Value value) {
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return std::pair{value, DigitExpr()};
  auto digit = getDigit(apply.getAffineMap().getResult(0));
  if (!digit || apply.getMapOperands().size() != 1)
    return std::nullopt;
  return std::pair{apply.getMapOperands()[0], digit->second};
}

bool areWhole(ArrayRef<DigitExpr> digits) {
  // Every place that the digits from the lowest one on reach without a gap.
  SmallVector<int64_t> reached = {1};
  for (size_t i = 0; i < reached.size(); ++i)
    for (DigitExpr digit : digits) {
      if (digit.stride != reached[i])
        continue;
      if (!digit.extent)
        return true;
      if (int64_t next = digit.stride * *digit.extent; next > reached[i] && !llvm::is_contained(reached, next))
        reached.push_back(next);
    }
  return false;
}

} // namespace tilewright::index
