// RUN: tilewright-opt %s --convert-gpu-to-sim | FileCheck %s

// The dynamic strides are parameters behind the dynamic extents. The run time needs both, to know what memory an argument is:
// parameter, element bytes, rank, how many strides, and extents and strides, -1 where they are parameters.
// CHECK-LABEL: func.func @k(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[PARAMS:.*]]: !llvm.ptr)
// CHECK: llvm.getelementptr %[[PARAMS]][0]
// CHECK: llvm.getelementptr %[[PARAMS]][1]
// CHECK: %[[LD_PLACE:.*]] = llvm.getelementptr %[[PARAMS]][2]
// CHECK: %[[LD_SLOT:.*]] = llvm.load %[[LD_PLACE]]
// CHECK: %[[LD:.*]] = llvm.load %[[LD_SLOT]] : !llvm.ptr -> i64
// CHECK: llvm.insertvalue %[[LD]], %{{.*}}[4, 0]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<?x4xf32, strided<[?, 1]>>
// CHECK: llvm.mlir.global external constant @k_info(dense<[0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 4, 2, 2, -1, 4, -1, 1]>
gpu.module @m {
  gpu.func @k(%a: memref<?x4xf32, strided<[?, 1]>> {te.name = "A"}) kernel {
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%c0, %c0] : memref<?x4xf32, strided<[?, 1]>>
    memref.store %x, %a[%c0, %c0] : memref<?x4xf32, strided<[?, 1]>>
    gpu.return
  }
}
