//===- Extents.h - extents of tensors, symbolic ones too ------------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_EXTENTS_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_EXTENTS_H

#include "passes/loops-to-tile/LinearIndex.h"

#include <string>

namespace tilewright {

/// Whether `index` is always the extent of a tensor in global memory along a dimension: the same number or symbol.
bool isExtent(const LinearIndex &index, mlir::Value tensor, unsigned dimension);
/// A number that divides the extent, 1 where none is known.
int64_t getKnownDivisor(mlir::Value tensor, unsigned dimension);
/// The symbol as the user wrote it, or nothing where the extent has no name.
std::string getSymbolName(mlir::Value tensor, unsigned dimension);

} // namespace tilewright

#endif
