//===- InstructionMarks.h - loops that name a matrix instruction ----------===//
//
// `schedule.instruction` says which instruction is to do what a nest of loops does. The loops say what that is: whoever
// makes the instruction of them first proves that they multiply and add, and do nothing else.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_INSTRUCTIONMARKS_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_INSTRUCTIONMARKS_H

#include "passes/PassSupport.h"

namespace tilewright {

/// Loops one in the other around `sum[..] = sum[..] + a[..] * b[..]`, each operand maybe extended to the sum's type
/// first.
struct MultiplyAdd {
  llvm::SmallVector<mlir::scf::ForOp> loops; // outermost first, of constant extents from 0 by 1
  mlir::memref::LoadOp sum, a, b;
  mlir::memref::StoreOp store;
};

/// The nest as such loops, if that is all it does. `refuse` begins the error about the nest.
mlir::FailureOr<MultiplyAdd> readMultiplyAdd(mlir::scf::ForOp nest,
                                             llvm::function_ref<mlir::InFlightDiagnostic()> refuse);

/// Whether a value in such a nest is computed from the variable of one of its loops.
bool isComputedFrom(mlir::Value value, mlir::scf::ForOp loop);

} // namespace tilewright

#endif
