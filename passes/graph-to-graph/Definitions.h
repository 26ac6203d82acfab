//===- Definitions.h - what the te function of an operator says of it ------===//
#ifndef TILEWRIGHT_PASSES_GRAPHTOGRAPH_DEFINITIONS_H
#define TILEWRIGHT_PASSES_GRAPHTOGRAPH_DEFINITIONS_H

#include "passes/PassSupport.h"

namespace tilewright {

/// How an operator reads one of its operands.
struct OperandUse {
  /// Each element of the operand is read for at most one element of the result.
  bool isReadOnce = true;
  /// Each element of the result reads the operand's element at the same place, and no other.
  bool isElementwise = true;
  /// As `isElementwise`, but along dimensions of extent 1 of the operand all elements read the one that is there.
  bool isBroadcast = true;
};

/// What an operator does, read off the function of te that defines it.
struct Definition {
  /// Something is reduced, scanned, or computed by statements.
  bool reduces = false;
  /// Elements are moved, and nothing is computed.
  bool onlyMoves = true;
  llvm::SmallVector<OperandUse> operands;
};

/// Nothing where `function` is none of te.
std::optional<Definition> readDefinition(mlir::func::FuncOp function);

} // namespace tilewright

#endif
