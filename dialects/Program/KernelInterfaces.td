//===- KernelInterfaces.td - what ops of a kernel do that upstream leaves unsaid ===//
#ifndef TILEWRIGHT_KERNEL_INTERFACES
#define TILEWRIGHT_KERNEL_INTERFACES

include "mlir/IR/OpBase.td"

def Program_KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let description = [{
    What an op in a kernel does to memory, and with which threads. KernelInterfaces.cpp attaches models to ops of upstream
    whose own interfaces leave it unsaid, or say something else.
  }];
  let cppNamespace = "::tilewright";
  let methods = [
    InterfaceMethod<"What the op itself reads and writes in memory that a kernel sees.",
      "void", "getKernelEffects", (ins "::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &":$effects),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        if (auto op = ::llvm::dyn_cast<::mlir::MemoryEffectOpInterface>($_op.getOperation()))
          op.getEffects(effects);
      }]>,
    InterfaceMethod<"Whether all lanes of a warp do the op together, whoever uses its result.",
      "bool", "isWarpCollective", (ins), /*methodBody=*/"", /*defaultImplementation=*/[{ return false; }]>,
    InterfaceMethod<"Whether the op's indices pick elements of a buffer that it is given.",
      "bool", "picksElements", (ins), /*methodBody=*/"", /*defaultImplementation=*/[{ return false; }]>,
    InterfaceMethod<"Whether the op stands in kernels of asynchronous tiles, and orders their threads.",
      "bool", "ordersTiles", (ins), /*methodBody=*/"", /*defaultImplementation=*/[{ return false; }]>,
  ];
}

#endif // TILEWRIGHT_KERNEL_INTERFACES
