// RUN: tilewright-opt %s --convert-gpu-to-sim --insert-sim-checks | FileCheck %s

// A division by zero is reported where its result is used.
// CHECK-LABEL: func.func @k(
// CHECK: %[[USED:.*]] = arith.divsi %{{.*}}, %[[B:.*]] : i32
// CHECK: %[[IS_ZERO:.*]] = arith.cmpi eq, %[[B]], %{{.*}} : i32
// CHECK-NEXT: llvm.mlir.addressof
// CHECK-NEXT: scf.if %[[IS_ZERO]] {
// CHECK: call @tw_sim_report(%{{.*}}, %c7_i32

// CHECK: %[[GUARDED:.*]] = arith.remsi %{{.*}}, %[[B]] : i32
// CHECK: %[[CONDITION:.*]] = arith.cmpi sgt, %[[B]], %{{.*}} : i32
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[B]], %{{.*}} : i32
// CHECK: %[[ALL:.*]] = arith.andi %{{.*}}, %[[CONDITION]] : i1
// CHECK: %[[ANY:.*]] = arith.ori %{{.*}}, %[[ALL]] : i1
// CHECK: %[[REPORTED:.*]] = arith.andi %[[ZERO]], %[[ANY]] : i1
// CHECK: scf.if %[[REPORTED]]

// A divisor that is known is not asked.
// CHECK: arith.divui
// CHECK-NOT: @tw_sim_report(%{{.*}}, %c7_i32
// CHECK: llvm.mlir.global internal constant @{{.*}}("division\00k.py:7\00")
gpu.module @p_kernels {
  gpu.func @k(%A: memref<64xi32> loc("A"), %b: i32) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : i32
    %c7 = arith.constant 7 : i32
    %a = memref.load %A[%i] : memref<64xi32>
    %q = arith.divsi %a, %b : i32 loc("k.py":7:0)
    %r = arith.remsi %a, %b : i32 loc("k.py":8:0)
    %is_positive = arith.cmpi sgt, %b, %c0 : i32
    %guarded = arith.select %is_positive, %r, %c0 : i32
    %known = arith.divui %a, %c7 : i32
    %0 = arith.addi %q, %guarded : i32
    %1 = arith.addi %0, %known : i32
    memref.store %1, %A[%i] : memref<64xi32>
    gpu.return
  }
}
