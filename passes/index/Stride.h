//===- Stride.h - how an index changes with a value, and what divides it --===//
#ifndef TILEWRIGHT_PASSES_INDEX_STRIDE_H
#define TILEWRIGHT_PASSES_INDEX_STRIDE_H

#include "mlir/IR/Value.h"

#include <optional>

namespace tilewright::index {

/// How much an index grows with each step of `variable`, a loop's, where that is always the same.
std::optional<int64_t> getStride(mlir::Value index, mlir::Value variable);

/// The largest power of two that is known to divide an index while `variable` is 0.
int64_t getDivisor(mlir::Value index, mlir::Value variable);

} // namespace tilewright::index

#endif
