//===- CarriedRegisters.h - registers that ptxas keeps over branches ----------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_NVVM_CARRIEDREGISTERS_H
#define TILEWRIGHT_PASSES_GPU_TO_NVVM_CARRIEDREGISTERS_H

namespace llvm {
class Module;
} // namespace llvm

namespace tilewright {

/// Gives a value that is not written on one of the ways to it the value 0 there: before the first iteration of a loop,
/// or where a branch is not taken. So are elements of local memory that are loaded before anything writes them.
///
/// ptxas holds other numbers in a register that nothing is written to before a loop, also in iterations after the one
/// that writes it; and where many branches on one condition write registers that are read under it later, ptxas 13.0
/// loses some of the writes, and 13.5 ends by a segmentation fault. docs/rationale/indices.md has an example.
void initializeCarriedRegisters(llvm::Module &module);

} // namespace tilewright

#endif
