//===- IndexSpace.cpp - index values as affine expressions ----------------===//
#include "passes/index/IndexSpace.h"
#include "passes/index/LinearForm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::index {

AffineExpr IndexSpace::get(Value index, const Substitution &substitution) {
  return build(index, substitution, /*isSimplified=*/true);
}

SmallVector<AffineExpr> IndexSpace::get(ValueRange indices, const Substitution &substitution) {
  return llvm::map_to_vector(indices, [&](Value index) { return get(index, substitution); });
}

AffineExpr IndexSpace::build(Value index, const Substitution &substitution, bool isSimplified) {
  if (auto found = substitution.find(index); found != substitution.end())
    return found->second;
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return getAffineConstantExpr(*constant, context);
  if (auto apply = index.getDefiningOp<affine::AffineApplyOp>()) {
    SmallVector<AffineExpr> operands = llvm::map_to_vector(
        apply.getMapOperands(), [&](Value operand) { return build(operand, substitution, isSimplified); });
    AffineMap map = apply.getAffineMap();
    ArrayRef<AffineExpr> all(operands);
    AffineExpr expr =
        map.getResult(0).replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()));
    return isSimplified ? simplify(expr) : expr;
  }
  // Operations are told apart by what they compute, once something is put in the place of a value that they use.
  Operation *op = index.getDefiningOp();
  SmallVector<AffineExpr> operands;
  bool isSubstituted = false;
  if (!substitution.empty() && op && op->getNumOperands() && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
      isMemoryEffectFree(op) && llvm::all_of(op->getOperandTypes(), llvm::IsaPred<IndexType>)) {
    operands = get(op->getOperands(), substitution);
    isSubstituted = operands != get(op->getOperands());
  }
  for (auto [position, atom] : llvm::enumerate(atoms)) {
    bool isSame = isSubstituted ? atom.op && atom.op->getName() == op->getName() &&
                                      atom.op->getAttrs() == op->getAttrs() && atom.operands == operands
                                : atom.value == index;
    if (isSame)
      return getAffineDimExpr(position, context);
  }
  atoms.push_back(isSubstituted ? Atom{Value(), op, operands} : Atom{index, nullptr, {}});
  return getAffineDimExpr(atoms.size() - 1, context);
}

AffineExpr IndexSpace::getFresh() {
  atoms.push_back(Atom{Value(), nullptr, {}});
  return getAffineDimExpr(atoms.size() - 1, context);
}

SmallVector<Value> IndexSpace::getValues(AffineExpr expr) const {
  SmallVector<Value> values;
  for (auto [position, atom] : llvm::enumerate(atoms))
    if (atom.value && expr.isFunctionOfDim(position))
      values.push_back(atom.value);
  return values;
}

bool IndexSpace::dependsOn(AffineExpr expr, Value value) {
  return expr.isFunctionOfDim(cast<AffineDimExpr>(get(value)).getPosition());
}

std::optional<int64_t> IndexSpace::getSlope(AffineExpr expr, Value value) {
  AffineExpr variable = get(value);
  return index::getSlope(expr, variable, getNumDims(), 0);
}

AffineExpr IndexSpace::without(AffineExpr expr, Value value) {
  AffineExpr dim = get(value), rest = simplify(expr - dim);
  return rest.isFunctionOfDim(cast<AffineDimExpr>(dim).getPosition()) ? AffineExpr() : rest;
}

Value IndexSpace::materialize(OpBuilder &builder, Location loc, AffineExpr expr) const {
  SmallVector<AffineExpr> dims(atoms.size(), getAffineConstantExpr(0, context));
  SmallVector<OpFoldResult> operands;
  for (auto [position, atom] : llvm::enumerate(atoms))
    if (expr.isFunctionOfDim(position)) {
      dims[position] = builder.getAffineDimExpr(operands.size());
      operands.push_back(atom.value);
    }
  AffineMap map = AffineMap::get(operands.size(), 0, expr.replaceDims(dims));
  return getValueOrCreateConstantIndexOp(builder, loc,
                                         affine::makeComposedFoldedAffineApply(builder, loc, map, operands));
}

AffineExpr getRowMajorPlace(ArrayRef<AffineExpr> indices, ArrayRef<int64_t> shape) {
  AffineExpr place;
  for (auto [index, extent] : llvm::zip_equal(indices, shape)) {
    if (!index || (place && ShapedType::isDynamic(extent)))
      return AffineExpr();
    place = place ? place * extent + index : index;
  }
  return place;
}

} // namespace tilewright::index
