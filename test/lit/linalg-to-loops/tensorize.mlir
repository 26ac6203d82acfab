// RUN: tilewright-opt %s --tilewright-pipeline="to=loops" | FileCheck %s

// The intrinsic's accesses go to the tile's places in the buffers, and its loops have the stage's name.
// CHECK-LABEL: func.func @f
// CHECK:       scf.for %[[IO:.+]] = %c0 to %c16
// CHECK:         scf.for %[[V:.+]] = %c0 to %c4
// CHECK:           %[[AT:.+]] = affine.apply {{.*}}(%[[V]], %[[IO]])
// CHECK:           %[[A:.+]] = memref.load %arg0[%[[AT]]]
// CHECK:           %[[TWICE:.+]] = arith.addf %[[A]], %[[A]]
// CHECK:           memref.store %[[TWICE]], %arg1[%[[AT]]]
// CHECK:         } {schedule.axis = #schedule.axis<"v" of "B">}
// CHECK-NOT:   schedule.tensorize
func.func @f(%A: tensor<64xf32> {te.name = "A"}, %out: tensor<64xf32> {te.name = "B", te.output}) -> tensor<64xf32> {
  %B = te.compute "B" (%i: 64) {
    %two_ = arith.constant 2.0 : f32
    %a = te.read %A[%i] : tensor<64xf32>
    %b = arith.mulf %a, %two_ : f32
    te.yield %b : f32
  } : tensor<64xf32>
  return %B : tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 4
  schedule.tensorize %ii by "double" {
    func.func @describe(%a: tensor<4xf32> {te.name = "a"}, %b: tensor<4xf32> {te.name = "b", te.output}) -> tensor<4xf32> {
      %0 = te.compute "b" (%n: 4) {
        %two = arith.constant 2.0 : f32
        %x = te.read %a[%n] : tensor<4xf32>
        %y = arith.mulf %x, %two : f32
        te.yield %y : f32
      } : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @body(%a: memref<4xf32>, %b: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %v = %c0 to %c4 step %c1 {
        %x = memref.load %a[%v] : memref<4xf32>
        %y = arith.addf %x, %x : f32
        memref.store %y, %b[%v] : memref<4xf32>
      } {schedule.axis = #schedule.axis<"v">}
      return
    }
  }
}

// Of a matmul the loops and accesses say what was proven of them.
// CHECK-LABEL: func.func @matmul
// CHECK: memref.load %arg2[%{{.*}}, %{{.*}}] {schedule.operand = #schedule.operand<accumulator>}
// CHECK: memref.load %arg1[%{{.*}}, %{{.*}}] {schedule.operand = #schedule.operand<b>}
// CHECK: memref.load %arg0[%{{.*}}, %{{.*}}] {schedule.operand = #schedule.operand<a>}
// CHECK: memref.store %{{.*}}, %arg2[%{{.*}}, %{{.*}}] {schedule.operand = #schedule.operand<accumulator>}
// CHECK: {schedule.axis = #schedule.axis<"k" of "C">, schedule.matrix_axis = #schedule.matrix_axis<k>}
// CHECK: {schedule.axis = #schedule.axis<"n" of "C">, schedule.matrix_axis = #schedule.matrix_axis<n>}
// CHECK: {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
func.func @matmul(%A: tensor<16x16xf16> {te.name = "A"}, %B: tensor<8x16xf16> {te.name = "B"},
                  %out: tensor<16x8xf16> {te.name = "C", te.output}) -> tensor<16x8xf16> {
  %C = te.compute "C" (%i: 16, %j: 8) sum (%k: 16) {
    %x = te.read %A[%i, %k] : tensor<16x16xf16>
    %y = te.read %B[%j, %k] : tensor<8x16xf16>
    %xy = arith.mulf %x, %y : f16
    te.yield %xy : f16
  } : tensor<16x8xf16>
  return %C : tensor<16x8xf16>
}
schedule.of @matmul {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  schedule.tensorize %i by "mma_sync" {
    func.func @describe(%a: tensor<16x16xf16> {te.name = "a"}, %b: tensor<8x16xf16> {te.name = "b"},
                        %c: tensor<16x8xf16> {te.name = "c", te.output}) -> tensor<16x8xf16> {
      %0 = te.compute "c" (%m: 16, %n: 8) sum (%k: 16) {
        %x = te.read %a[%m, %k] : tensor<16x16xf16>
        %y = te.read %b[%n, %k] : tensor<8x16xf16>
        %xy = arith.mulf %x, %y : f16
        te.yield %xy : f16
      } : tensor<16x8xf16>
      return %0 : tensor<16x8xf16>
    }
    func.func @reset(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) { return }
    func.func @update(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      scf.for %m = %c0 to %c16 step %c1 {
        scf.for %n = %c0 to %c8 step %c1 {
          scf.for %k = %c0 to %c16 step %c1 {
            %old = memref.load %c[%m, %n] : memref<16x8xf16>
            %y = memref.load %b[%n, %k] : memref<8x16xf16>
            %x = memref.load %a[%m, %k] : memref<16x16xf16>
            %xy = arith.mulf %x, %y : f16
            %new = arith.addf %old, %xy : f16
            memref.store %new, %c[%m, %n] : memref<16x8xf16>
          } {schedule.axis = #schedule.axis<"k">}
        } {schedule.axis = #schedule.axis<"n">}
      } {schedule.axis = #schedule.axis<"m">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
      return
    }
  }
}
