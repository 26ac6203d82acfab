// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(split-shared-addresses)))' | FileCheck %s

// CHECK-DAG: #[[BASE:.*]] = affine_map<()[s0, s1] -> (s0 * 4 + s1 * 1056)>
// CHECK-DAG: #[[REST:.*]] = affine_map<(d0, d1) -> (d0 * 132 + d1 + 64)>
#unrolled = #llvm.loop_annotation<unroll = <full = true>>
gpu.module @kernels {
  // Of the loops only those that are unrolled count as constant; accesses that have all in common are left alone.
  // CHECK-LABEL: gpu.func @fragments(
  // CHECK-SAME: %[[S:.*]]: memref<2x8x132xf32, #gpu.address_space<workgroup>>, %[[PLACE:.*]]: index
  gpu.func @fragments(%s: memref<2x8x132xf32, #gpu.address_space<workgroup>>, %place: index, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %tx = gpu.thread_id x
    scf.for %k = %c0 to %c8 step %c1 {
      scf.for %i = %c0 to %c4 step %c1 {
        %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0 * 4 + 64)>(%i)[%tx]
        // CHECK: %[[OFFSET:.*]] = affine.apply #[[BASE]]()[%{{.*}}, %[[PLACE]]]
        // CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[S]] to offset: [%[[OFFSET]]], sizes: [2112], strides: [1]
        // CHECK: %[[INDEX:.*]] = affine.apply #[[REST]](%{{.*}}, %{{.*}})
        // CHECK: memref.store %{{.*}}, %[[VIEW]][%[[INDEX]]]
        memref.store %x, %s[%place, %k, %0] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
      } {llvm.loop_annotation = #unrolled}
    } {llvm.loop_annotation = #unrolled}
    scf.for %k = %c0 to %c8 step %c1 {
      // CHECK: memref.reinterpret_cast
      // CHECK: vector.load %{{.*}}[%{{.*}}] : memref<2112xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>, vector<4xf32>
      %v = vector.load %s[%c0, %k, %c0] : memref<2x8x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      vector.store %v, %s[%c1, %c0, %c0] : memref<2x8x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      // CHECK: vector.store %{{.*}}, %[[S]][%c1, %c0, %c0]
    }
    gpu.return
  }

  // Both copies of a map have one base in global memory, but for an index that may be less than it.
  // CHECK-LABEL: gpu.func @masked
  // CHECK-SAME: %[[G:.*]]: memref<8x128xf32>
  gpu.func @masked(%g: memref<8x128xf32>, %row: index, %f: !tile.fragment<64x64xf32>, %whole: i1) kernel {
    %tx = gpu.thread_id x
    %0 = scf.if %whole -> !tile.fragment<64x64xf32> {
      // CHECK: %[[OFFSET:.*]] = affine.apply #{{.*}}()[%{{.*}}, %{{.*}}]
      // CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[G]] to offset: [%[[OFFSET]]], sizes: [1024], strides: [1]
      // CHECK: memref.load %[[VIEW]][%c9{{.*}}] : memref<1024xf32, strided<[1], offset: ?>>
      %1 = affine.apply affine_map<()[s0] -> (s0 * 2 + 9)>()[%tx]
      %2 = memref.load %g[%row, %1] : memref<8x128xf32>
      %3 = tile.map %f : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %i: index, %j: index):
        tile.yield %e : f32
      }
      scf.yield %3 : !tile.fragment<64x64xf32>
    } else {
      // CHECK: memref.load %[[G]][%{{.*}}, %{{.*}}]
      %1 = affine.apply affine_map<()[s0] -> (s0 * 2 - 1)>()[%tx]
      %2 = memref.load %g[%row, %1] : memref<8x128xf32>
      scf.yield %f : !tile.fragment<64x64xf32>
    }
    // CHECK: memref.store %{{.*}}, %[[G]][
    %4 = memref.load %g[%row, %row] : memref<8x128xf32>
    memref.store %4, %g[%row, %tx] : memref<8x128xf32>
    gpu.return
  }

  // What lies in global memory otherwise, and what has a size that is not known, stays.
  // CHECK-LABEL: gpu.func @others
  // CHECK-NOT: memref.reinterpret_cast
  gpu.func @others(%g: memref<8x132xf32>, %d: memref<?x132xf32, #gpu.address_space<workgroup>>) kernel {
    %tx = gpu.thread_id x
    %0 = memref.load %g[%tx, %tx] : memref<8x132xf32>
    memref.store %0, %d[%tx, %tx] : memref<?x132xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
