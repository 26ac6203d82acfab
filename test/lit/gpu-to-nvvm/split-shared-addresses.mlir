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

  // What lies in global memory, and what has a size that is not known, stays.
  // CHECK-LABEL: gpu.func @others
  // CHECK-NOT: memref.reinterpret_cast
  gpu.func @others(%g: memref<8x132xf32>, %d: memref<?x132xf32, #gpu.address_space<workgroup>>) kernel {
    %tx = gpu.thread_id x
    %0 = memref.load %g[%tx, %tx] : memref<8x132xf32>
    memref.store %0, %d[%tx, %tx] : memref<?x132xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
