// RUN: tilewright-opt %s --pass-pipeline="builtin.module(func.func(legalize-scheduled-loops))" | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-SAME: tilewright.scheduled
func.func @f(%A: memref<4xf32>, %B: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %A[%i] : memref<4xf32>
    // CHECK: arith.mulf {{.*}} fastmath<contract>
    %p = arith.mulf %a, %a : f32
    // CHECK: arith.addf {{.*}} fastmath<contract>
    %s = arith.addf %p, %a : f32
    memref.store %s, %B[%i] : memref<4xf32>
  // CHECK-NOT: schedule.bind
  } {schedule.bind = #schedule.thread<vthread>}
  return
}

// Without a schedule it is on tensors still.
// CHECK-LABEL: func.func @g
// CHECK-NOT: tilewright.scheduled
func.func @g(%A: tensor<4xf32>) {
  return
}
