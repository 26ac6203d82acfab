// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(share-conversions)))' | FileCheck %s

// CHECK-DAG: #[[BASE:.*]] = affine_map<()[s0, s1] -> (s0 * -64 + s1 * 2)>
// CHECK-DAG: #[[FAR:.*]] = affine_map<()[s0] -> (s0 * 2097152 + 16)>
gpu.module @kernels {
  // Four distances of one thread, one of which is the same as another.
  // CHECK-LABEL: gpu.func @distances(
  // CHECK: %[[BASE_OF:.*]] = affine.apply #[[BASE]]()[%{{.*}}, %{{.*}}]
  // CHECK: %[[CAST:.*]] = arith.index_cast %[[BASE_OF]] : index to i32
  // CHECK: %[[X:.*]] = arith.sitofp %[[CAST]] : i32 to f32
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: arith.addf %[[X]], %[[ZERO]]
  // CHECK: %[[NINE:.*]] = arith.constant 9.000000e+00 : f32
  // CHECK: arith.addf %[[X]], %[[NINE]]
  // CHECK: %[[LESS:.*]] = arith.constant -8.000000e+00 : f32
  // CHECK: arith.addf %[[X]], %[[LESS]]
  // CHECK-NOT: arith.sitofp
  // CHECK: gpu.return
  gpu.func @distances(%out: memref<4xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %column = affine.apply affine_map<()[s0] -> (s0 * 2 + 9)>()[%t]
    %0 = affine.apply affine_map<(d0)[s0] -> (d0 - s0 * 64 - 9)>(%column)[%b]
    %1 = affine.apply affine_map<(d0)[s0] -> (d0 - s0 * 64)>(%column)[%b]
    %2 = affine.apply affine_map<(d0)[s0] -> (d0 - s0 * 64 - 17)>(%column)[%b]
    %i0 = arith.index_cast %0 : index to i32
    %i1 = arith.index_cast %1 : index to i32
    %i2 = arith.index_cast %2 : index to i32
    %f0 = arith.sitofp %i0 : i32 to f32
    %f1 = arith.sitofp %i1 : i32 to f32
    %f2 = arith.sitofp %i2 : i32 to f32
    %f3 = arith.sitofp %i1 : i32 to f32
    memref.store %f0, %out[%c0] : memref<4xf32>
    memref.store %f1, %out[%c1] : memref<4xf32>
    memref.store %f2, %out[%c2] : memref<4xf32>
    memref.store %f3, %out[%c3] : memref<4xf32>
    gpu.return
  }

  // Floats do not have all integers above 2^24, so that these sums are rounded twice.
  // CHECK-LABEL: gpu.func @far(
  // CHECK: affine.apply #[[FAR]]
  // CHECK-COUNT-3: arith.sitofp
  // CHECK-NOT: arith.addf
  // CHECK: gpu.return
  gpu.func @far(%out: memref<3xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %t = gpu.thread_id x
    %0 = affine.apply affine_map<()[s0] -> (s0 * 2097152 + 16)>()[%t]
    %1 = affine.apply affine_map<()[s0] -> (s0 * 2097152 + 1)>()[%t]
    %2 = affine.apply affine_map<()[s0] -> (s0 * 2097152 + 2)>()[%t]
    %i0 = arith.index_cast %0 : index to i32
    %i1 = arith.index_cast %1 : index to i32
    %i2 = arith.index_cast %2 : index to i32
    %f0 = arith.sitofp %i0 : i32 to f32
    %f1 = arith.sitofp %i1 : i32 to f32
    %f2 = arith.sitofp %i2 : i32 to f32
    memref.store %f0, %out[%c0] : memref<3xf32>
    memref.store %f1, %out[%c1] : memref<3xf32>
    memref.store %f2, %out[%c2] : memref<3xf32>
    gpu.return
  }

  // One conversion and two sums in place of two conversions would save nothing.
  // CHECK-LABEL: gpu.func @two(
  // CHECK-COUNT-2: arith.sitofp
  // CHECK-NOT: arith.addf
  // CHECK: gpu.return
  gpu.func @two(%out: memref<2xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %0 = affine.apply affine_map<()[s0] -> (s0 * 2 + 16)>()[%t]
    %1 = affine.apply affine_map<()[s0] -> (s0 * 2 + 1)>()[%t]
    %i0 = arith.index_cast %0 : index to i32
    %i1 = arith.index_cast %1 : index to i32
    %f0 = arith.sitofp %i0 : i32 to f32
    %f1 = arith.sitofp %i1 : i32 to f32
    memref.store %f0, %out[%c0] : memref<2xf32>
    memref.store %f1, %out[%c1] : memref<2xf32>
    gpu.return
  }
}
