// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(make-stores-atomic))' | FileCheck %s

// CHECK-LABEL: func.func @add
func.func @add(%A: memref<8xf32>, %B: memref<8xi64>, %x: f32, %n: i64) {
  %c0 = arith.constant 0 : index
  // CHECK: memref.atomic_rmw addf %{{.*}}, %arg0[%{{.*}}] : (f32, memref<8xf32>) -> f32
  memref.store %x, %A[%c0] {schedule.reduce_add} : memref<8xf32>
  // CHECK-NEXT: memref.atomic_rmw addi %{{.*}}, %arg1[%{{.*}}] : (i64, memref<8xi64>) -> i64
  memref.store %n, %B[%c0] {schedule.reduce_add} : memref<8xi64>
  // CHECK-NEXT: memref.store
  memref.store %x, %A[%c0] : memref<8xf32>
  return
}
