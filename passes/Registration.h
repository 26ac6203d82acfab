#ifndef TILEWRIGHT_PASSES_REGISTRATION_H
#define TILEWRIGHT_PASSES_REGISTRATION_H

#include "mlir-c/IR.h"
#include "mlir/IR/DialectRegistry.h"

#include <optional>
#include <string>

namespace tilewright {
void registerDialects(mlir::DialectRegistry &registry);

/// Why MLIR's reader gives up on `text`, IR as text or bytecode, where it would end the process; nothing where it makes
/// a module of it or says what is wrong.
std::optional<std::string> findGivenUp(const mlir::DialectRegistry &registry, llvm::StringRef text);
} // namespace tilewright

extern "C" {
void tilewrightRegisterDialects(MlirDialectRegistry registry);
void tilewrightRegisterPasses();
/// As findGivenUp; null for nothing, and a string that is valid until the thread's next call.
const char *tilewrightFindGivenUp(MlirDialectRegistry registry, const char *text, size_t size);
}

#endif
