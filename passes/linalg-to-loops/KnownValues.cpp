//===- KnownValues.cpp - what is known of index values --------------------===//
#include "passes/linalg-to-loops/KnownValues.h"
#include "passes/index/Bounds.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

std::optional<int64_t> KnownValues::getLeast(Value value) {
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
    return std::nullopt;
  int64_t minimum = 0;
  if (auto argument = dyn_cast<BlockArgument>(dim.getSource());
      argument && argument.getOwner()->getParentOp() == function)
    if (auto minima = function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), te::kMinimumAttr))
      minimum = *position >= 0 && *position < minima.size() ? minima[*position] : 0;
  return minimum / unit;
}

AffineExpr KnownValues::classify(Value value) {
  scf::ForOp loop = scf::getForInductionVarOwner(value);
  if (loop && getConstantIntValue(loop.getLowerBound()) == 0 && getConstantIntValue(loop.getStep()) == 1) {
    loops.push_back(loop);
    return getAffineDimExpr(loops.size() - 1, function.getContext());
  }
  least.push_back(getLeast(value));
  return getAffineSymbolExpr(least.size() - 1, function.getContext());
}

AffineExpr KnownValues::getExpr(Value value) {
  AffineExpr expr = space.compose(value);
  while (kinds.size() < space.getNumDims())
    kinds.push_back(classify(space.getValue(kinds.size())));
  return expr.replaceDims(kinds);
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
  return index::isProvablyLess(index::simplify(here - there) + 1, one,
                               index::ExtentFn([&](unsigned loop) { return extents[loop]; }, least));
}

} // namespace tilewright
