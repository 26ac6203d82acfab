//===- BufferAllocation.h - ops that allocate a buffer of the program -----===//
#ifndef TILEWRIGHT_DIALECTS_TE_BUFFERALLOCATION_H
#define TILEWRIGHT_DIALECTS_TE_BUFFERALLOCATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {

/// Whether all that an op does is to allocate a memref, on the stack or elsewhere. One that allocates what LLVM's
/// pointers point to does not.
inline bool allocatesBuffer(mlir::Operation *op) {
  return mlir::hasSingleEffect<mlir::MemoryEffects::Allocate>(op) && op->getNumResults() == 1 &&
         mlir::isa<mlir::MemRefType>(op->getResult(0).getType());
}

} // namespace tilewright

#endif
