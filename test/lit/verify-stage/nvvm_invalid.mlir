// RUN: tilewright-opt %s --verify-stage=stage=nvvm -split-input-file -verify-diagnostics

// What may not stand at the stage nvvm.
gpu.module @kernels {
  // expected-error @below {{stage nvvm: expected ops of the dialects llvm and nvvm in a module of kernels, got 'gpu.func'}}
  gpu.func @k() kernel {
    gpu.return
  }
}
