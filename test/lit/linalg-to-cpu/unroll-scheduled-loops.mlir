// RUN: tilewright-opt %s --pass-pipeline="builtin.module(func.func(unroll-scheduled-loops))" | FileCheck %s

// CHECK: #[[UNROLL:.*]] = #llvm.loop_unroll<full = true>
// CHECK: #[[LOOP:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>

// CHECK-LABEL: func.func @f
// CHECK-NOT: tilewright.scheduled
// CHECK-NOT: schedule.unroll
func.func @f(%A: memref<?xf32>, %n: index) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %many = arith.constant 100000 : index
  %zero = arith.constant 0.0 : f32
  // Code that would be too large stays a loop,
  // CHECK: scf.for %{{.*}} to %c100000
  scf.for %i = %c0 to %many step %c1 {
    // and so does a loop of a symbolic extent.
    // CHECK: scf.for
    scf.for %j = %c0 to %n step %c1 {
      // CHECK: scf.for %{{.*}} to %c4
      scf.for %k = %c0 to %c4 step %c1 {
        memref.store %zero, %A[%k] : memref<?xf32>
      // CHECK: } {llvm.loop_annotation = #[[LOOP]]}
      } {schedule.unroll}
    // CHECK-NEXT: }{{$}}
    } {schedule.unroll}
  // CHECK-NEXT: }{{$}}
  } {schedule.unroll}
  return
}
