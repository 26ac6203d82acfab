// RUN: tilewright-opt %s --keep-outer-loops --split-input-file | FileCheck %s

// CHECK: #[[NOT:.*]] = #llvm.loop_unroll<disable = true>
// CHECK: #[[KEPT:.*]] = #llvm.loop_annotation<unroll = #[[NOT]]>

// Loops around a long loop are kept. The innermost one is LLVM's own affair.
// CHECK-LABEL: func.func @long
func.func @long(%A: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %many = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %many step %c1 {
      memref.store %zero, %A[%j] : memref<?xf32>
    // CHECK: memref.store
    // CHECK-NEXT: }{{$}}
    }
  // CHECK-NEXT: } {llvm.loop_annotation = #[[KEPT]]}
  }
  return
}

// -----

// Not of few ops in all,
// CHECK-LABEL: func.func @short
// CHECK-NOT: llvm.loop_annotation
func.func @short(%A: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      memref.store %zero, %A[%j] : memref<?xf32>
    }
  }
  return
}

// -----

// CHECK: #[[FULL:.*]] = #llvm.loop_unroll<full = true>
// CHECK: #[[UNROLLED:.*]] = #llvm.loop_annotation<unroll = #[[FULL]]>

// and what says itself that it is unrolled is, and is no loop for those around it.
// CHECK-LABEL: func.func @marked
func.func @marked(%A: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      memref.store %zero, %A[%j] : memref<?xf32>
    // CHECK: } {llvm.loop_annotation = #[[UNROLLED]]}
    } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
  // CHECK-NEXT: }{{$}}
  }
  return
}
