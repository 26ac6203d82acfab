// RUN: tilewright-opt %s --rewrite-scheduled-dataflow --split-input-file | FileCheck %s

// A split that does not divide: what is beyond the end counts as the identity.
// CHECK-LABEL: func.func @odd
// CHECK:       %[[BF:.+]] = te.compute "B.rf" (%k.inner: 16, %i: 8) prod (%k.outer: 7) {
// CHECK:         %[[K:.+]] = affine.apply #{{.*}}(%k.inner, %k.outer)
// CHECK:         %[[INSIDE:.+]] = arith.cmpi slt, %[[K]], %c100
// CHECK:         %[[X:.+]] = scf.if %[[INSIDE]] -> (f32) {
// CHECK:           te.read %arg0[%i, %k.inner + %k.outer * 16]
// CHECK:         } else {
// CHECK:           arith.constant 1.0
// CHECK:         te.yield %[[X]]
// CHECK:       te.compute "B" (%i: 8) prod (%k.inner: 16) {
// CHECK:         te.read %[[BF]][%k.inner, %i] : tensor<16x8xf32>
// CHECK-LABEL: schedule.of @odd
// CHECK-NOT:   schedule.split
// CHECK:       %[[B_RF:.+]] = schedule.stage "B.rf"
// CHECK:       %[[KI:.+]] = schedule.reduce_axes %B ["k.inner"]
// CHECK:       schedule.compute_at %[[B_RF]] at %B, %[[KI]]
func.func @odd(%A: tensor<8x100xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) prod (%k: 100) {
    %a = te.read %A[%i, %k] : tensor<8x100xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @odd {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %k = schedule.reduce_axes %B ["k"] : !schedule.axis
  %ko, %ki = schedule.split %k by 16
  %BF = schedule.rfactor %B, %ki at 0 as "B.rf"
  %r = schedule.reduce_axes %B ["k.inner"] : !schedule.axis
  schedule.compute_at %BF at %B, %r
}

// -----

// A split that divides needs no predicate; an axis that is no part of it is reduced whole.
// CHECK-LABEL: func.func @even
// CHECK:       te.compute "B.rf" (%i: 8, %k.outer: 6) sum (%r: 3, %k.inner: 16) {
// CHECK-NEXT:    %[[X:.+]] = te.read %arg0[%i, %k.outer * 16 + %k.inner, %r]
// CHECK-NEXT:    te.yield %[[X]]
func.func @even(%A: tensor<8x96x3xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) sum (%k: 96, %r: 3) {
    %a = te.read %A[%i, %k, %r] : tensor<8x96x3xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @even {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %k, %r = schedule.reduce_axes %B ["k", "r"] : !schedule.axis, !schedule.axis
  %ko, %ki = schedule.split %k by 16
  %BF = schedule.rfactor %B, %ko at 1 as "B.rf"
}
