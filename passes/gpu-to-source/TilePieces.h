//===- TilePieces.h - functions and types of printed kernels of tiles -----===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_TILEPIECES_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_TILEPIECES_H

#include "llvm/ADT/ArrayRef.h"

namespace tilewright::source {

/// The text of a function or a type, by its name.
struct TilePiece {
  const char *name, *text;
};

/// What kernels need for the tensor cores, and to move fragments between registers and memory.
llvm::ArrayRef<TilePiece> getFragmentPieces();

} // namespace tilewright::source

#endif
