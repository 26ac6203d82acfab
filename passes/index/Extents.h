//===- Extents.h - extents of tensors, symbolic ones too ------------------===//
#ifndef TILEWRIGHT_PASSES_INDEX_EXTENTS_H
#define TILEWRIGHT_PASSES_INDEX_EXTENTS_H

#include "passes/index/LinearIndex.h"

#include <string>

namespace tilewright::index {

/// An extent that a program asks for, in units of a number that divides it, as apply-schedule has it.
struct Extent {
  mlir::Value tensor;
  unsigned dimension;
  int64_t unit = 1;

  /// The extent that a value is, or nothing where it is none.
  static std::optional<Extent> get(mlir::Value value);

  /// The least number of units that calls may have, from the argument's `te.minimum`.
  int64_t getLeast() const;
};

/// Whether `index` is always the extent of a tensor in global memory along a dimension: the same number or symbol.
bool isExtent(const LinearIndex &index, mlir::Value tensor, unsigned dimension);
/// A number that divides the extent, 1 where none is known.
int64_t getKnownDivisor(mlir::Value tensor, unsigned dimension);
/// The symbol as the user wrote it, or nothing where the extent has no name.
std::string getSymbolName(mlir::Value tensor, unsigned dimension);

} // namespace tilewright::index

#endif
