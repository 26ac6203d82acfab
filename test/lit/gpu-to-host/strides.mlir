// RUN: tilewright-opt %s --convert-gpu-to-host | FileCheck %s

// Behind the extents of a tensor that is not row-major lie its strides. Kernels take those that are dynamic, behind the dynamic
// extents; a tensor map takes them in bytes.
// CHECK-LABEL: llvm.func @f(
// CHECK-SAME: %[[DATA:.*]]: !llvm.ptr, %[[SHAPE:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK: llvm.getelementptr %[[SHAPE]][0]
// CHECK: %[[LD_PLACE:.*]] = llvm.getelementptr %[[SHAPE]][2]
// CHECK: %[[LD_I64:.*]] = llvm.load %[[LD_PLACE]] : !llvm.ptr -> i64
// CHECK: %[[LD:.*]] = arith.index_cast %[[LD_I64]] : i64 to index
// CHECK: llvm.getelementptr %[[SHAPE]][4]
// CHECK: %[[LD_AGAIN:.*]] = arith.index_cast %[[LD]] : index to i64
// CHECK-NEXT: %[[LD_BYTES:.*]] = llvm.mul %[[LD_AGAIN]]
// CHECK: %[[MAP_STRIDE:.*]] = llvm.getelementptr %{{.*}}[10]
// CHECK: llvm.store %[[LD_BYTES]], %[[MAP_STRIDE]]
// CHECK: llvm.mlir.constant(6 : i32)
module attributes {gpu.container_module} {
  gpu.module @f_kernels {
    gpu.func @f_kernel0(%a: memref<?x64xbf16, strided<[?, 1]>>, %b: memref<?xf32>, %map: !tile.tensor_map<64x64xbf16, swizzle = 128>) kernel { gpu.return }
  }
  func.func @f(%a: memref<?x64xbf16, strided<[?, 1]>> {te.name = "A", te.strides = array<i64: -1, 1>}, %b: memref<?xf32> {te.name = "B"}) {
    %c1 = arith.constant 1 : index
    %map = tile.encode %a : memref<?x64xbf16, strided<[?, 1]>> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
    gpu.launch_func @f_kernels::@f_kernel0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?x64xbf16, strided<[?, 1]>>, %b : memref<?xf32>, %map : !tile.tensor_map<64x64xbf16, swizzle = 128>)
    return
  }
}
