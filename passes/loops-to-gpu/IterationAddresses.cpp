//===- IterationAddresses.cpp - what threads touch in one iteration -------===//
//
// Within an iteration of the loops around two accesses, what does not depend on threads is one number for both.
//
//===----------------------------------------------------------------------===//
#include "passes/loops-to-gpu/AddressForms.h"

using namespace mlir;

namespace tilewright {

AffineExpr SharedAccess::overCommon(AffineExpr expr, SmallVectorImpl<Value> &common,
                                    llvm::function_ref<bool(Value)> isSame) const {
  // Which of the accessed elements it is differs.
  bool known = !expr.isFunctionOfSymbol(indices.getNumSymbols());
  SmallVector<AffineExpr> replacements;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    bool isDim = i < indices.getNumDims();
    bool isUsed = isDim ? expr.isFunctionOfDim(i) : expr.isFunctionOfSymbol(i - indices.getNumDims());
    known &= !isUsed || isSame(operand);
    size_t position = llvm::find(common, operand) - common.begin();
    if (position == common.size())
      common.push_back(operand);
    replacements.push_back(getAffineDimExpr(position, op->getContext()));
  }
  ArrayRef<AffineExpr> all(replacements);
  return known ? expr.replaceDimsAndSymbols(all.take_front(indices.getNumDims()), all.drop_front(indices.getNumDims()))
               : AffineExpr();
}

bool SharedAccess::takesOtherPlace(const SharedAccess &other, llvm::function_ref<bool(Value)> isSame) const {
  if (buffer != other.buffer || !hasIndices || !other.hasIndices)
    return false;
  SmallVector<Value> common;
  // What is accessed may be longer than one element along the last dimension.
  size_t rank = indices.getNumResults() - (length > 1 || other.length > 1);
  for (size_t i = 0; i < rank; ++i) {
    AffineExpr here = overCommon(indices.getResult(i), common, isSame);
    AffineExpr there = other.overCommon(other.indices.getResult(i), common, isSame);
    if (!here || !there)
      continue;
    if (index::areDifferentEverywhere(here, there, common.size()))
      return true;
  }
  return false;
}

bool SharedAccess::isApartInIteration(const SharedAccess &other, llvm::function_ref<bool(Value)> isSame) const {
  if (buffer != other.buffer || !hasIndices || !other.hasIndices)
    return false;
  unsigned open = getOpenThreads(other);
  SmallVector<Value> common;
  // The form without the terms that are one number for both, whose sum is `same`.
  auto apart = [&](const SharedAccess &access, ArrayRef<int64_t> weights, AffineExpr &same) {
    index::LinearForm form;
    same = getAffineConstantExpr(0, op->getContext());
    index::LinearForm whole = access.getForm(weights);
    form.constant = whole.constant;
    for (const index::LinearForm::Term &term : whole.terms) {
      if (AffineExpr over = access.overCommon(term.expr, common, isSame))
        same = same + over * term.coefficient;
      else
        form.terms.push_back(term);
    }
    return form;
  };
  for (size_t i = 0, rank = indices.getNumResults(); i < rank; ++i) {
    SmallVector<int64_t> weights(rank, 0);
    weights[i] = 1;
    AffineExpr hereSame, thereSame;
    index::LinearForm here = apart(*this, weights, hereSame), there = apart(other, weights, thereSame);
    auto difference = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(hereSame - thereSame, common.size(), 0));
    if (!difference)
      continue;
    here.constant += difference.getValue();
    if (index::areNeverEqual(here, getRanges(), there, other.getRanges()))
      return true;
    closeThreads(open, here, other, there);
  }
  return !open;
}

} // namespace tilewright
