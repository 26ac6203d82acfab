// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(convert-kernels-to-nvvm))'

gpu.module @m {
  // expected-error@+1 {{'gpu.func' op expected a memref without offset and memory space as argument #0, got 'memref<4xf32, strided<[2], offset: 1>>'}}
  gpu.func @k(%a: memref<4xf32, strided<[2], offset: 1>>) kernel { gpu.return }
}
// -----
gpu.module @m {
  // expected-error@+1 {{'gpu.func' op expected a memref, an index, a scalar or a tensor map as argument #1, got 'vector<4xf32>'}}
  gpu.func @k(%a: memref<4xf32>, %b: vector<4xf32>) kernel { gpu.return }
}
// -----
gpu.module @m {
  // expected-error@+1 {{'gpu.func' op expected no attributions: shared memory is a global of the module, private memory an alloca}}
  gpu.func @k() workgroup(%s: memref<4xf32, 3>) kernel { gpu.return }
}
// -----
gpu.module @m {
  // expected-error@+1 {{'gpu.func' op expected no results, got 1}}
  gpu.func @helper(%x: f32) -> f32 { gpu.return %x : f32 }
}
// -----
// expected-error@+1 {{expected an index of 32 or 64 bits in the data layout, got 16}}
gpu.module @m attributes {dlti.dl_spec = #dlti.dl_spec<index = 16 : i64>} {
  gpu.func @k(%a: memref<4xf32>) kernel { gpu.return }
}
// -----
// expected-error@+1 {{expected an index of 32 or 64 bits in the data layout, got 0}}
gpu.module @m attributes {dlti.dl_spec = #dlti.dl_spec<index = -2147483648 : i64>} {
  gpu.func @k(%a: memref<4xf32>) kernel { gpu.return }
}
// -----
gpu.module @m {
  gpu.func @k(%a: memref<64xi1>, %x: i1, %i: index) kernel {
    // expected-error@+1 {{'memref.store' op expected bools as bytes, got a buffer of type 'memref<64xi1>': run store-bools-as-bytes before}}
    memref.store %x, %a[%i] : memref<64xi1>
    gpu.return
  }
}
