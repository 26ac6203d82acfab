// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(defer-stores))' --split-input-file --verify-diagnostics

func.func @two_results(%C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    tile.store %f to %C[%x, %c0] box [64, 64] columns 64 swizzle 128 deferred : !tile.fragment<64x64xf32>, memref<256x256xf32>
    // expected-error @below {{copy_by: expected one deferred result, got a second}}
    tile.store %f to %C[%x, %c1] box [64, 64] columns 64 swizzle 128 deferred : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @one_tile(%C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{copy_by: expected a loop over tiles around a deferred result}}
    tile.store %f to %C[%x, %c0] box [64, 64] columns 64 swizzle 128 deferred : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @no_matmul(%C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    scf.for %tile = %x to %c8 step %c4 {
      %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
      // expected-error @below {{copy_by: expected one loop with a matmul for a deferred result, which is stored behind the next tile's matmuls, got 0}}
      tile.store %f to %C[%tile, %c0] box [64, 64] columns 64 swizzle 128 deferred : !tile.fragment<64x64xf32>, memref<256x256xf32>
    }
  }
  return
}
