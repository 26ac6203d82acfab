// RUN: tilewright-opt %s --plan-tile-memory="shared-limit=40000" -verify-diagnostics

gpu.module @kernels {
  // expected-error@+1 {{expected at most 40000 bytes of shared memory a block, got 40992}}
  gpu.func @f() kernel {
    // expected-note@+1 {{the ring takes 2 times 16384 bytes}}
    %r = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<128x64xbf16, swizzle = 128>>
    // expected-note@+1 {{the buffer takes 8192 bytes}}
    %c = tile.alloc : !tile.buffer<64x64xbf16, swizzle = 128>
    gpu.return
  }
}
