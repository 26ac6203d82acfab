//===- Masks.h - conditions on an element's place, and what they choose ---===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOTILE_MASKS_H
#define TILEWRIGHT_PASSES_LOOPSTOTILE_MASKS_H

#include "passes/PassSupport.h"
#include "passes/index/LinearIndex.h"

namespace tilewright {

/// The value where the condition of a mask does not hold, and the condition.
std::optional<std::pair<mlir::Value, mlir::Value>> matchMask(mlir::Operation *op);

/// What a number is as a term of a sum, where it is loaded.
using LoadedTerm = llvm::function_ref<std::optional<index::LinearIndex>(mlir::memref::LoadOp)>;

/// A compared number as a sum, or nothing where it is none.
std::optional<index::LinearIndex> getSum(mlir::Value value, LoadedTerm getLoaded);

/// For a comparison of sums of indices: a number that is at least 0 where it holds, and negative elsewhere.
std::optional<index::LinearIndex> getMargin(mlir::Value condition, LoadedTerm getLoaded);

} // namespace tilewright

#endif
