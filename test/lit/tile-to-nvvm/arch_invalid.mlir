// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(convert-kernels-to-nvvm{arch=sm_80}))' --split-input-file -verify-diagnostics

gpu.module @kernels {
  gpu.func @roles() kernel {
    // expected-error@+1 {{'tile.roles' op expected architecture sm_90a, got sm_80}}
    tile.roles {
      tile.role "consumer" warps 4 {
      ^bb0(%warpgroup: index):
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @store(%f: !tile.fragment<64x64xf32>) kernel {
    %c = tile.alloc at 0 : !tile.buffer<64x64xbf16, swizzle = 128>
    // expected-error@+1 {{'tile.store_fragment' op expected architecture sm_90 or later, got sm_80}}
    tile.store_fragment %f to %c : !tile.fragment<64x64xf32>, !tile.buffer<64x64xbf16, swizzle = 128>
    gpu.return
  }
}
