//===- TensorTypes.h - types of tensors ------------------------------------===//
#ifndef TILEWRIGHT_PASSES_GRAPHTOGRAPH_TENSORTYPES_H
#define TILEWRIGHT_PASSES_GRAPHTOGRAPH_TENSORTYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace tilewright {

inline mlir::RankedTensorType typeOfTensor(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace tilewright

#endif
