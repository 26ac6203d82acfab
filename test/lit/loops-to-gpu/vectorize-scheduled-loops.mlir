// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(vectorize-scheduled-loops))' | FileCheck %s

// Loads along the last dimension are wide where the address is aligned; one that does not move is a scalar.
// CHECK-LABEL: func.func @row
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[X:.*]] = vector.load %arg0[%[[I]], %{{.*}}] {alignment = 16 : i64} : memref<8x4xf32>, vector<4xf32>
// CHECK:           %[[S:.*]] = memref.load %arg1[%[[I]]] : memref<8xf32>
// CHECK:           %[[V:.*]] = vector.broadcast %[[S]]
// CHECK:           %[[Y:.*]] = arith.mulf %[[X]], %[[V]] : vector<4xf32>
// CHECK:           vector.store %[[Y]], %arg2[%[[I]], %{{.*}}] {alignment = 16 : i64} : memref<8x4xf32>, vector<4xf32>
func.func @row(%A: memref<8x4xf32>, %s: memref<8xf32>, %B: memref<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %x = memref.load %A[%i, %j] : memref<8x4xf32>
      %y = memref.load %s[%i] : memref<8xf32>
      %z = arith.mulf %x, %y : f32
      memref.store %z, %B[%i, %j] : memref<8x4xf32>
    } {schedule.vectorize}
  }
  return
}

// A row of 6 elements is not aligned for four, but for two.
// CHECK-LABEL: func.func @narrow
// CHECK:         vector.load %arg0[%{{.*}}, %{{.*}}] {alignment = 8 : i64} : memref<8x6xf32>, vector<2xf32>
// CHECK-COUNT-4: memref.store
// CHECK-NOT:     scf.for
// CHECK:         return
func.func @narrow(%A: memref<8x6xf32>, %B: memref<4x8xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %x = memref.load %A[%i, %j] : memref<8x6xf32>
    memref.store %x, %B[%j, %i] : memref<4x8xf32>
  } {schedule.vectorize}
  return
}

// Rows of any length are aligned as far as all lengths have a divisor.
// CHECK-LABEL: func.func @symbolic_rows
// CHECK:         vector.load %arg0[%{{.*}}, %{{.*}}] {alignment = 8 : i64} : memref<8x?xf32>, vector<2xf32>
// CHECK-COUNT-4: memref.store %{{.*}}, %arg1
func.func @symbolic_rows(%A: memref<8x?xf32> {te.name = "A", te.symbols = ["", "n"], te.divisible_by = array<i64: 1, 6>},
                         %B: memref<8x?xf32> {te.name = "B", te.symbols = ["", "m"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %x = memref.load %A[%i, %j] : memref<8x?xf32>
      memref.store %x, %B[%i, %j] : memref<8x?xf32>
    } {schedule.vectorize}
  }
  return
}

// No more at once than an argument's memory is aligned to.
// CHECK-LABEL: func.func @aligned
// CHECK-COUNT-2: vector.load %arg0[%{{.*}}, %{{.*}}] {alignment = 8 : i64} : memref<8x4xf32>, vector<2xf32>
// CHECK-COUNT-4: memref.store
// CHECK-NOT:     scf.for
// CHECK:         return
func.func @aligned(%A: memref<8x4xf32> {te.align = 8 : i64}, %B: memref<8x4xf32> {te.align = 4 : i64}, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %x = memref.load %A[%i, %j] : memref<8x4xf32>
    memref.store %x, %B[%i, %j] : memref<8x4xf32>
  } {schedule.vectorize}
  return
}
