// RUN: tilewright-opt %s --gpu-to-sim | FileCheck %s

// The product is rounded to bf16 (by integer arithmetic) before the sum extends it again.

// CHECK-LABEL: llvm.func @k(
// CHECK: %[[PRODUCT:.*]] = llvm.fmul
// CHECK: llvm.bitcast %[[PRODUCT]] : f32 to i32
// CHECK: %[[ROUNDED:.*]] = llvm.trunc %{{.*}} : i32 to i16
// CHECK: llvm.fadd
gpu.module @m {
  gpu.func @k(%A: memref<8xbf16>, %x: bf16, %i: index) kernel {
    %p = arith.mulf %x, %x : bf16
    %s = arith.addf %p, %x : bf16
    memref.store %s, %A[%i] : memref<8xbf16>
    gpu.return
  }
}
