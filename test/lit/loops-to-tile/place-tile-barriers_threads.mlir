// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(place-tile-barriers))' | FileCheck %s

// Threads store a result whose rows TMA cannot step over: nothing waits for TMA, and a barrier parts what reads the
// buffer from what writes it.
// CHECK-LABEL: func.func @threads
// CHECK: %[[BUFFER:.*]] = tile.alloc : <64x32xf32, swizzle = 128>
// CHECK-NOT: tile.wait_stores
// CHECK: tile.store_fragment %{{.*}} to %[[BUFFER]]
// CHECK-NEXT: tile.sync_warpgroup
// CHECK-NEXT: tile.store_rows %[[BUFFER]] to %{{.*}}[%{{.*}}, %{{.*}}] box [64, 32]
// CHECK-NEXT: tile.sync_warpgroup
// CHECK-NEXT: tile.store_fragment %{{.*}} from 32 to %[[BUFFER]]
// CHECK-NEXT: tile.sync_warpgroup
// CHECK: tile.store_rows %[[BUFFER]] to %{{.*}}[%{{.*}}, %{{.*}}] box [64, 32]
// CHECK-NOT: tile.wait_stores
func.func @threads(%C: memref<96x77xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %sum = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    tile.store %sum to %C[%x, %y] box [64, 64] columns 32 swizzle 128 by_threads : !tile.fragment<64x64xf32>, memref<96x77xf32>
  }
  return
}
