// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(convert-kernels-to-nvvm{arch=sm_80}))' -verify-diagnostics

gpu.module @kernels {
  gpu.func @f() kernel {
    // expected-error@+1 {{'tile.fence_async' op expected architecture sm_90a, got sm_80}}
    tile.fence_async
    gpu.return
  }
}
