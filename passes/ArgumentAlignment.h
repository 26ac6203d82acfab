//===- ArgumentAlignment.h - how far the memory of arguments is aligned ---===//
#ifndef TILEWRIGHT_PASSES_ARGUMENTALIGNMENT_H
#define TILEWRIGHT_PASSES_ARGUMENTALIGNMENT_H

#include "passes/PassSupport.h"

namespace tilewright {

/// What divides the address of an argument's memory, in bytes, unless te.align says otherwise.
inline constexpr int64_t kArgumentAlignment = 16;

/// What divides the address of an argument of a function or a kernel.
inline int64_t getArgumentAlignment(mlir::FunctionOpInterface function, unsigned position) {
  auto said = function.getArgAttrOfType<mlir::IntegerAttr>(position, te::kAlignAttr);
  return said ? said.getInt() : kArgumentAlignment;
}

/// What divides the address of a buffer's first element where it is an argument of a function. All other memory is
/// placed as is needed.
int64_t getBufferAlignment(mlir::Value buffer);

} // namespace tilewright

#endif
