//===- KernelInterfaces.h - what ops of a kernel do that upstream leaves unsaid ===//
#ifndef TILEWRIGHT_DIALECTS_PROGRAM_KERNELINTERFACES_H
#define TILEWRIGHT_DIALECTS_PROGRAM_KERNELINTERFACES_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Program/KernelInterfaces.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tilewright {
/// Attaches the models of KernelOpInterface to ops of upstream's dialects.
void registerKernelInterfaces(mlir::DialectRegistry &registry);
} // namespace tilewright

#endif
