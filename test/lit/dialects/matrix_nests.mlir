// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// Loops that an intrinsic has before apply-schedule proves what they are.
// CHECK-LABEL: func.func @unmarked
// CHECK-NOT: schedule.operand
func.func @unmarked(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] : memref<16x16xf16>
        %y = memref.load %b[%j, %k] : memref<8x16xf16>
        %old = memref.load %c[%i, %j] : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] : memref<16x8xf16>
      }
    }
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
  return
}

// CHECK-LABEL: func.func @marked
// CHECK: memref.load %arg0[%{{.*}}, %{{.*}}] {schedule.operand = #schedule.operand<a>}
// CHECK: memref.load %arg1[%{{.*}}, %{{.*}}] {schedule.operand = #schedule.operand<b>}
// CHECK: memref.load %arg2[%{{.*}}, %{{.*}}] {schedule.operand = #schedule.operand<accumulator>}
// CHECK: {schedule.matrix_axis = #schedule.matrix_axis<k>}
// CHECK: {schedule.matrix_axis = #schedule.matrix_axis<n>}
// CHECK: schedule.matrix_axis = #schedule.matrix_axis<m>
func.func @marked(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// Operands may be extended, and an axis may be several loops.
// CHECK-LABEL: func.func @rows_of_two_axes
func.func @rows_of_two_axes(%a: memref<2x8x16xf16>, %b: memref<8x16xf16>, %c: memref<2x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %h = %c0 to %c2 step %c1 {
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %a[%h, %i, %k] {schedule.operand = #schedule.operand<a>} : memref<2x8x16xf16>
          %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
          %wideX = arith.extf %x : f16 to f32
          %wideY = arith.extf %y : f16 to f32
          %old = memref.load %c[%h, %i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<2x8x8xf32>
          %xy = arith.mulf %wideX, %wideY : f32
          %new = arith.addf %xy, %old : f32
          memref.store %new, %c[%h, %i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<2x8x8xf32>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.matrix_axis = #schedule.matrix_axis<m>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}
