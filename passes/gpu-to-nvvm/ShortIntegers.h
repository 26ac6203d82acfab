//===- ShortIntegers.h - integers of 8 and 16 bits that ptxas gets right ---===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_NVVM_SHORTINTEGERS_H
#define TILEWRIGHT_PASSES_GPU_TO_NVVM_SHORTINTEGERS_H

namespace llvm {
class Module;
} // namespace llvm

namespace tilewright {

/// Takes pairs of 16-bit integers apart, makes minima and maxima of 16 bits of those of 32, and stores vectors of bytes
/// as vectors of 32-bit words.
///
/// ptxas makes packed instructions of them for sm_90 and later (`VIADD.16x2`, `VIMNMX.S16x2`, `VIMNMX3.S16x2`), and
/// some of these compute something else than the PTX says. Of eight bytes in a 64-bit number it loses some.
/// docs/rationale/indices.md has which.
void widenShortIntegers(llvm::Module &module);

} // namespace tilewright

#endif
