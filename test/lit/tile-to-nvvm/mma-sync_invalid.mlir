// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(convert-kernels-to-nvvm{arch=sm_90a}))' --split-input-file -verify-diagnostics

gpu.module @kernels {
  memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
  gpu.func @of_two_kinds() kernel {
    %a = tile.alloc at 0 : <64x8xf32, swizzle = 32>
    %b = tile.alloc at 4096 : <8x8xf32, swizzle = 32>
    %sum = tile.wgmma %a, %b : !tile.buffer<64x8xf32, swizzle = 32>, !tile.buffer<8x8xf32, swizzle = 32> -> !tile.accumulator<64x8xf32>
    %c = tile.alloc at 8192 : <64x32xf8E4M3FN, swizzle = 32>
    %d = tile.alloc at 12288 : <8x32xf8E4M3FN, swizzle = 32>
    // expected-error@+1 {{'tile.wgmma' op expected f16, bf16 or f32 with sums of f32 in a kernel whose matmuls are by its warps, got 'f8E4M3FN' with sums of 'f32'}}
    %more = tile.wgmma %c, %d : !tile.buffer<64x32xf8E4M3FN, swizzle = 32>, !tile.buffer<8x32xf8E4M3FN, swizzle = 32> -> !tile.accumulator<64x8xf32>
    gpu.return
  }
}
