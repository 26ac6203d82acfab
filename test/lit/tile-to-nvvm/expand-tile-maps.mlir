// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(expand-tile-maps)))' | FileCheck %s

// CHECK-DAG: #[[ROW:.*]] = affine_map<()[s0] -> (((s0 mod 128) floordiv 32) * 16 + (s0 mod 32) floordiv 4)>
// CHECK-DAG: #[[LOWER:.*]] = affine_map<()[s0] -> (((s0 mod 128) floordiv 32) * 16 + (s0 mod 32) floordiv 4 + 8)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<()[s0] -> (s0 * 2 - (s0 floordiv 4) * 8 + 9)>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @f(
  // CHECK-SAME: %[[FRAGMENT:.*]]: !tile.fragment<64x16xf32>, %[[BIAS:.*]]: memref<64x16xf32>
  gpu.func @f(%f: !tile.fragment<64x16xf32>, %bias: memref<64x16xf32>, %b: !tile.buffer<64x16xf32>) {
    // CHECK: %[[THREAD:.*]] = gpu.thread_id x
    // CHECK: affine.apply #[[ROW]]()[%[[THREAD]]]
    // CHECK: %[[R:.*]] = affine.apply #[[LOWER]]()[%[[THREAD]]]
    // CHECK: tile.extract %[[FRAGMENT]][0]
    // CHECK: %[[X:.*]] = tile.extract %[[FRAGMENT]][7]
    // CHECK: %[[C:.*]] = affine.apply #[[LAST]]()[%[[THREAD]]]
    // CHECK: %[[B:.*]] = memref.load %[[BIAS]][%[[R]], %[[C]]]
    // CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[B]]
    // CHECK: tile.assemble %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[Y]] : f32 -> !tile.fragment<64x16xf32>
    %g = tile.map %f : !tile.fragment<64x16xf32> -> !tile.fragment<64x16xf32> {
    ^bb0(%x: f32, %row: index, %column: index):
      %e = memref.load %bias[%row, %column] : memref<64x16xf32>
      %y = arith.addf %x, %e : f32
      tile.yield %y : f32
    }
    tile.store_fragment %g to %b : !tile.fragment<64x16xf32>, !tile.buffer<64x16xf32>
    gpu.return
  }
}
