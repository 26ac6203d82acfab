// RUN: tilewright-opt %s --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(emit-ptx))'

// expected-error@+1 {{expected a gpu.module with one #nvvm.target}}
gpu.module @m {}
