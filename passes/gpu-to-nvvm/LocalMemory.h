//===- LocalMemory.h - the order of accesses to memory ------------------------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_NVVM_LOCALMEMORY_H
#define TILEWRIGHT_PASSES_GPU_TO_NVVM_LOCALMEMORY_H

namespace llvm {
class Module;
} // namespace llvm

namespace tilewright {

/// Keeps the order of loads and stores in functions with local memory, which ptxas loses in blocks with some 200 of
/// them. docs/rationale/indices.md has examples.
///
/// Loads of memory that nothing writes become ordinary ones: `ld.global` in place of `ld.global.nc`. A block of many
/// accesses is split: each part ends in a branch that is never taken, and that ptxas cannot leave out.
void keepOrderBesideLocalMemory(llvm::Module &module);

/// Keeps loads behind the wait for the kernels before, which loads through the read-only cache need not be. To LLVM's
/// passes, what such a kernel only reads is still memory that nothing writes.
void keepOrderBehindWaits(llvm::Module &module);

} // namespace tilewright

#endif
