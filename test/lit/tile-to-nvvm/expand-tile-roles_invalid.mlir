// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(expand-tile-roles)))' -split-input-file -verify-diagnostics

!ring = !tile.ring<1, !tile.buffer<8x16xf32>>
gpu.module @kernels {
  gpu.func @f(%s: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = tile.ring consumers 1 at 0 barriers at 1024 : !ring
    %a = tile.wait %r[%s, %s] : !ring
    // expected-error@+1 {{'tile.ring' op expected all rings before the first use of one}}
    %late = tile.ring consumers 1 at 512 barriers at 1040 : !ring
    gpu.return
  }
}

// -----

!ring = !tile.ring<1, !tile.buffer<8x16xf32>>
gpu.module @kernels {
  // expected-error@+1 {{'gpu.func' op expected known_block_size of a kernel with tile ops, got none}}
  gpu.func @f(%s: i32) kernel {
    %r = tile.ring consumers 1 at 0 barriers at 1024 : !ring
    gpu.return
  }
}
