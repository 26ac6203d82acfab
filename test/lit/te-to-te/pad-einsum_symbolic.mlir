// RUN: tilewright-opt %s --rewrite-scheduled-dataflow | FileCheck %s

// A symbolic extent grows to the next multiple; one that is to be a multiple of 1 stays.
// CHECK: #[[MULTIPLE:.*]] = affine_map<()[s0] -> ((s0 ceildiv 4) * 4)>
// CHECK-LABEL: func.func @f
// CHECK:         %[[N:.+]] = tensor.dim
// CHECK:         %[[LONGER:.+]] = affine.apply #[[MULTIPLE]]()[%[[N]]]
// CHECK:         %[[A:.+]] = te.compute "A.pad" (%[[I:.+]]: %[[LONGER]], %{{.+}}: 5) {
// CHECK:           %[[IN:.+]] = arith.cmpi slt, %[[I]], %[[N]]
// CHECK:           scf.if %[[IN]] -> (f32) {
// CHECK:         } : tensor<?x5xf32>
// CHECK:         %[[SUM:.+]] = te.compute "C.pad" (%{{.*}}: %[[LONGER]]) sum (%{{.*}}: 5) {
// CHECK:           te.read %[[A]]
// CHECK:         } : tensor<?xf32>
// CHECK:         te.compute "C" (%[[J:.+]]: %[[N]]) {
// CHECK:           te.read %[[SUM]][%[[J]]] : tensor<?xf32>
func.func @f(%A: tensor<?x5xf32> {te.name = "A", te.symbols = ["n", ""]}, %out: tensor<?xf32> {te.name = "C", te.symbols = ["n"], te.output}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : tensor<?x5xf32>
  %C = te.compute "C" (%i: %n) sum (%k: 5) {
    %a = te.read %A[%i, %k] : tensor<?x5xf32>
    te.yield %a : f32
  } : tensor<?xf32>
  return %C : tensor<?xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  %A_pad, %C_pad = schedule.pad_einsum %C by [4, 1] as ["A.pad", "C.pad"] : !schedule.stage, !schedule.stage
}
