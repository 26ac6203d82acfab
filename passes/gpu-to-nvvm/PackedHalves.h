//===- PackedHalves.h - pairs of 16-bit floats that ptxas gets right -------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_NVVM_PACKEDHALVES_H
#define TILEWRIGHT_PASSES_GPU_TO_NVVM_PACKEDHALVES_H

namespace llvm {
class Module;
} // namespace llvm

namespace tilewright {

/// Computes vectors of 16-bit floats lane by lane where single lanes of an operand are negated numbers or negative
/// constants.
///
/// ptxas takes both as numbers with a sign to be changed, and of two packed operands it loses the sign of one lane.
/// docs/rationale/indices.md has which.
void unpackSignedHalves(llvm::Module &module);

} // namespace tilewright

#endif
