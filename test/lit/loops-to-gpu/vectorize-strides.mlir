// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(vectorize-scheduled-loops))' | FileCheck %s

// Loads are as wide as it is known of the strides that every row begins aligned: here by 4 elements, and by 2.
// CHECK-LABEL: func.func @known
// CHECK:         vector.load %arg0[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<8x6xf32, strided<[?, 1]>>, vector<4xf32>
// CHECK-COUNT-2: vector.store %{{.*}}, %arg1[%{{.*}}, %{{.*}}] {alignment = 8 : i64} : memref<8x6xf32, strided<[10, 1]>>, vector<2xf32>
func.func @known(%A: memref<8x6xf32, strided<[?, 1]>> {te.strides = array<i64: -1, 1>, te.stride_divisible_by = array<i64: 12, 1>},
                 %B: memref<8x6xf32, strided<[10, 1]>>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %x = memref.load %A[%i, %j] : memref<8x6xf32, strided<[?, 1]>>
    memref.store %x, %B[%i, %j] : memref<8x6xf32, strided<[10, 1]>>
  } {schedule.vectorize}
  return
}

// Nothing is known of a stride, the last is not 1; rows that are all one are aligned as the first is.
// CHECK-LABEL: func.func @unknown
// CHECK-COUNT-4: memref.load %arg0
// CHECK-COUNT-4: memref.load %arg1
// CHECK:         vector.load %arg2[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<8x8xf32, strided<[0, 1]>>, vector<4xf32>
// CHECK-COUNT-4: memref.store
func.func @unknown(%A: memref<8x8xf32, strided<[?, 1]>>, %B: memref<8x8xf32, strided<[1, 8]>>, %C: memref<8x8xf32, strided<[0, 1]>>,
                   %D: memref<8x8xf32, strided<[8, ?]>>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %x = memref.load %A[%i, %j] : memref<8x8xf32, strided<[?, 1]>>
    %y = memref.load %B[%i, %j] : memref<8x8xf32, strided<[1, 8]>>
    %z = memref.load %C[%i, %j] : memref<8x8xf32, strided<[0, 1]>>
    %s = arith.addf %x, %y : f32
    %t = arith.addf %s, %z : f32
    memref.store %t, %D[%i, %j] : memref<8x8xf32, strided<[8, ?]>>
  } {schedule.vectorize}
  return
}

// Lanes that are of two rows lie together all the same where one number is split into the indices: (p floordiv 6, p mod
// 6) is element p. Rows that begin elsewhere tell nothing, and in row-major order alone.
// CHECK-LABEL: func.func @across_rows
// CHECK:         %[[A:.*]] = memref.collapse_shape %arg0 {{.*}} : memref<8x6xf32> into memref<48xf32>
// CHECK:         vector.load %[[A]][%{{.*}}] {alignment = 16 : i64} : memref<48xf32>, vector<4xf32>
// CHECK-COUNT-4: memref.store %{{.*}}, %arg1
func.func @across_rows(%A: memref<8x6xf32>, %B: memref<8x6xf32, strided<[8, 1]>>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %row = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1) floordiv 6)>(%i, %j)
    %column = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1) mod 6)>(%i, %j)
    %x = memref.load %A[%row, %column] : memref<8x6xf32>
    memref.store %x, %B[%row, %column] : memref<8x6xf32, strided<[8, 1]>>
  } {schedule.vectorize}
  return
}

// Four lanes that begin at a multiple of four are in one row of eight: neither the quotient nor the predicate on it differs
// between them.
// CHECK-LABEL: func.func @divided
// CHECK:         scf.if
// CHECK:           vector.load %arg0[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<8x8xf32>, vector<4xf32>
func.func @divided(%A: memref<8x8xf32>, %C: memref<64xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %at = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%i, %j)
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%at)
    %column = affine.apply affine_map<(d0) -> (d0 mod 8)>(%at)
    %inside = arith.cmpi slt, %row, %c4 : index
    %x = scf.if %inside -> (f32) {
      %e = memref.load %A[%row, %column] : memref<8x8xf32>
      scf.yield %e : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    memref.store %x, %C[%at] : memref<64xf32>
  } {schedule.vectorize}
  return
}
