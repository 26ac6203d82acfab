//===- ElementBytes.h - the size of an element in memory ------------------===//
#ifndef TILEWRIGHT_DIALECTS_TARGET_ELEMENTBYTES_H
#define TILEWRIGHT_DIALECTS_TARGET_ELEMENTBYTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace tilewright {

/// The bytes of an element in memory: of a complex number, of all elements of a vector, of an index 8. What has fewer
/// bits than whole bytes takes them whole; tf32 is stored as f32.
inline int64_t getElementBytes(mlir::Type type) {
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(type))
    return 2 * getElementBytes(complex.getElementType());
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
    return vector.getNumElements() * getElementBytes(vector.getElementType());
  if (type.isIndex())
    return 8;
  return mlir::isa<mlir::FloatTF32Type>(type) ? 4 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

} // namespace tilewright

#endif
