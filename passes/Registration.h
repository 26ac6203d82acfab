#ifndef TILEWRIGHT_PASSES_REGISTRATION_H
#define TILEWRIGHT_PASSES_REGISTRATION_H

#include "mlir-c/IR.h"
#include "mlir/IR/DialectRegistry.h"

namespace tilewright {
void registerDialects(mlir::DialectRegistry &registry);
} // namespace tilewright

extern "C" {
void tilewrightRegisterDialects(MlirDialectRegistry registry);
void tilewrightRegisterPasses();
}

#endif
