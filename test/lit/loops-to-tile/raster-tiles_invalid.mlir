// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raster-tiles))' --split-input-file --verify-diagnostics

func.func @narrower(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{persistent: expected narrow-tiles to have made the narrower tiles before}}
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 3, raster = row, group = 1, narrower = 8> axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}
