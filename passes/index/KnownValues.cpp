//===- KnownValues.cpp - what is known of index values --------------------===//
#include "passes/index/KnownValues.h"
#include "passes/index/Bounds.h"
#include "passes/index/Extents.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::index {

AffineExpr KnownValues::classify(Value value) {
  scf::ForOp loop = scf::getForInductionVarOwner(value);
  if (loop && getConstantIntValue(loop.getLowerBound()) == 0 && getConstantIntValue(loop.getStep()) == 1) {
    loops.push_back(loop);
    return getAffineDimExpr(loops.size() - 1, context);
  }
  std::optional<Extent> extent = Extent::get(value);
  least.push_back(extent ? std::optional<int64_t>(extent->getLeast()) : std::nullopt);
  return getAffineSymbolExpr(least.size() - 1, context);
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
  AffineExpr one = getAffineConstantExpr(1, context);
  // One expression, so that what both are made of cancels.
  return isProvablyLess(simplify(here - there) + 1, one, ExtentFn([&](unsigned loop) { return extents[loop]; }, least));
}

} // namespace tilewright::index
