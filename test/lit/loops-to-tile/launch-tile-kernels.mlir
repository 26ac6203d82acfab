// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(launch-tile-kernels))' | FileCheck %s

// A grid of whole clusters, and the threads of a producer and of two consumer warpgroups.
// CHECK: %[[THREADS:.*]] = arith.constant 384 : index
// CHECK: gpu.launch clusters({{.*}}) in ({{.*}}) blocks(%[[X:[a-z0-9_]+]], {{.*}} = %c6{{.*}}, {{.*}} = %[[THREADS]],
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[X]]]
// CHECK: gpu.terminator
func.func @f(%A: memref<8xf32>, %v: f32) {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  tile.kernel (%c5, %c1, %c1) cluster [2, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    memref.store %v, %A[%x] : memref<8xf32>
  }
  return
}
