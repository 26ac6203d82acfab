// RUN: tilewright-opt %s --rewrite-scheduled-dataflow | FileCheck %s

// The stage is computed where its producer was: what is left has the producer's name, its axes and its loops.
// CHECK-LABEL: func.func @f
// CHECK-NEXT:  %[[B:.+]] = te.compute "B" (%i: 8) {
// CHECK-NEXT:    %[[X:.+]] = te.read %arg0[%i]
// CHECK-NEXT:    %[[Y:.+]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT:    %[[Z:.+]] = arith.mulf %[[Y]], %[[Y]]
// CHECK-NEXT:    te.yield %[[Z]]
// CHECK:       return %[[B]]
// CHECK-LABEL: schedule.of @f
// CHECK-NEXT:    %[[STAGE:.+]] = schedule.stage "B"
// CHECK-NEXT:    %[[AXIS:.+]] = schedule.axes %[[STAGE]] ["i"]
// CHECK-NEXT:    schedule.vectorize %[[AXIS]]
// CHECK-NEXT:  }
func.func @f(%A: tensor<8xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "D", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %x = te.read %A[%i] : tensor<8xf32>
    %y = arith.addf %x, %x : f32
    te.yield %y : f32
  } : tensor<8xf32>
  %D = te.compute "D" (%j: 8) {
    %x = te.read %B[%j] : tensor<8xf32>
    %y = arith.mulf %x, %x : f32
    te.yield %y : f32
  } : tensor<8xf32>
  return %D : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  schedule.vectorize %i
  %D = schedule.stage "D"
  schedule.reverse_compute_inline %D into %B
}
