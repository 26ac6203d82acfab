// RUN: tilewright-opt %s --carry-bf16-as-i16 -verify-diagnostics

gpu.module @kernels {
  gpu.func @f() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error@+1 {{expected tiles to be lowered, got '!tile.buffer<8x16xbf16>'}}
    %a = tile.alloc at 0 : !tile.buffer<8x16xbf16>
    gpu.return
  }
}
