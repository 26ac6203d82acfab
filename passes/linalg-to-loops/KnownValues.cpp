//===- KnownValues.cpp - what is known of index values --------------------===//
#include "passes/linalg-to-loops/KnownValues.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

AffineExpr KnownValues::getSymbol(Value value, std::optional<int64_t> leastOfIt) {
  size_t position = llvm::find(symbols, value) - symbols.begin();
  if (position == symbols.size()) {
    symbols.push_back(value);
    least.push_back(leastOfIt);
  }
  return getAffineSymbolExpr(position, function.getContext());
}

AffineExpr KnownValues::getExpr(Value value) {
  MLIRContext *context = function.getContext();
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getAffineConstantExpr(*constant, context);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || loop.getInductionVar() != value || getConstantIntValue(loop.getLowerBound()) != 0 ||
        getConstantIntValue(loop.getStep()) != 1)
      return getSymbol(value, std::nullopt);
    size_t position = llvm::find(loops, loop) - loops.begin();
    if (position == loops.size())
      loops.push_back(loop);
    return getAffineDimExpr(position, context);
  }
  if (auto apply = value.getDefiningOp<affine::AffineApplyOp>()) {
    SmallVector<AffineExpr> dims, syms;
    for (auto [i, operand] : llvm::enumerate(apply.getMapOperands()))
      (i < apply.getAffineMap().getNumDims() ? dims : syms).push_back(getExpr(operand));
    return apply.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, syms);
  }
  // An extent in units of a number that divides it, as apply-schedule has it.
  int64_t unit = 1;
  Value extent = value;
  if (auto quotient = value.getDefiningOp<arith::DivUIOp>())
    if (std::optional<int64_t> divisor = getConstantIntValue(quotient.getRhs()); divisor && *divisor > 0) {
      unit = *divisor;
      extent = quotient.getLhs();
    }
  auto dim = extent.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> position = dim ? dim.getConstantIndex() : std::nullopt;
  if (!position)
    return getSymbol(value, std::nullopt);
  int64_t minimum = 0;
  if (auto argument = dyn_cast<BlockArgument>(dim.getSource()); argument && argument.getOwner()->getParentOp() == function)
    if (auto minima = function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kMinimumAttr))
      minimum = *position >= 0 && *position < minima.size() ? minima[*position] : 0;
  return getSymbol(value, minimum / unit);
}

bool KnownValues::isLess(AffineExpr here, AffineExpr there) {
  // The extents of loops may be of further loops.
  SmallVector<AffineExpr> extents;
  for (unsigned i = 0; i < loops.size(); ++i)
    extents.push_back(getExpr(loops[i].getUpperBound()));
  auto isOfLoops = [](AffineExpr expr) {
    bool found = false;
    expr.walk([&](AffineExpr part) { found |= isa<AffineDimExpr>(part); });
    return found;
  };
  if (llvm::any_of(extents, isOfLoops))
    return false;
  AffineExpr one = getAffineConstantExpr(1, function.getContext());
  // One expression, so that what both are made of cancels.
  return isProvablyLess(simplify(here - there) + 1, one, ExtentFn([&](unsigned loop) { return extents[loop]; }, least));
}

} // namespace tilewright
