//===- TilePrelude.h - what printed kernels of asynchronous tiles need ----===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_TILEPRELUDE_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_TILEPRELUDE_H

#include "dialects/Tile/Instructions.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>

namespace tilewright::source {

/// The names of all functions and types that may stand before a kernel of asynchronous tiles.
llvm::SmallVector<llvm::StringRef> tileHelpers();
/// Those that are needed, in an order in which each knows what it calls.
std::string tilePreludeOf(const std::set<std::string> &needed);

/// A function of one instruction of a family, whose name says which.
struct InstructionFunction {
  std::string name, text;
};
/// TMA loads and stores of tensors of `rank` dimensions.
InstructionFunction tmaLoadFunction(unsigned rank, bool isMulticast);
InstructionFunction tmaStoreFunction(unsigned rank, bool adds);
/// wgmma of so many columns. With `isInRegisters` operand A is a fragment.
InstructionFunction wgmmaFunction(const tile::WgmmaInstruction &instruction, int64_t columns, bool isInRegisters);

} // namespace tilewright::source

#endif
