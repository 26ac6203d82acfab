//===- TensorTypes.h - types of tensors ------------------------------------===//
#ifndef TILEWRIGHT_PASSES_GRAPHTOGRAPH_TENSORTYPES_H
#define TILEWRIGHT_PASSES_GRAPHTOGRAPH_TENSORTYPES_H

#include "dialects/Target/ElementBytes.h"

#include "mlir/IR/BuiltinTypes.h"

#include <limits>

namespace tilewright {

inline mlir::RankedTensorType typeOfTensor(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// The bytes of a tensor of static shape, a bool being one; the most that 63 bits count where it has more.
inline int64_t bytesOfTensor(mlir::RankedTensorType type) {
  int64_t bytes = getElementBytes(type.getElementType());
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  for (int64_t extent : type.getShape())
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return std::numeric_limits<int64_t>::max();
  return bytes;
}

/// The name of a float of 16 or 32 bits, as attributes have it; nothing of another type.
inline llvm::StringRef getFloatName(mlir::Type type) {
  return type.isF32() ? "float32" : type.isF16() ? "float16" : type.isBF16() ? "bfloat16" : "";
}

} // namespace tilewright

#endif
