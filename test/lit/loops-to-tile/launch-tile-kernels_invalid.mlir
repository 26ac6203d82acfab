// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(launch-tile-kernels))' --split-input-file --verify-diagnostics

func.func @barriers(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{'tile.store' op expected a kernel with roles and barriers, which assign-tile-roles and place-tile-barriers make}}
    tile.store %f to %C[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}
