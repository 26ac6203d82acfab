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
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    scf.if %is {
      // expected-error @below {{software_pipeline: expected roles for tiles that are loaded outside of a pipelined loop}}
      %a = tile.load %A[%x, %c0] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %a, %a into %f : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
    }
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

// -----

// A load whose place an iteration hands on to the next.
func.func @place_of_an_iteration(%A: memref<256x256xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{wgmma: expected tiles whose places do not depend on what the kernel computes}}
    %end = scf.for %k = %c0 to %c4 step %c1 iter_args(%place = %c0) -> (index) {
      %a = tile.load %A[%x, %place] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %a, %a into %f : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %next = arith.addi %place, %c64 : index
      scf.yield %next : index
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  }
  return
}

// -----

// A load whose place another loop has computed.
func.func @place_of_a_loop(%A: memref<256x256xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{wgmma: expected tiles whose places do not depend on what the kernel computes}}
    %place = scf.for %k = %c0 to %c4 step %c1 iter_args(%before = %c0) -> (index) {
      %next = arith.addi %before, %c64 : index
      scf.yield %next : index
    }
    %a = tile.load %A[%x, %place] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %s = tile.matmul %a, %a into %f : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
  }
  return
}

// -----

// Two sets of consumers, and no loop with a matmul.
func.func @no_loop(%A: memref<256x256xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{specialize: expected one loop with one matmul for 2 sets of consumer warpgroups, which take tiles alternately}}
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] pingpong 2 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
  }
  return
}
