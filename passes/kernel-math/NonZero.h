//===- NonZero.h - what is known of integers by the ops that make them ----===//
#ifndef TILEWRIGHT_KERNEL_MATH_NONZERO_H
#define TILEWRIGHT_KERNEL_MATH_NONZERO_H

#include "mlir/IR/Value.h"

namespace tilewright {

/// Whether no lane of an integer or index can be 0.
bool isKnownNonZero(mlir::Value value);

/// Whether `op` divides integers, and the divisor may be 0.
bool mayDivideByZero(mlir::Operation *op);

} // namespace tilewright

#endif
