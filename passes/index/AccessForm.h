//===- AccessForm.h - which elements of a buffer an access touches --------===//
#ifndef TILEWRIGHT_PASSES_INDEX_ACCESSFORM_H
#define TILEWRIGHT_PASSES_INDEX_ACCESSFORM_H

#include "passes/index/LinearForm.h"

#include "mlir/IR/AffineMap.h"

namespace tilewright::index {

/// A load or store of memref or vector: the buffer, the indices of the first element, and what is read or written.
struct ElementAccess {
  mlir::OpOperand *buffer;
  mlir::MutableOperandRange indices;
  /// The type of an element, or a vector of elements along the last dimension.
  mlir::Type type;
  /// What is written; null for a load.
  mlir::Value stored;

  /// How many elements; nothing for vectors of several dimensions or scalable ones.
  std::optional<int64_t> getLength() const;
};
/// The access that an op is, or nothing.
std::optional<ElementAccess> getElementAccess(mlir::Operation *op);

/// The indices of an access as expressions of values that no affine.apply computes, their operands, with the ranges of
/// these. The access touches `length` elements from there on along the last dimension: one more symbol is which of
/// these it is.
class AccessForm {
public:
  /// Of operands for which `areSame` holds there is one.
  AccessForm(mlir::ValueRange indices, int64_t length, llvm::function_ref<bool(mlir::Value, mlir::Value)> areSame);

  size_t getRank() const { return map.getNumResults(); }
  int64_t getLength() const { return length; }
  mlir::AffineExpr getIndex(unsigned dimension) const { return map.getResult(dimension); }
  llvm::ArrayRef<mlir::Value> getOperands() const { return operands; }
  OperandRanges getRanges() const { return {map.getNumDims(), ranges}; }
  /// Keeps an operand within a range that is known from elsewhere.
  void narrow(unsigned operand, Range range) { ranges[operand] = intersect(ranges[operand], range); }
  /// An operand as a dimension or a symbol of the indices.
  mlir::AffineExpr getExpr(unsigned operand) const;

  /// The sum of the indices of the elements that are touched, each times its weight.
  LinearForm getForm(llvm::ArrayRef<int64_t> weights) const;
  /// The index along one dimension.
  LinearForm getForm(unsigned dimension) const;
  /// An expression of the operands over `common` values, those for which `isSame` holds; null where it is of others,
  /// too. Values that are not yet common become so.
  mlir::AffineExpr overCommon(mlir::AffineExpr expr, llvm::SmallVectorImpl<mlir::Value> &common,
                              llvm::function_ref<bool(mlir::Value)> isSame) const;

  /// Whether some index differs from that of the other access whatever the operands for which `isSame` does not hold.
  bool differsFrom(const AccessForm &other, llvm::function_ref<bool(mlir::Value)> isSame) const;
  /// Whether the indices along a dimension are never equal.
  bool isNeverEqual(const AccessForm &other, unsigned dimension) const;
  /// Weights by which the sum of an element's indices is its number in the part of the buffer that both touch; none
  /// where that part is not known.
  llvm::SmallVector<int64_t> getTightWeights(const AccessForm &other) const;
  /// The forms of both accesses along a dimension without what is one number for both, which is in the constants;
  /// nothing where the difference of that is not known.
  std::optional<std::pair<LinearForm, LinearForm>> getFormsApart(const AccessForm &other, unsigned dimension,
                                                                 llvm::function_ref<bool(mlir::Value)> isSame) const;

private:
  mlir::AffineMap map;
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<Range> ranges; // of the operands, and of which of the elements it is
  int64_t length;
};

} // namespace tilewright::index

#endif
