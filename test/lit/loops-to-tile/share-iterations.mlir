// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(share-iterations))' --split-input-file | FileCheck %s

// Four tiles of four iterations for three clusters: the iterations lie together in three shares, each of which is gone through
// from its end. Whoever is the last to have a part of a tile adds up, and stores.
// CHECK-LABEL: func.func @f
// CHECK: %[[PARTS:.*]] = memref.alloc() {te.stage = "P.parts"} : memref<6x4096xf32>
// CHECK: %[[ARRIVALS:.*]] = memref.alloc() {te.stage = "P.arrivals"} : memref<4xi64>
// CHECK: tile.kernel
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[FIRST:.*]] to %[[END:.*]] step
// CHECK: tile.matmul
// CHECK: tile.least_iterations = 2
// CHECK: %[[WHOLE:.*]]:2 = scf.if
// CHECK: scf.yield %{{.*}}, %[[SUM]]
// CHECK: } else {
// CHECK: tile.arrive %[[ARRIVALS]][%{{.*}}] of %{{.*}} if_last
// CHECK: tile.save_fragment %[[SUM]] to %[[PARTS]]
// CHECK: tile.arrive %[[ARRIVALS]]
// CHECK: tile.restore_fragment %[[PARTS]]
// CHECK: arith.addf
// CHECK: scf.if %[[WHOLE]]#0 {
// CHECK-NEXT: tile.store %[[WHOLE]]#1
func.func @f(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] order <blocks = 3, raster = linear, group = 1, stream_k = true> axes ["C.j.outer", "C.i.outer", ""] {
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
