// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(persist-tiles))' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: tile.kernel(%{{.*}}, %{{.*}}, %{{.*}}) cluster [1, 1, 1] warpgroups 1 axes
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: scf.for %[[TILE:.*]] = %[[BLOCK]] to %{{.*}} step %{{.*}} {
// CHECK: affine.apply #{{.*}}(%[[TILE]])
// CHECK: scf.for
// CHECK: tile.store
func.func @f(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 3, raster = linear, group = 1> axes ["C.j.outer", "C.i.outer", ""] {
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

// -----

// The iterations of every second tile begin at the end.
// CHECK-LABEL: func.func @serpentine
// CHECK: scf.for %[[TILE:.*]] = %{{.*}}
// CHECK: %[[WAVE:.*]] = arith.divui %[[TILE]]
// CHECK: %[[ODD:.*]] = arith.remui %[[WAVE]]
// CHECK: %[[BACKWARDS:.*]] = arith.cmpi eq, %[[ODD]]
// CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args
// CHECK: %[[FROM_END:.*]] = arith.subi %{{.*}}, %[[K]]
// CHECK: %[[AT:.*]] = arith.select %[[BACKWARDS]], %[[FROM_END]], %[[K]]
// CHECK: affine.apply #{{.*}}(%[[AT]])
func.func @serpentine(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 3, raster = linear, group = 1, serpentine_k = true> axes ["C.j.outer", "C.i.outer", ""] {
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
