//===- AccessForm.cpp - which elements of a buffer an access touches ------===//
#include "passes/index/AccessForm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::index {

std::optional<ElementAccess> getElementAccess(Operation *op) {
  using Found = std::optional<ElementAccess>;
  return llvm::TypeSwitch<Operation *, Found>(op)
      .Case<memref::LoadOp>([](auto load) {
        return ElementAccess{&load.getMemrefMutable(), load.getIndicesMutable(), load.getType(), Value()};
      })
      .Case<vector::LoadOp>([](auto load) {
        return ElementAccess{&load.getBaseMutable(), load.getIndicesMutable(), load.getType(), Value()};
      })
      .Case<memref::StoreOp>([](auto store) {
        Value stored = store.getValueToStore();
        return ElementAccess{&store.getMemrefMutable(), store.getIndicesMutable(), stored.getType(), stored};
      })
      .Case<vector::StoreOp>([](auto store) {
        Value stored = store.getValueToStore();
        return ElementAccess{&store.getBaseMutable(), store.getIndicesMutable(), stored.getType(), stored};
      })
      .Default(Found());
}

std::optional<int64_t> ElementAccess::getLength() const {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector == cast<MemRefType>(buffer->get().getType()).getElementType())
    return 1;
  // One of no dimensions is one element.
  return vector.getRank() <= 1 && !vector.isScalable() ? std::optional(vector.getNumElements()) : std::nullopt;
}

AccessForm::AccessForm(ValueRange indices, int64_t length, llvm::function_ref<bool(Value, Value)> areSame)
    : map(AffineMap::getMultiDimIdentityMap(indices.size(), indices.front().getContext())), operands(indices),
      length(length) {
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  for (Value &operand : operands)
    operand = *llvm::find_if(operands, [&](Value value) { return value == operand || areSame(value, operand); });
  affine::canonicalizeMapAndOperands(&map, &operands);
  for (Value operand : operands)
    ranges.push_back(getRange(operand));
  ranges.push_back({0, length - 1});
}

AffineExpr AccessForm::getExpr(unsigned operand) const {
  unsigned numDims = map.getNumDims();
  return operand < numDims ? getAffineDimExpr(operand, map.getContext())
                           : getAffineSymbolExpr(operand - numDims, map.getContext());
}

LinearForm AccessForm::getForm(ArrayRef<int64_t> weights) const {
  unsigned numDims = map.getNumDims(), numSymbols = map.getNumSymbols();
  AffineExpr sum = getAffineConstantExpr(0, map.getContext());
  for (auto [weight, index] : llvm::zip_equal(weights, map.getResults()))
    sum = sum + index * weight;
  auto form = LinearForm::get(simplifyAffineExpr(sum, numDims, numSymbols));
  if (length > 1)
    form.add(getAffineSymbolExpr(numSymbols, map.getContext()), weights.back());
  return form;
}

LinearForm AccessForm::getForm(unsigned dimension) const {
  SmallVector<int64_t> weights(getRank(), 0);
  weights[dimension] = 1;
  return getForm(weights);
}

AffineExpr AccessForm::overCommon(AffineExpr expr, SmallVectorImpl<Value> &common,
                                  llvm::function_ref<bool(Value)> isSame) const {
  // Which of the accessed elements it is differs.
  bool known = !expr.isFunctionOfSymbol(map.getNumSymbols());
  SmallVector<AffineExpr> replacements;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    bool isDim = i < map.getNumDims();
    bool isUsed = isDim ? expr.isFunctionOfDim(i) : expr.isFunctionOfSymbol(i - map.getNumDims());
    known &= !isUsed || isSame(operand);
    size_t position = llvm::find(common, operand) - common.begin();
    if (position == common.size())
      common.push_back(operand);
    replacements.push_back(getAffineDimExpr(position, map.getContext()));
  }
  ArrayRef<AffineExpr> all(replacements);
  return known ? expr.replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()))
               : AffineExpr();
}

bool AccessForm::differsFrom(const AccessForm &other, llvm::function_ref<bool(Value)> isSame) const {
  SmallVector<Value> common;
  // What is accessed may be longer than one element along the last dimension.
  size_t rank = getRank() - (length > 1 || other.length > 1);
  for (size_t i = 0; i < rank; ++i) {
    AffineExpr here = overCommon(getIndex(i), common, isSame);
    AffineExpr there = other.overCommon(other.getIndex(i), common, isSame);
    if (here && there && areDifferentEverywhere(here, there, common.size()))
      return true;
  }
  return false;
}

bool AccessForm::isNeverEqual(const AccessForm &other, unsigned dimension) const {
  return areNeverEqual(getForm(dimension), getRanges(), other.getForm(dimension), other.getRanges());
}

SmallVector<int64_t> AccessForm::getTightWeights(const AccessForm &other) const {
  SmallVector<int64_t> weights(getRank(), 1);
  bool isKnown = true;
  for (size_t i = getRank() - 1; i > 0; --i) {
    Range here = getForm(i).getRange(getRanges()), there = other.getForm(i).getRange(other.getRanges());
    isKnown &= here.max && there.max;
    weights[i - 1] = isKnown ? weights[i] * (std::max(*here.max, *there.max) + 1) : 1;
  }
  return isKnown ? weights : SmallVector<int64_t>();
}

std::optional<std::pair<LinearForm, LinearForm>>
AccessForm::getFormsApart(const AccessForm &other, unsigned dimension, llvm::function_ref<bool(Value)> isSame) const {
  SmallVector<Value> common;
  // The form without the terms that are one number for both, whose sum is `same`.
  auto apart = [&](const AccessForm &access, AffineExpr &same) {
    LinearForm form, whole = access.getForm(dimension);
    same = getAffineConstantExpr(0, map.getContext());
    form.constant = whole.constant;
    for (const LinearForm::Term &term : whole.terms) {
      if (AffineExpr over = access.overCommon(term.expr, common, isSame))
        same = same + over * term.coefficient;
      else
        form.terms.push_back(term);
    }
    return form;
  };
  AffineExpr hereSame, thereSame;
  LinearForm here = apart(*this, hereSame), there = apart(other, thereSame);
  auto difference = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(hereSame - thereSame, common.size(), 0));
  if (!difference)
    return std::nullopt;
  here.constant += difference.getValue();
  return std::pair(here, there);
}

} // namespace tilewright::index
