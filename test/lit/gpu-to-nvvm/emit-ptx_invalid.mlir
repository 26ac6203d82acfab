// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(emit-ptx))'

// expected-error@+1 {{expected a gpu.module with one #nvvm.target}}
gpu.module @m {}

// -----

// expected-error@+1 {{expected a gpu.module with one #nvvm.target}}
gpu.module @m [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90">] {}

// -----

// What the back end cannot select would end the process.
// expected-error@+1 {{LLVM's NVPTX back end gave up for sm_90: Cannot select: }}
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%p: !llvm.ptr) attributes {nvvm.kernel} {
    %x = llvm.load %p : !llvm.ptr -> f64
    %y = llvm.intr.exp(%x) : (f64) -> f64
    llvm.store %y, %p : f64, !llvm.ptr
    llvm.return
  }
}
