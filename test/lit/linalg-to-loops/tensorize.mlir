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
