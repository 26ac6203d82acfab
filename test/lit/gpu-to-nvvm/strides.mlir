// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(convert-kernels-to-nvvm,reconcile-unrealized-casts,canonicalize))' | FileCheck %s

// A pointer, the dynamic extents, and behind them the dynamic strides. A stride that is not the call's own is in the address.
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %[[A:[^:]*]]: !llvm.ptr {llvm.align = 16 : i64, {{.*}}}, %{{[^:]*}}: i64, %[[LD:[^:]*]]: i64, %[[B:[^:]*]]: !llvm.ptr
// CHECK-SAME: %[[I:[^:]*]]: i64)
// CHECK: %[[C64:.*]] = llvm.mlir.constant(64 :
// CHECK: %[[ROW:.*]] = llvm.mul %[[I]], %[[LD]]
// CHECK: %[[AT:.*]] = llvm.add %[[ROW]], %[[I]]
// CHECK: llvm.getelementptr {{.*}}%[[A]][%[[AT]]]
// CHECK: llvm.mul %[[I]], %[[C64]]
// CHECK: llvm.getelementptr {{.*}}%[[B]]
gpu.module @m {
  gpu.func @k(%a: memref<?x4xf32, strided<[?, 1]>>, %b: memref<8x4xf32, strided<[64, 1]>>, %i: index) kernel {
    %x = memref.load %a[%i, %i] : memref<?x4xf32, strided<[?, 1]>>
    memref.store %x, %b[%i, %i] : memref<8x4xf32, strided<[64, 1]>>
    gpu.return
  }
  // Of no elements.
  // CHECK-LABEL: llvm.func @nothing(
  // CHECK-SAME: %[[A:[^:]*]]: !llvm.ptr {{{.*}}}, %[[B:[^:]*]]: !llvm.ptr {{{.*}}})
  // CHECK: %[[FROM:.*]] = llvm.getelementptr {{.*}}%[[A]][
  // CHECK: %[[X:.*]] = llvm.load %[[FROM]]
  // CHECK: %[[TO:.*]] = llvm.getelementptr {{.*}}%[[B]][
  // CHECK: llvm.store %[[X]], %[[TO]]
  gpu.func @nothing(%a: memref<1x0xf32>, %b: memref<1x0xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%c0, %c0] : memref<1x0xf32>
    memref.store %x, %b[%c0, %c0] : memref<1x0xf32>
    gpu.return
  }
}
