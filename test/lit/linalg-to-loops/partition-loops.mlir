// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(partition-loops))' | FileCheck %s

// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0) -> (d0 + 3)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0) -> (d0 + 1)>

// A split that does not divide: the last iteration alone has the predicate.
// CHECK-LABEL: func.func @split
func.func @split(%A: memref<100xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c100 = arith.constant 100 : index
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c3{{.*}} step
  // CHECK-NEXT: scf.for %{{.*}} = %{{.*}} to %c32{{.*}} step
  // CHECK-NOT: scf.if
  // CHECK: memref.store
  // CHECK: {schedule.axis = #schedule.axis<"i.outer" of "A">}
  // CHECK: scf.for %[[REST:.*]] = %{{.*}} to %c1{{.*}} step
  // CHECK: affine.apply #[[LAST]](%[[REST]])
  // CHECK: scf.if
  // CHECK: {schedule.axis = #schedule.axis<"i.outer" of "A">}
  // CHECK-NOT: scf.for
  scf.for %io = %c0 to %c4 step %c1 {
    scf.for %ii = %c0 to %c32 step %c1 {
      %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%io, %ii)
      %inside = arith.cmpi slt, %i, %c100 : index
      scf.if %inside {
        memref.store %x, %A[%i] : memref<100xf32>
      }
    }
  } {schedule.axis = #schedule.axis<"i.outer" of "A">, schedule.partition}
  // CHECK: return
  return
}

// A stencil with padding: three parts. What does not depend on the loop stays.
// CHECK-LABEL: func.func @pad
func.func @pad(%A: memref<8xf32>, %B: memref<10xf32>, %other: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c1{{.*}} step
  // CHECK: scf.if
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %c8{{.*}} step
  // CHECK: %[[POSITION:.*]] = affine.apply #[[SECOND]](%[[I]])
  // CHECK-NOT: scf.if
  // CHECK: memref.load
  // CHECK: scf.if %{{.*}} {
  // CHECK: memref.store
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c1{{.*}} step
  // CHECK: scf.if
  scf.for %i = %c0 to %c10 step %c1 {
    %j = affine.apply affine_map<(d0) -> (d0 - 1)>(%i)
    %low = arith.cmpi sge, %j, %c0 : index
    %high = arith.cmpi slt, %j, %c8 : index
    %inside = arith.andi %low, %high : i1
    %value = scf.if %inside -> f32 {
      %element = memref.load %A[%j] : memref<8xf32>
      scf.yield %element : f32
    } else {
      scf.yield %zero : f32
    }
    scf.if %other {
      memref.store %value, %B[%i] : memref<10xf32>
    }
  } {schedule.partition}
  return
}

// Symbolic extents: the parts are computed. Another loop around is taken at its worst, so that all threads agree.
// CHECK-LABEL: func.func @symbolic
// CHECK-SAME: %{{.*}}: memref<?xf32>, %[[N:[a-z0-9]+]]: index
func.func @symbolic(%A: memref<?xf32>, %n: index, %trips: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  // CHECK: scf.for %[[T:.*]] = %{{.*}} to %c32{{.*}} step
  // CHECK: %[[END:.*]] = affine.apply #{{.*}}()[%[[N]]]
  // CHECK: arith.minsi
  // CHECK: arith.maxsi
  // CHECK: scf.for
  // CHECK-NOT: scf.if
  // CHECK: memref.store
  // CHECK: scf.for
  // CHECK: scf.if
  scf.for %t = %c0 to %c32 step %c1 {
    scf.for %i = %c0 to %trips step %c1 {
      %p = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%i, %t)
      %inside = arith.cmpi slt, %p, %n : index
      scf.if %inside {
        memref.store %x, %A[%p] : memref<?xf32>
      }
    } {schedule.partition}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// Nothing to part: no predicates, or one that is not linear in the loop.
// CHECK-LABEL: func.func @stays
func.func @stays(%A: memref<64xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  // CHECK: scf.for
  // CHECK: arith.cmpi
  // CHECK-NOT: schedule.partition
  // CHECK-NOT: scf.for
  scf.for %i = %c0 to %c64 step %c1 {
    %r = affine.apply affine_map<(d0) -> (d0 mod 5)>(%i)
    %inside = arith.cmpi slt, %r, %c3 : index
    scf.if %inside {
      memref.store %x, %A[%i] : memref<64xf32>
    }
  } {schedule.partition}
  return
}

// The middle takes the first of two ways, and what the other one asks goes with it.
// CHECK-LABEL: func.func @asks_otherwise
func.func @asks_otherwise(%A: memref<100xf32>, %B: memref<100xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c90 = arith.constant 90 : index
  %c100 = arith.constant 100 : index
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c2{{.*}} step
  // CHECK: scf.if
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c88{{.*}} step
  // CHECK-NOT: scf.if
  // CHECK: memref.store %{{.*}}, %[[A:.*]][
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c10{{.*}} step
  // CHECK: scf.if
  scf.for %i = %c0 to %c100 step %c1 {
    %late = arith.cmpi sge, %i, %c2 : index
    scf.if %late {
      memref.store %x, %A[%i] : memref<100xf32>
    } else {
      %early = arith.cmpi slt, %i, %c90 : index
      scf.if %early {
        memref.store %x, %B[%i] : memref<100xf32>
      }
    }
  } {schedule.partition}
  return
}
