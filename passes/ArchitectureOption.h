//===- ArchitectureOption.h - the architecture that a pass is told --------===//
#ifndef TILEWRIGHT_PASSES_ARCHITECTUREOPTION_H
#define TILEWRIGHT_PASSES_ARCHITECTUREOPTION_H

#include "dialects/Target/Architectures.h"
#include "passes/PassSupport.h"

namespace tilewright {

/// The architecture of that name; null, and an error at `op`, where there is none.
inline const Architecture *findArchitectureOption(mlir::Operation *op, llvm::StringRef name) {
  const Architecture *found = findArchitecture(name);
  if (!found)
    op->emitError("expected one of the architectures ") << knownArchitectures() << ", got '" << name << "'";
  return found;
}

} // namespace tilewright

#endif
