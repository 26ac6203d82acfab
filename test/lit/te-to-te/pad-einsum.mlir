// RUN: tilewright-opt %s --rewrite-scheduled-dataflow | FileCheck %s

// A has zeros beyond k = 5; the sum is over 8, and C copies what there is.
// CHECK-LABEL: func.func @f
// CHECK:         %[[A:.+]] = te.compute "A.pad" (%[[I:.+]]: 8, %[[K:.+]]: 8) {
// CHECK:           %[[IN_I:.+]] = arith.cmpi slt, %[[I]], %c6
// CHECK:           %[[IN_K:.+]] = arith.cmpi slt, %[[K]], %c5
// CHECK:           %[[IN:.+]] = arith.andi %[[IN_I]], %[[IN_K]]
// CHECK:           scf.if %[[IN]] -> (f32) {
// CHECK:             te.read %arg0[%[[I]], %[[K]]] : tensor<6x5xf32>
// CHECK:           } else {
// CHECK:             arith.constant 0.000000e+00 : f32
// CHECK:         } : tensor<8x8xf32>
// CHECK:         %[[B:.+]] = te.compute "B.pad" ({{.*}}: 8) {
// CHECK:         %[[SUM:.+]] = te.compute "C.pad" (%{{.*}}: 8) sum (%{{.*}}: 8) {
// CHECK:           te.read %[[A]]
// CHECK:           te.read %[[B]]
// CHECK:           arith.mulf
// CHECK:         } : tensor<8xf32>
// CHECK:         te.compute "C" (%[[J:.+]]: 6) {
// CHECK:           te.read %[[SUM]][%[[J]]] : tensor<8xf32>
// CHECK:         } : tensor<6xf32>
func.func @f(%A: tensor<6x5xf32> {te.name = "A"}, %B: tensor<5xf32> {te.name = "B"}, %out: tensor<6xf32> {te.name = "C", te.output}) -> tensor<6xf32> {
  %C = te.compute "C" (%i: 6) sum (%k: 5) {
    %a = te.read %A[%i, %k] : tensor<6x5xf32>
    %b = te.read %B[%k] : tensor<5xf32>
    %ab = arith.mulf %a, %b : f32
    te.yield %ab : f32
  } : tensor<6xf32>
  return %C : tensor<6xf32>
}
// CHECK-LABEL: schedule.of @f
// CHECK-DAG:     schedule.stage "A.pad"
// CHECK-DAG:     schedule.stage "B.pad"
// CHECK-DAG:     schedule.stage "C.pad"
schedule.of @f {
  %C = schedule.stage "C"
  %A_pad, %B_pad, %C_pad = schedule.pad_einsum %C by [4, 4] as ["A.pad", "B.pad", "C.pad"] : !schedule.stage, !schedule.stage, !schedule.stage
}
