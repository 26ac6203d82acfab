// RUN: tilewright-opt %s --apply-argument-strides | FileCheck %s

// The argument, and the parts of it.
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[A:[^:]*]]: memref<8x?xf32, strided<[?, 1]>> {te.strides = array<i64: -1, 1>}, %{{[^:]*}}: memref<8xf32>,
// CHECK: memref.subview %[[A]][2, 0] [1, 4] [1, 1] : memref<8x?xf32, strided<[?, 1]>> to memref<4xf32, strided<[1], offset: ?>>
// CHECK: memref.load %[[A]][%{{.*}}, %{{.*}}] : memref<8x?xf32, strided<[?, 1]>>
func.func @f(%A: memref<8x?xf32> {te.strides = array<i64: -1, 1>}, %B: memref<8xf32>, %i: index) {
  %row = memref.subview %A[2, 0] [1, 4] [1, 1] : memref<8x?xf32> to memref<4xf32, strided<[1], offset: ?>>
  %x = memref.load %row[%i] : memref<4xf32, strided<[1], offset: ?>>
  %y = memref.load %A[%i, %i] : memref<8x?xf32>
  %z = arith.addf %x, %y : f32
  memref.store %z, %B[%i] : memref<8xf32>
  return
}

// A transposed matrix.
// CHECK-LABEL: func.func @transposed(
// CHECK: %[[ROW:.*]] = memref.subview %{{.*}}[2, 0] [1, 8] [1, 1] : memref<8x8xf32, strided<[1, 8]>> to memref<8xf32, strided<[8], offset: 2>>
// CHECK: memref.subview %[[ROW]][4] [2] [1] : memref<8xf32, strided<[8], offset: 2>> to memref<2xf32, strided<[8], offset: 34>>
func.func @transposed(%A: memref<8x8xf32> {te.strides = array<i64: 1, 8>}, %i: index) -> f32 {
  %row = memref.subview %A[2, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: 16>>
  %part = memref.subview %row[4] [2] [1] : memref<8xf32, strided<[1], offset: 16>> to memref<2xf32, strided<[1], offset: 20>>
  %x = memref.load %part[%i] : memref<2xf32, strided<[1], offset: 20>>
  return %x : f32
}

// What the steps of a scan hand on.
// CHECK-LABEL: func.func @scan(
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (memref<8x4xf32, strided<[?, 1]>>)
// CHECK: memref.store %{{.*}}, %[[S]][%{{.*}}, %{{.*}}] : memref<8x4xf32, strided<[?, 1]>>
func.func @scan(%S: memref<8x4xf32> {te.strides = array<i64: -1, 1>}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %last = scf.for %t = %c0 to %c8 step %c1 iter_args(%s = %S) -> (memref<8x4xf32>) {
    memref.store %x, %s[%t, %c0] : memref<8x4xf32>
    scf.yield %s : memref<8x4xf32>
  }
  return
}

// A copy between layouts.
// CHECK-LABEL: func.func @copy(
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<8x4xf32, strided<[?, 1]>>) outs(%{{.*}} : memref<8x4xf32>)
func.func @copy(%A: memref<8x4xf32> {te.strides = array<i64: -1, 1>}, %B: memref<8x4xf32>) {
  memref.copy %A, %B : memref<8x4xf32> to memref<8x4xf32>
  return
}
