//===- Stride.cpp - how an index changes with a value, and what divides it ===//
#include "passes/index/Stride.h"
#include "passes/index/LinearForm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::index {

/// What divides 0, of which every power of two is a divisor.
static constexpr int64_t kLargestDivisor = int64_t(1) << 30;

static AffineExpr getOperandExpr(AffineMap map, unsigned position) {
  return position < map.getNumDims() ? getAffineDimExpr(position, map.getContext())
                                     : getAffineSymbolExpr(position - map.getNumDims(), map.getContext());
}

/// How often a loop runs whose variable counts from 0 in steps of 1; nothing where that is not known.
static std::optional<int64_t> getTripCount(Value variable) {
  auto loop = dyn_cast<scf::ForOp>(cast<BlockArgument>(variable).getOwner()->getParentOp());
  if (!loop || getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1)
    return std::nullopt;
  return getConstantIntValue(loop.getUpperBound());
}

/// `expr` with quotients and remainders resolved that a variable below `count` does not carry into: the divisor and the
/// rest of the dividend are multiples of `count`.
static AffineExpr resolveDivisions(AffineExpr expr, AffineExpr variable, int64_t count, AffineMap map) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr lhs = resolveDivisions(binary.getLHS(), variable, count, map);
  AffineExpr rhs = resolveDivisions(binary.getRHS(), variable, count, map);
  AffineExprKind kind = expr.getKind();
  auto divisor = dyn_cast<AffineConstantExpr>(rhs);
  if ((kind == AffineExprKind::FloorDiv || kind == AffineExprKind::Mod) && divisor && divisor.getValue() > 0 &&
      divisor.getValue() % count == 0) {
    AffineExpr rest = simplifyAffineExpr(lhs - variable, map.getNumDims(), map.getNumSymbols());
    bool isFree = rest.replace(variable, variable + 1) == rest;
    if (isFree && rest.isMultipleOf(count))
      return kind == AffineExprKind::FloorDiv ? rest.floorDiv(rhs) : rest % rhs + variable;
  }
  return getAffineBinaryOpExpr(kind, lhs, rhs);
}

std::optional<int64_t> getStride(Value index, Value variable) {
  if (index == variable)
    return 1;
  if (getConstantIntValue(index))
    return 0;
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  if (!apply) {
    Operation *op = index.getDefiningOp();
    auto loop = cast<BlockArgument>(variable).getOwner()->getParentOp();
    // Computed in the loop, but from what is the same in all of its iterations.
    bool isUniform =
        !op || !loop->isAncestor(op) ||
        (isPure(op) && op->getNumRegions() == 0 && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return getStride(operand, variable) == 0; }));
    return isUniform ? std::optional<int64_t>(0) : std::nullopt;
  }
  int64_t stride = 0;
  AffineMap map = apply.getAffineMap();
  SmallVector<Value> operands(apply.getMapOperands());
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  auto count = getTripCount(variable);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    auto inner = getStride(operand, variable);
    if (!inner)
      return std::nullopt;
    if (*inner == 0)
      continue;
    AffineExpr result = map.getResult(0), place = getOperandExpr(map, i);
    if (operand == variable && count.value_or(0) > 0)
      result = resolveDivisions(result, place, *count, map);
    auto slope = getSlope(result, place, map.getNumDims(), map.getNumSymbols());
    if (!slope)
      return std::nullopt;
    stride += *inner * *slope;
  }
  return stride;
}

int64_t getDivisor(Value index, Value variable) {
  if (index == variable)
    return kLargestDivisor;
  if (auto constant = getConstantIntValue(index))
    return *constant ? *constant & -*constant : kLargestDivisor;
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return 1;
  // Each operand counts with what divides it: as a multiple of that.
  AffineMap map = apply.getAffineMap();
  SmallVector<AffineExpr> operands;
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands()))
    operands.push_back(operand == variable ? getAffineConstantExpr(0, index.getContext())
                                           : getOperandExpr(map, i) * getDivisor(operand, variable));
  ArrayRef<AffineExpr> all(operands);
  int64_t divisor = map.getResult(0)
                        .replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()))
                        .getLargestKnownDivisor();
  return divisor ? divisor & -divisor : kLargestDivisor;
}

} // namespace tilewright::index
