// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(assign-tile-roles))' --split-input-file --verify-diagnostics

func.func @order(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{persistent: expected a kernel without an order, which persist-tiles leaves, got #tile.order<blocks = 3, raster = linear, group = 1>}}
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 3, raster = linear, group = 1> axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @outside(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    // expected-error @below {{software_pipeline: expected roles for tiles that are loaded outside of a pipelined loop}}
    %a = tile.load %A[%x, %c0] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %s = tile.matmul %a, %a into %f : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
  }
  return
}

// -----

func.func @condition(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{wgmma: expected tiles that are loaded in loops, got a condition around one}}
    scf.if %is {
      %a = tile.load %A[%x, %c0] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %a, %a into %f : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
    }
  }
  return
}
