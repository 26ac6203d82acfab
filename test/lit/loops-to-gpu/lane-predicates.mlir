// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(vectorize-scheduled-loops),canonicalize,cse)' | FileCheck %s

#index = affine_map<(d0, d1) -> (d0 * 4 + d1)>

// All lanes are inside where the last is; for the others the loop stays.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<()[s0] -> (s0 * 4)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<()[s0] -> (s0 * 4 + 3)>
// CHECK-LABEL: func.func @symbolic
// CHECK-SAME: (%[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[I:.*]]: index)
// CHECK: %[[L:.*]] = affine.apply #[[LAST]]()[%[[I]]]
// CHECK: %[[ALL:.*]] = arith.cmpi slt, %[[L]], %[[N]] : index
// CHECK: scf.if %[[ALL]] {
// CHECK:   %[[F:.*]] = affine.apply #[[FIRST]]()[%[[I]]]
// CHECK:   %[[X:.*]] = vector.load %[[A]][%[[F]]] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
// CHECK:   vector.store %[[X]], %[[B]][%{{.*}}] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     %[[ONE:.*]] = arith.cmpi slt, %{{.*}}, %[[N]] : index
// CHECK:     scf.if %[[ONE]] {
// CHECK:       memref.load
// CHECK:       memref.store
func.func @symbolic(%A: memref<?xf32>, %B: memref<?xf32>, %n: index, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %k = affine.apply #index(%i, %j)
    %inside = arith.cmpi slt, %k, %n : index
    scf.if %inside {
      %x = memref.load %A[%k] : memref<?xf32>
      memref.store %x, %B[%k] : memref<?xf32>
    }
  } {schedule.vectorize}
  return
}

// 100 is a multiple of 4: either all lanes are inside or none.
// CHECK-LABEL: func.func @agreeing
// CHECK: scf.if
// CHECK-NOT: else
// CHECK: vector.store
// CHECK-NOT: {{else|scf.for}}
// CHECK: return
func.func @agreeing(%A: memref<100xf32>, %B: memref<100xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c100 = arith.constant 100 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %k = affine.apply #index(%i, %j)
    %inside = arith.cmpi slt, %k, %c100 : index
    scf.if %inside {
      %x = memref.load %A[%k] : memref<100xf32>
      memref.store %x, %B[%k] : memref<100xf32>
    }
  } {schedule.vectorize}
  return
}

// The predicate is of the row.
// CHECK-LABEL: func.func @of_another_axis
// CHECK: arith.cmpi slt, %arg2, %c7
// CHECK: scf.if
// CHECK: vector.load
// CHECK-NOT: {{else|scf.for}}
// CHECK: return
func.func @of_another_axis(%A: memref<7x4xf32>, %B: memref<7x4xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %inside = arith.cmpi slt, %i, %c7 : index
    scf.if %inside {
      %x = memref.load %A[%i, %j] : memref<7x4xf32>
      memref.store %x, %B[%i, %j] : memref<7x4xf32>
    }
  } {schedule.vectorize}
  return
}

// Padding: where it begins below a lane, the first lane decides; where something else is done outside, a loop stays.
// CHECK-LABEL: func.func @padding
// CHECK-DAG: %[[GE:.*]] = arith.cmpi sge, %{{.*}}, %c1 : index
// CHECK-DAG: %[[LT:.*]] = arith.cmpi slt, %{{.*}}, %c17 : index
// CHECK: %[[ALL:.*]] = arith.andi
// CHECK: scf.if %[[ALL]] {
// CHECK:   vector.store %{{.*}} : memref<24xf32>, vector<4xf32>
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     scf.if %{{.*}} -> (f32)
func.func @padding(%A: memref<16xf32>, %B: memref<24xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c17 = arith.constant 17 : index
  %zero = arith.constant 0.0 : f32
  scf.for %j = %c0 to %c4 step %c1 {
    %k = affine.apply #index(%i, %j)
    %low = arith.cmpi sge, %k, %c1 : index
    %high = arith.cmpi slt, %k, %c17 : index
    %inside = arith.andi %low, %high : i1
    %y = scf.if %inside -> (f32) {
      %l = affine.apply affine_map<(d0) -> (d0 - 1)>(%k)
      %x = memref.load %A[%l] : memref<16xf32>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %y, %B[%k] : memref<24xf32>
  } {schedule.vectorize}
  return
}

// Rows of 13 elements have no aligned vectors, and of what is read nothing is known before: both stay loops.
// CHECK-LABEL: func.func @loops
// CHECK-NOT: vector
// CHECK: return
func.func @loops(%A: memref<8x13xf32>, %B: memref<8x13xf32>, %C: memref<16xi1>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c13 = arith.constant 13 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %k = affine.apply #index(%i, %j)
    %inside = arith.cmpi slt, %k, %c13 : index
    scf.if %inside {
      %x = memref.load %A[%i, %k] : memref<8x13xf32>
      memref.store %x, %B[%i, %k] : memref<8x13xf32>
    }
  } {schedule.vectorize}
  scf.for %j = %c0 to %c4 step %c1 {
    %inside = memref.load %C[%j] : memref<16xi1>
    scf.if %inside {
      memref.store %inside, %C[%j] : memref<16xi1>
    }
  } {schedule.vectorize}
  return
}
