// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(place-tile-barriers))' --split-input-file --verify-diagnostics

func.func @begun_apart(%A: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %a = tile.get %ring : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %s = tile.matmul %a, %a into %f : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
    // expected-error @below {{wgmma: expected the accumulators of a loop to begin all before it or all in it}}
    %t:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%u = %s, %v = %f) -> (!tile.fragment<64x64xf32>, !tile.fragment<64x64xf32>) {
      %b = tile.get %ring : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
      %u1 = tile.matmul %b, %b into %u : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %v1 = tile.matmul %b, %b into %v : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %u1, %v1 : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32>
    }
    tile.store %t#0 to %C[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
    tile.store %t#1 to %C[%x, %c1] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @condition(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %a = tile.get %ring : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    // expected-error @below {{wgmma: expected matmuls everywhere in a kernel, got a condition around one}}
    scf.if %is {
      %s = tile.matmul %a, %a into %f : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      tile.store %s to %C[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
    }
  }
  return
}

// -----

func.func @no_warpgroup(%C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    tile.roles {
      tile.role "only" warps 4 {
        %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
        // expected-error @below {{'tile.store' op expected to stand in a role that has the number of its warpgroup as an argument}}
        tile.store %f to %C[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
      }
    }
  }
  return
}

// -----

func.func @part_of_a_panel(%C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{'tile.store' op cannot go by way of shared memory: expected rows of whole swizzle spans of 128 bytes, got 16 bytes}}
    tile.store %f to %C[%x, %c0] box [64, 64] columns 4 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @rows_of_a_swizzle(%C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{'tile.store' op cannot go by way of shared memory: expected a multiple of 8 rows with a swizzle, got 4}}
    tile.store %f transposed to %C[%x, %c0] box [64, 64] columns 4 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @narrow_rows_of_a_swizzle(%C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{'tile.store' op cannot go by way of shared memory: expected a multiple of 8 rows with a swizzle, got 3}}
    tile.store %f transposed to %C[%x, %c0] box [64, 64] columns 64 swizzle 128 width %z of [64, 3, 0, 3, 2, 192] : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @rows_beyond_a_box(%A: memref<640x640x64xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  tile.kernel (%c6, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<640x64xbf16, swizzle = 128>>
    // expected-error @below {{'tile.load' op cannot be copied by TMA: expected at most 256 elements in dimension 1 of the box, got 320}}
    %a = tile.load %A[%c0, %c0, %c0] box [2, 320, 64] : memref<640x640x64xbf16> -> !tile.buffer<640x64xbf16, swizzle = 128>
    tile.put %a to %ring : !tile.buffer<640x64xbf16, swizzle = 128> to !tile.ring<2, !tile.buffer<640x64xbf16, swizzle = 128>>
  }
  return
}

// -----

func.func @rows_in_no_boxes(%A: memref<640x640x64xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  tile.kernel (%c6, %c1, %c1) cluster [2, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<48x64xbf16, swizzle = 128>>
    // expected-error @below {{'tile.load' op cannot be copied by TMA: expected a box whose rows can be parted into boxes of 24 rows, got [3, 16, 64]}}
    %a = tile.load %A[%c0, %c0, %c0] box [3, 16, 64] multicast x : memref<640x640x64xbf16> -> !tile.buffer<48x64xbf16, swizzle = 128>
    tile.put %a to %ring : !tile.buffer<48x64xbf16, swizzle = 128> to !tile.ring<2, !tile.buffer<48x64xbf16, swizzle = 128>>
  }
  return
}

// -----

func.func @panels_of_no_block(%A: memref<640x640xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  tile.kernel (%c6, %c1, %c1) cluster [3, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    // expected-error @below {{'tile.load' op expected a tile of which each of 3 blocks copies whole panels or a multiple of 8 rows, got '!tile.buffer<64x64xbf16, swizzle = 128>'}}
    %a = tile.load %A[%c0, %c0] box [64, 64] multicast x : memref<640x640xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    tile.put %a to %ring : !tile.buffer<64x64xbf16, swizzle = 128> to !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  }
  return
}
