//===- Stride.cpp - how an index changes with a value, and what divides it ===//
#include "passes/index/Stride.h"
#include "passes/index/LinearForm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
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
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
    auto inner = getStride(operand, variable);
    if (!inner)
      return std::nullopt;
    if (*inner == 0)
      continue;
    auto slope = getSlope(map.getResult(0), getOperandExpr(map, i), map.getNumDims(), map.getNumSymbols());
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
