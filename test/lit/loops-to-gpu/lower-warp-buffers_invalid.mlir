// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(lower-warp-buffers)))' -split-input-file -verify-diagnostics

gpu.module @kernels {
gpu.func @mark() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  // expected-error @+1 {{'memref.alloc' op expected "schedule.warp" to be an i64 of 0, 2, 4 or 6, got unit}}
  %w = memref.alloc() {schedule.warp} : memref<32xf32, #gpu.address_space<workgroup>>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @user(%A: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
  %w = memref.alloc() {schedule.warp = 2 : i64} : memref<32xf32, #gpu.address_space<workgroup>>
  // expected-error @+1 {{expected loads and stores of what a warp exchanges, got 'memref.copy'}}
  memref.copy %A, %w : memref<32xf32> to memref<32xf32, #gpu.address_space<workgroup>>
  gpu.return
}
}

// -----

gpu.module @kernels {
gpu.func @extent(%n: index) kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
  // expected-error @+1 {{expected a buffer of constant extents in a block of constant extents, got 'memref<?xf32, #gpu.address_space<workgroup>>'}}
  %w = memref.alloc(%n) {schedule.warp = 2 : i64} : memref<?xf32, #gpu.address_space<workgroup>>
  gpu.return
}
}
