// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(fold-known-conditions))' | FileCheck %s

// The first tile is whole where the extent is at least as large.
// CHECK-LABEL: func.func @first_tile
// CHECK: scf.for %[[i:.*]] =
// CHECK-NOT: scf.if
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[i]]]
func.func @first_tile(%A: memref<?xf32> {te.minimum = array<i64: 32>}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  scf.for %i = %c0 to %c32 step %c1 {
    %inside = arith.cmpi slt, %i, %n : index
    scf.if %inside {
      memref.store %x, %A[%i] : memref<?xf32>
    }
  }
  return
}

// One less, and it may not be.
// CHECK-LABEL: func.func @not_quite
// CHECK: scf.if
func.func @not_quite(%A: memref<?xf32> {te.minimum = array<i64: 31>}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  scf.for %i = %c0 to %c32 step %c1 {
    %inside = arith.cmpi slt, %i, %n : index
    scf.if %inside {
      memref.store %x, %A[%i] : memref<?xf32>
    }
  }
  return
}

// No extent is negative; one that is known to be positive decides the other two, whatever side of them is taken.
// CHECK-LABEL: func.func @guards
// CHECK: memref.store %arg2
// CHECK: memref.store %arg2
// CHECK: memref.store %arg2
// CHECK-NOT: scf.if
// CHECK: return
func.func @guards(%A: memref<?xf32> {te.minimum = array<i64: 1>}, %B: memref<?xf32>, %x: f32, %y: f32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  %m = memref.dim %B, %c0 : memref<?xf32>
  %negative = arith.cmpi slt, %m, %c0 : index
  scf.if %negative {
    memref.store %y, %A[%c0] : memref<?xf32>
  } else {
    memref.store %x, %A[%c0] : memref<?xf32>
  }
  %some = arith.cmpi sgt, %n, %c0 : index
  scf.if %some {
    memref.store %x, %A[%c0] : memref<?xf32>
  }
  %none = arith.cmpi sle, %n, %c0 : index
  scf.if %none {
    memref.store %y, %A[%c0] : memref<?xf32>
  } else {
    memref.store %x, %A[%c0] : memref<?xf32>
  }
  return
}

// What is left of a conjunction is asked for.
// CHECK-LABEL: func.func @and
// CHECK: %[[part:.*]] = arith.cmpi slt
// CHECK-NOT: arith.andi
// CHECK: scf.if %[[part]]
func.func @and(%A: memref<?xf32> {te.minimum = array<i64: 8>}, %B: memref<?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  %m = memref.dim %B, %c0 : memref<?xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %a = arith.cmpi slt, %i, %n : index
    %b = arith.cmpi slt, %i, %m : index
    %both = arith.andi %a, %b : i1
    scf.if %both {
      memref.store %x, %A[%i] : memref<?xf32>
    }
  }
  return
}

// The quotient by a number that divides an extent has a least value, too, and sums of what is known do.
// CHECK-LABEL: func.func @quotients
// CHECK-NOT: scf.if
// CHECK: return
func.func @quotients(%A: memref<?x?xf32> {te.minimum = array<i64: 64, 3>}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %A, %c0 : memref<?x?xf32>
  %m = memref.dim %A, %c1 : memref<?x?xf32>
  %units = arith.divui %n, %c16 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %a = arith.cmpi slt, %i, %units : index
    scf.if %a {
      memref.store %x, %A[%i, %c0] : memref<?x?xf32>
    }
    %more = affine.apply affine_map<(d0)[s0, s1] -> (s0 ceildiv 32 + s1 * 2 - d0 - 4 + s1 mod 2)>(%i)[%n, %m]
    %b = arith.cmpi sge, %more, %c1 : index
    scf.if %b {
      memref.store %x, %A[%i, %c1] : memref<?x?xf32>
    }
  }
  return
}

// What a loop counts to another one's count, and data, say nothing.
// CHECK-LABEL: func.func @unknown
// CHECK: scf.if
// CHECK: scf.if
func.func @unknown(%A: memref<?xf32> {te.minimum = array<i64: 8>}, %I: memref<8xindex>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %i step %c1 {
      %a = arith.cmpi slt, %j, %c8 : index
      scf.if %a {
        memref.store %x, %A[%j] : memref<?xf32>
      }
    }
    %at = memref.load %I[%i] : memref<8xindex>
    %b = arith.cmpi slt, %at, %c8 : index
    scf.if %b {
      memref.store %x, %A[%at] : memref<?xf32>
    }
  }
  return
}
