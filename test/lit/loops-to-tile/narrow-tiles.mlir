// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(narrow-tiles))' --split-input-file | FileCheck %s

// Sixteen tiles of 64 columns for 18 blocks: two of four rows of tiles get a fifth, and four of their tiles have 48 columns.
// CHECK-LABEL: func.func @f
// CHECK: %[[TILES:.*]] = arith.constant 18 : index
// CHECK: tile.kernel(%[[TILES]], %{{.*}}, %{{.*}}) cluster [1, 1, 1] warpgroups 1 order <blocks = 18, raster = linear, group = 1>
// CHECK: ^bb0(%[[N:[a-z0-9]+]]: index
// CHECK: %[[IS_WIDE:.*]] = arith.cmpi ult, %[[N]]
// CHECK: %[[WIDTH:.*]] = arith.select
// CHECK: tile.matmul %{{.*}}, %{{.*}} into %{{.*}} width %[[WIDTH]] of [64, 48]
// CHECK: tile.store %{{.*}} width %[[WIDTH]] of [64, 4, 0, 48, 4, 0]
func.func @f(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 18, raster = row, group = 1, narrower = 16> axes ["C.j.outer", "C.i.outer", ""] {
  ^bb0(%x: index, %y: index, %z: index, %warpgroup: index):
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %i = affine.apply affine_map<(d0) -> (d0 * 64)>(%y)
    %j = affine.apply affine_map<(d0) -> (d0 * 64)>(%x)
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zeros) -> (!tile.fragment<64x64xf32>) {
      %l = affine.apply affine_map<(d0) -> (d0 * 64)>(%k)
      %a = tile.load %A[%i, %l] box [64, 64] {te.stage = "As"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %b = tile.load %B[%j, %l] box [64, 64] {te.stage = "Bs"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %t = tile.matmul %a, %b into %s : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %t : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 3>}
    tile.store %sum to %C[%i, %j] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}
