//===- FusedMultiplyAdd.h - x y + z without the instruction for it --------===//
#ifndef TILEWRIGHT_PASSES_HOSTTOFFI_FUSEDMULTIPLYADD_H
#define TILEWRIGHT_PASSES_HOSTTOFFI_FUSEDMULTIPLYADD_H

namespace llvm {
class Function;
} // namespace llvm

namespace tilewright {

/// Computes each fma of f32 in f64, in vectors. On a processor without the instruction a function of the C library
/// would compute one element at a time. The product is exact, and so is a sum that f32 has. Another sum is rounded to
/// f64 before f32, which is another number of f32 in one of some 10^9 cases.
void computeFMAInDouble(llvm::Function &function);

} // namespace tilewright

#endif
