//===- HoistValue.h - values of a nest, before it ---------------------------===//
#ifndef TILEWRIGHT_PASSES_HOISTVALUE_H
#define TILEWRIGHT_PASSES_HOISTVALUE_H

#include "mlir/IR/Builders.h"

namespace tilewright {

/// The value at the builder's insertion point, before `nest`: what it is computed from may stand in the nest. Fails
/// where that is not known before the nest runs.
mlir::FailureOr<mlir::Value> hoistValue(mlir::OpBuilder &builder, mlir::Operation *nest, mlir::Value value);

} // namespace tilewright

#endif
