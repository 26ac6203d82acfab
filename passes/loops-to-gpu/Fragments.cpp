//===- Fragments.cpp - tiles of matrices in the registers of a warp -------===//
#include "passes/loops-to-gpu/Fragments.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

MemRefType FragmentLayout::getLaneType(MemRefType type) const {
  SmallVector<int64_t> shape(type.getShape());
  shape[rowDim] /= rowTile;
  shape[colDim] /= colTile;
  shape.push_back(getElements());
  return MemRefType::get(shape, type.getElementType(), MemRefLayoutAttrInterface(), type.getMemorySpace());
}

AffineExpr IndexForms::get(Value index, const Substitution &substitution) {
  if (auto found = substitution.find(index); found != substitution.end())
    return found->second;
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return getAffineConstantExpr(*constant, context);
  if (auto apply = index.getDefiningOp<affine::AffineApplyOp>()) {
    SmallVector<AffineExpr> operands = get(apply.getMapOperands(), substitution);
    AffineMap map = apply.getAffineMap();
    ArrayRef<AffineExpr> all(operands);
    return simplify(map.getResult(0).replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims())));
  }
  // Operations are told apart by what they compute, once something is put in the place of a value that they use.
  Operation *op = index.getDefiningOp();
  SmallVector<AffineExpr> operands;
  bool isSubstituted = false;
  if (op && op->getNumOperands() && op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
      llvm::all_of(op->getOperandTypes(), llvm::IsaPred<IndexType>)) {
    operands = get(op->getOperands(), substitution);
    isSubstituted = operands != get(op->getOperands());
  }
  for (auto [position, atom] : llvm::enumerate(atoms)) {
    bool isSame = isSubstituted ? atom.op && atom.op->getName() == op->getName() && atom.op->getAttrs() == op->getAttrs() &&
                                      atom.operands == operands
                                : atom.value == index;
    if (isSame)
      return getAffineDimExpr(position, context);
  }
  atoms.push_back(isSubstituted ? Atom{Value(), op, operands} : Atom{index, nullptr, {}});
  return getAffineDimExpr(atoms.size() - 1, context);
}

SmallVector<AffineExpr> IndexForms::get(ValueRange indices, const Substitution &substitution) {
  return llvm::map_to_vector(indices, [&](Value index) { return get(index, substitution); });
}

AffineExpr IndexForms::getFresh() {
  atoms.push_back(Atom{Value(), nullptr, {}});
  return getAffineDimExpr(atoms.size() - 1, context);
}

AffineExpr IndexForms::without(AffineExpr expr, Value value) {
  AffineExpr dim = get(value), rest = simplify(expr - dim);
  return rest.isFunctionOfDim(cast<AffineDimExpr>(dim).getPosition()) ? AffineExpr() : rest;
}

bool IndexForms::isOfValues(AffineExpr expr) const {
  for (auto [position, atom] : llvm::enumerate(atoms))
    if (!atom.value && expr.isFunctionOfDim(position))
      return false;
  return true;
}

SmallVector<Value> IndexForms::getValues(AffineExpr expr) const {
  SmallVector<Value> values;
  for (auto [position, atom] : llvm::enumerate(atoms))
    if (atom.value && expr.isFunctionOfDim(position))
      values.push_back(atom.value);
  return values;
}

Value IndexForms::materialize(OpBuilder &builder, Location loc, AffineExpr expr) const {
  SmallVector<AffineExpr> dims(atoms.size(), getAffineConstantExpr(0, context));
  SmallVector<OpFoldResult> operands;
  for (auto [position, atom] : llvm::enumerate(atoms))
    if (expr.isFunctionOfDim(position)) {
      dims[position] = builder.getAffineDimExpr(operands.size());
      operands.push_back(atom.value);
    }
  AffineMap map = AffineMap::get(operands.size(), 0, expr.replaceDims(dims));
  return getValueOrCreateConstantIndexOp(builder, loc, affine::makeComposedFoldedAffineApply(builder, loc, map, operands));
}

} // namespace tilewright
