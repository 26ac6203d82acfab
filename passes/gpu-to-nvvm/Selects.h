//===- Selects.h - choices that ptxas gets right --------------------------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_NVVM_SELECTS_H
#define TILEWRIGHT_PASSES_GPU_TO_NVVM_SELECTS_H

namespace llvm {
class Module;
} // namespace llvm

namespace tilewright {

/// Selects 16-bit floats by a mask of bits where one of both is also used otherwise.
///
/// ptxas moves the other number into the register of the first under a condition, and then packs two operations: one
/// that reads the choice, and one that reads what the register held before. docs/rationale/indices.md has an example.
void selectHalvesByMasks(llvm::Module &module);

/// Compares numbers of one bit with 0 as what they are: predicates.
///
/// ptxas 13.0 to 13.3 takes `(a ? 1 : 0) | (b ? 1 : 0)`, where it is compared with 0 and `a` alone decides later, for
/// `!a | !b`. docs/rationale/indices.md has an example.
void compareBitsAsPredicates(llvm::Module &module);

} // namespace tilewright

#endif
