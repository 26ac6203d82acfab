// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(synchronize-copies))' -split-input-file -verify-diagnostics

#shared = #gpu.address_space<workgroup>
gpu.module @group {
  gpu.func @k(%a: memref<64xf32>, %t: memref<8xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{expected copies in groups of nvvm.cp.async.commit.group, got a use of one}}
    %copy = nvgpu.device_async_copy %a[%c0], %t[%c0], 4 : memref<64xf32> to memref<8xf32, #shared>
    %group = nvgpu.device_async_create_group %copy
    gpu.return
  }
}
