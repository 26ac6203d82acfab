// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(split-accumulations))' --split-input-file --verify-diagnostics

func.func @two_accumulators(%A: memref<256x256xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 1 : !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{wgmma: expected one promoted accumulator in a loop, got 2}}
    %sum:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zeros, %t = %zeros) -> (!tile.fragment<64x64xf32>, !tile.fragment<64x64xf32>) {
      %a, %b = tile.get %ring : !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
      %u = tile.matmul %a, %b into %s promoted 2 : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %v = tile.matmul %b, %a into %t promoted 2 : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %u, %v : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32>
    }
  }
  return
}

// -----

func.func @no_roles(%A: memref<256x256xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{wgmma: expected roles for a promoted accumulator, whose iterations load nothing}}
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zeros) -> (!tile.fragment<64x64xf32>) {
      %a = tile.load %A[%x, %k] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %t = tile.matmul %a, %a into %s promoted 2 : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %t : !tile.fragment<64x64xf32>
    }
  }
  return
}
