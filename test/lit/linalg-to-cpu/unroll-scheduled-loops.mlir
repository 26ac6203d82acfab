// RUN: tilewright-opt %s --pass-pipeline="builtin.module(func.func(unroll-scheduled-loops))" --split-input-file | FileCheck %s

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

// -----

// Four iterations of an innermost loop over vectors are one, also where a loop in it is written out. Not of one whose
// extent is no multiple of four, of four iterations, of single elements, or with a loop in it.
// CHECK: #[[COUNT:.*]] = #llvm.loop_unroll<count = 4 : i32>
// CHECK: #[[FOUR:.*]] = #llvm.loop_annotation<unroll = #[[COUNT]]>

// CHECK-LABEL: func.func @vectors
func.func @vectors(%A: memref<?x8xf32>, %B: memref<?x8xf32>) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  // CHECK: scf.for %{{.*}} to %c8
  scf.for %i = %c0 to %c8 step %c1 {
    // CHECK: scf.for %{{.*}} to %c8
    scf.for %j = %c0 to %c8 step %c1 {
      // CHECK: scf.for %{{.*}} to %c4
      scf.for %k = %c0 to %c4 step %c1 {
        %v = vector.load %A[%j, %k] : memref<?x8xf32>, vector<4xf32>
        vector.store %v, %B[%j, %k] : memref<?x8xf32>, vector<4xf32>
      } {schedule.unroll}
    // CHECK: llvm.loop_annotation
    // CHECK-NEXT: } {llvm.loop_annotation = #[[FOUR]]}
    }
  // CHECK-NEXT: }{{$}}
  }
  // CHECK: scf.for %{{.*}} to %c10
  scf.for %j = %c0 to %c10 step %c1 {
    %v = vector.load %A[%j, %c0] : memref<?x8xf32>, vector<8xf32>
    vector.store %v, %B[%j, %c0] : memref<?x8xf32>, vector<8xf32>
  // CHECK: vector.store
  // CHECK-NEXT: }{{$}}
  }
  // CHECK: scf.for %{{.*}} to %c4
  scf.for %j = %c0 to %c4 step %c1 {
    %v = vector.load %A[%j, %c0] : memref<?x8xf32>, vector<8xf32>
    vector.store %v, %B[%j, %c0] : memref<?x8xf32>, vector<8xf32>
  // CHECK: vector.store
  // CHECK-NEXT: }{{$}}
  }
  // CHECK: scf.for %{{.*}} to %c8
  scf.for %j = %c0 to %c8 step %c1 {
    %x = memref.load %A[%j, %c0] : memref<?x8xf32>
    memref.store %x, %B[%j, %c0] : memref<?x8xf32>
  // CHECK: memref.store
  // CHECK-NEXT: }{{$}}
  }
  return
}
