// RUN: tilewright-opt %s --tilewright-pipeline="to=loops" --split-input-file | FileCheck %s

// A follower computes what an iteration made possible, and its producer's tensor lives in there.
// CHECK-LABEL: func.func @follow
// CHECK:       scf.for %[[IO:.+]] = %c0 to %c4
// CHECK:         %[[B:.+]] = memref.alloca() {te.stage = "B"} : memref<16xf32, #gpu.address_space<private>>
// CHECK:         scf.for %[[II:.+]] = %c0 to %c16
// CHECK:           memref.store %{{.*}}, %[[B]][%[[II]]]
// CHECK:         } {schedule.axis = #schedule.axis<"i.inner" of "B">}
// CHECK:         scf.for %[[J:.+]] = %c0 to %c16
// CHECK:           memref.load %[[B]][%[[J]]]
// CHECK:           memref.store %{{.*}}, %arg1
// CHECK:         } {schedule.axis = #schedule.axis<"i" of "C">}
// CHECK:       } {schedule.axis = #schedule.axis<"i.outer" of "B">}
func.func @follow(%A: tensor<64xf32> {te.name = "A"}, %out: tensor<64xf32> {te.name = "C", te.output}) -> tensor<64xf32> {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } : tensor<64xf32>
  %C = te.compute "C" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    %c = arith.mulf %b, %b : f32
    te.yield %c : f32
  } : tensor<64xf32>
  return %C : tensor<64xf32>
}
schedule.of @follow {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 16
  schedule.reverse_compute_at %C at %B, %io
}

// -----

// The elements are set to the identity before the loop over rows.
// CHECK-LABEL: func.func @decompose
// CHECK:       %[[ACC:.+]] = memref.alloca() {te.stage = "B"} : memref<8xf32, #gpu.address_space<private>>
// CHECK:       scf.for %[[I:.+]] = %c0 to %c8
// CHECK:         memref.store %cst, %[[ACC]][%[[I]]]
// CHECK:       scf.for %{{.*}} = %c0 to %c8
// CHECK:         scf.for %{{.*}} = %c0 to %c64
func.func @decompose(%A: tensor<8x64xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) sum (%k: 64) {
    %a = te.read %A[%i, %k] : tensor<8x64xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @decompose {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  schedule.decompose_reduction %B at %i
}
