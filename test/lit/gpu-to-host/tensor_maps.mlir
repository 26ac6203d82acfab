// RUN: tilewright-opt %s --convert-gpu-to-host | FileCheck %s

!map = !tile.tensor_map<8x64xbf16, swizzle = 128>
module attributes {gpu.container_module} {
  gpu.module @f_kernels {
    gpu.func @f_kernel0(%a: !map, %n: index) kernel { gpu.return }
  }
  // CHECK-LABEL: llvm.func @f(
  // CHECK-SAME: %[[DATA:.*]]: !llvm.ptr, %[[SHAPE:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[LAUNCHER:.*]]: !llvm.ptr)
  func.func @f(%a: memref<?x128xbf16> {te.name = "A"}) {
    // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[DATA]][0]
    // CHECK: %[[A:.*]] = llvm.load %[[PLACE]]
    // CHECK: %[[CONTEXT:.*]] = llvm.load %[[LAUNCHER]]
    // CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[LAUNCHER]][0, 2]
    // CHECK: %[[ENCODE:.*]] = llvm.load %[[FIELD]]
    // CHECK: %[[MAP:.*]] = llvm.alloca %{{.*}} x i8 {alignment = 64 : i64}
    // CHECK: %[[TENSOR:.*]] = llvm.alloca %{{.*}} x i64 {alignment = 8 : i64}
    %c1 = arith.constant 1 : index
    %map = tile.encode %a : memref<?x128xbf16> -> !map
    // CHECK: llvm.store %[[A]], %{{.*}} : !llvm.ptr, !llvm.ptr
    // CHECK: %[[STATUS:.*]] = llvm.call %[[ENCODE]](%[[CONTEXT]], %[[MAP]], %[[TENSOR]])
    // CHECK: %[[FAILED:.*]] = llvm.icmp "ne" %[[STATUS]]
    // CHECK: llvm.cond_br %[[FAILED]]
    // The map is a parameter where it lies.
    // CHECK: llvm.store %[[MAP]], %{{.*}} : !llvm.ptr, !llvm.ptr
    // CHECK: tilewright.kernel = "f_kernel0"
    gpu.launch_func @f_kernels::@f_kernel0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%map : !map, %c1 : index)
    return
  }
}
