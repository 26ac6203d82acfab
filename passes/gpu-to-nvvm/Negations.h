//===- Negations.h - negated integers that ptxas gets right ---------------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_NVVM_NEGATIONS_H
#define TILEWRIGHT_PASSES_GPU_TO_NVVM_NEGATIONS_H

namespace llvm {
class Module;
} // namespace llvm

namespace tilewright {

/// Makes `-x` of 32 bits `~x + 1` where a minimum or a maximum may read it.
///
/// ptxas 13.0 makes one `VIMNMX3` of two, and loses the negation of its second number. docs/rationale/indices.md has
/// which.
void completeNegations(llvm::Module &module);

} // namespace tilewright

#endif
