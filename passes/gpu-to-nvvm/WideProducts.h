//===- WideProducts.h - high halves of products that ptxas gets right ------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_NVVM_WIDEPRODUCTS_H
#define TILEWRIGHT_PASSES_GPU_TO_NVVM_WIDEPRODUCTS_H

namespace llvm {
class Module;
} // namespace llvm

namespace tilewright {

/// Makes high halves of 32-bit products, divisions by constants among them, of `mul.wide` and a shift, in functions
/// that subtract in 64 bits.
///
/// ptxas (nvJitLink 13.0 to 13.5, driver 580) makes one IMAD.HI of `sub.s64(cvt.u64.u32(mul.hi.u32(a, c)), x)`, with
/// -x in a register as what is added, and takes the carry of that sum for the high half. Where the low half of x is 0
/// its negation has carried already, and that carry is lost: the result is 2^32 too small. `mul.wide` it leaves alone.
void makeHighProductsWide(llvm::Module &module);

} // namespace tilewright

#endif
