//===- Symbols.h - what the symbols of a call are -------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_SYMBOLS_H
#define TILEWRIGHT_RUNTIME_HOST_SYMBOLS_H

#include "runtime/host/ABI.h"

namespace tilewright::host {

/// Where a symbol has its value: a dimension of a tensor, the stride of one, or a number of its own.
struct Place {
  int32_t argument, dim;
  bool isStride;
  int64_t value;
};

/// The arguments of a call, in which symbols have their values.
struct Symbols {
  const TilewrightSignature &signature;
  const TilewrightAny *args;

  /// The symbol's first place before that one, which says what it is. A tensor's extents come before its strides, of
  /// which those of one element say nothing.
  bool find(const char *symbol, int32_t position, int32_t at, Place &found) const;

  /// Its first place of all.
  bool find(const char *symbol, Place &found) const {
    return find(symbol, signature.argumentCount - 1, INT32_MAX, found);
  }

  /// An extent in a call whose tensors and numbers have been checked, or `otherwise` where nothing says it.
  int64_t extentOf(const TilewrightExtent &extent, int64_t otherwise) const;
};

} // namespace tilewright::host

#endif
