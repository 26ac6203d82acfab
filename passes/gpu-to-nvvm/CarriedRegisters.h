//===- CarriedRegisters.h - registers that ptxas keeps over loops ----------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_NVVM_CARRIEDREGISTERS_H
#define TILEWRIGHT_PASSES_GPU_TO_NVVM_CARRIEDREGISTERS_H

namespace llvm {
class Module;
} // namespace llvm

namespace tilewright {

/// Gives what loops carry from iteration to iteration, and has no value before the first, the value 0.
///
/// ptxas holds other numbers in a register that nothing is written to before a loop, also in iterations after the one
/// that writes it. docs/rationale/indices.md has an example.
void initializeCarriedRegisters(llvm::Module &module);

} // namespace tilewright

#endif
