//===- ArgumentAlignment.h - how far the memory of arguments is aligned ---===//
#ifndef TILEWRIGHT_PASSES_ARGUMENTALIGNMENT_H
#define TILEWRIGHT_PASSES_ARGUMENTALIGNMENT_H

#include "passes/PassSupport.h"

namespace tilewright {

/// On an argument: what divides the address of its memory, in bytes, where that is not kArgumentAlignment (an i64).
inline constexpr llvm::StringLiteral kAlignAttr = "te.align";
inline constexpr int64_t kArgumentAlignment = 16;

/// What divides the address of an argument of a function or a kernel.
inline int64_t getArgumentAlignment(mlir::FunctionOpInterface function, unsigned position) {
  auto said = function.getArgAttrOfType<mlir::IntegerAttr>(position, kAlignAttr);
  return said ? said.getInt() : kArgumentAlignment;
}

/// What divides the address of a buffer's first element where it is an argument of a function. All other memory is placed
/// as is needed.
int64_t getBufferAlignment(mlir::Value buffer);

} // namespace tilewright

#endif
