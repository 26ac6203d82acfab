// RUN: tilewright-opt %s --convert-gpu-to-sim | FileCheck %s

// A kernel takes the thread's state and the parameters: a pointer and the dynamic extents for a memref.

// CHECK-NOT: gpu.
// CHECK-LABEL: func.func @k(
// CHECK-SAME: %[[STATE:.*]]: !llvm.ptr, %[[PARAMS:.*]]: !llvm.ptr) attributes {tilewright.sim_kernel}
// CHECK: %[[SHARED_PLACE:.*]] = llvm.getelementptr %[[STATE]][15]
// CHECK: %[[SHARED:.*]] = llvm.load %[[SHARED_PLACE]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[X_PLACE:.*]] = llvm.getelementptr %[[STATE]][0] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: %[[X_WORD:.*]] = llvm.load %[[X_PLACE]] : !llvm.ptr -> i64
// CHECK: %[[X:.*]] = arith.index_cast %[[X_WORD]] : i64 to index
// CHECK: %[[LANE_PLACE:.*]] = llvm.getelementptr %[[STATE]][12] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: llvm.load %[[LANE_PLACE]] : !llvm.ptr -> i64
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[PARAMS]][0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK: %[[AT:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.load %[[AT]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[PARAMS]][1]
// CHECK: %[[AT:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.load %[[AT]] : !llvm.ptr -> i64
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<?x8xf32> {te.name = "A", tilewright.argument = 0 : i64}
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[PARAMS]][2]
// CHECK: %[[AT:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.load %[[AT]] : !llvm.ptr -> f32
// CHECK: scf.for
// CHECK-NEXT: %[[LOCAL:.*]] = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
// CHECK: memref.store %{{.*}}, %[[LOCAL]]
// CHECK: %[[BASE:.*]] = llvm.insertvalue %[[SHARED]]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<0xi8, #gpu.address_space<workgroup>>
// CHECK: memref.load %{{.*}}[%{{.*}}, %[[X]]]
// CHECK: %[[SITE:.*]] = llvm.mlir.addressof @site0
// CHECK: call @tw_sim_barrier(%[[STATE]], %[[SITE]])
// CHECK: %[[BITS:.*]] = llvm.bitcast %{{.*}} : f32 to i32
// CHECK: %[[WIDE:.*]] = arith.extui %[[BITS]] : i32 to i64
// CHECK: %[[MODE:.*]] = arith.constant 1 : i32
// CHECK: %[[SITE:.*]] = llvm.mlir.addressof @site1
// CHECK: %[[BACK:.*]] = call @tw_sim_shuffle(%[[STATE]], %[[SITE]], %[[MODE]], %[[WIDE]],
// CHECK: %[[NARROW:.*]] = arith.trunci %[[BACK]] : i64 to i32
// CHECK: llvm.bitcast %[[NARROW]] : i32 to f32
// CHECK: llvm.getelementptr %[[STATE]][16]
// CHECK: call @tw_sim_end(%[[STATE]],
// CHECK: return
// What the run time needs to know: it synchronizes, the smallest access to shared memory, bytes of local arrays; no asynchronous tiles, a cluster of one block,
// no regions; 2 arguments.
// CHECK: llvm.mlir.global external constant @k_info(dense<[1, 2, 16, 0, 1, 1, 1, 0, 2, 0, 4, 2, 0, -1, 8, 2, 0, 0, 0]> : tensor<19xi64>)
// CHECK: llvm.mlir.global external constant @k_arguments("A\00argument 1\00")
// CHECK: llvm.mlir.global internal constant @site0("barrier\00k.py:7\00")
// CHECK: llvm.mlir.global internal constant @site1("shuffle\00k.py:8\00")
// CHECK-NOT: func.func @p
module attributes {gpu.container_module} {
  gpu.module @p_kernels {
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024}
    gpu.func @k(%A: memref<?x8xf32>, %by: f32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %lane = gpu.lane_id
      %x = gpu.thread_id x
      scf.for %i = %c0 to %c4 step %c1 {
        %l = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
        memref.store %by, %l[%i] : memref<4xf32, #gpu.address_space<private>>
      }
      %shared = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
      %tile = memref.view %shared[%c0][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<8x8xf16, #gpu.address_space<workgroup>>
      %h = memref.load %tile[%lane, %x] : memref<8x8xf16, #gpu.address_space<workgroup>>
      gpu.barrier loc("k.py":7:0)
      %o = arith.constant 2 : i32
      %w = arith.constant 32 : i32
      %s, %p = gpu.shuffle down %by, %o, %w : f32 loc(fused["C"("k.py":8:0)])
      gpu.return
    }
  }
  func.func @p(%A: memref<?x8xf32> {te.name = "A"}, %by: f32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @p_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%A : memref<?x8xf32>, %by : f32)
    return
  }
}
