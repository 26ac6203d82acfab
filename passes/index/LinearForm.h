//===- LinearForm.h - indices as sums of multiples ------------------------===//
#ifndef TILEWRIGHT_PASSES_INDEX_LINEARFORM_H
#define TILEWRIGHT_PASSES_INDEX_LINEARFORM_H

#include "passes/index/Range.h"

namespace tilewright::index {

/// An affine expression as a constant plus multiples of terms that are no sums: dimensions, symbols, quotients,
/// remainders, and products of these. No two terms are equal, and no coefficient is 0.
struct LinearForm {
  struct Term {
    mlir::AffineExpr expr;
    int64_t coefficient;
  };
  llvm::SmallVector<Term> terms; // in the order in which the expression has them
  int64_t constant = 0;

  static LinearForm get(mlir::AffineExpr expr);

  /// Adds `factor` times a term that is no sum.
  void add(mlir::AffineExpr term, int64_t factor);
  /// Adds `factor` times another form.
  void add(const LinearForm &other, int64_t factor = 1);

  mlir::AffineExpr getExpr(mlir::MLIRContext *context) const;
  /// 0 where the form does not have the term.
  int64_t getCoefficient(mlir::AffineExpr term) const;
  /// The greatest number that divides the coefficients of all terms; 0 where there is none.
  int64_t getCommonFactor() const;
  Range getRange(const OperandRanges &operands) const;

  /// What are multiples of `divisor`, divided, and the rest, whose constant is from 0 to `divisor` - 1.
  std::pair<LinearForm, LinearForm> divide(int64_t divisor) const;
};

/// Whether two forms, each with its own operands, never have the same value: their ranges are apart, or they leave
/// different remainders.
bool areNeverEqual(const LinearForm &a, const OperandRanges &operandsOfA, const LinearForm &b,
                   const OperandRanges &operandsOfB);

/// Whether two expressions over the same `numDims` values differ for all of these: by a constant, or at each step of
/// the only value that they depend on, until they repeat.
bool areDifferentEverywhere(mlir::AffineExpr here, mlir::AffineExpr there, unsigned numDims);

/// If `digit`, a term from 0 to `extent` - 1 of the form, can be read off the form's value alone, as
/// (value floordiv c) mod extent where c is its coefficient: the form without it, in which what stands above the digit
/// is divided by `extent`. A digit with a negative coefficient counts backwards: its value is extent - 1 - that of the
/// term. Nothing where what stands below the digit may carry into it.
std::optional<LinearForm> removeDigit(const LinearForm &form, mlir::AffineExpr digit, int64_t extent,
                                      const OperandRanges &operands);

/// Whether `variable` follows from the numbers that these expressions are: it is the same where each of them has the
/// same value twice. Operands for which `varies` holds may be other ones both times, within their ranges; the others
/// are the same.
bool isDetermined(mlir::AffineExpr variable, llvm::ArrayRef<mlir::AffineExpr> exprs,
                  llvm::function_ref<bool(mlir::AffineExpr)> varies, const OperandRanges &operands);

/// How much `expr` grows with each step of `variable`, a dimension or a symbol, where that is always the same.
std::optional<int64_t> getSlope(mlir::AffineExpr expr, mlir::AffineExpr variable, unsigned numDims,
                                unsigned numSymbols);

} // namespace tilewright::index

#endif
