// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(convert-kernels-to-nvvm{arch=sm_80}))' -split-input-file -verify-diagnostics

gpu.module @f_kernels {
  // expected-error@below {{expected sm_90 or later for dependent launches, got sm_80}}
  gpu.func @f_kernel0(%a: memref<4xf32>) kernel attributes {tilewright.launch = {dependent}} {
    gpu.return
  }
}

// -----

gpu.module @f_kernels {
  // expected-error@below {{expected sm_90 or later for clusters of blocks, got sm_80}}
  gpu.func @f_kernel0(%a: memref<4xf32>) kernel attributes {tilewright.launch = {cluster = array<i32: 2, 1, 1>}} {
    gpu.return
  }
}

// -----

// A cooperative launch needs no more than what is there since sm_60.
gpu.module @f_kernels {
  gpu.func @f_kernel0(%a: memref<4xf32>) kernel attributes {tilewright.launch = {cooperative}} {
    gpu.return
  }
}
