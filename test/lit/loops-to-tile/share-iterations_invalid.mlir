// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(share-iterations))' --split-input-file --verify-diagnostics

func.func @order(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{persistent: expected a linear order of a constant number of tiles for stream_k, which raster-tiles leaves, got #tile.order<blocks = 3, raster = row, group = 1, stream_k = true>}}
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 3, raster = row, group = 1, stream_k = true> axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @no_loop(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{persistent: expected one loop with one matmul for stream_k, whose iterations blocks share}}
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 3, raster = linear, group = 1, stream_k = true> axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}
