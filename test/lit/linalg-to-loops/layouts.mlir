// RUN: tilewright-opt %s --tilewright-pipeline="to=loops" --split-input-file | FileCheck %s

// The elements of the copy lie in columns of 4.
// CHECK-DAG:   #[[QUOTIENT:.+]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK-DAG:   #[[REST:.+]] = affine_map<(d0) -> (d0 mod 4)>
// CHECK-LABEL: func.func @layout
// CHECK:         %[[B:.+]] = memref.alloc() {te.stage = "B"} : memref<4x8x4xf32>
// CHECK:         scf.for %[[I:.+]] = %c0 to %c8
// CHECK:           scf.for %[[J:.+]] = %c0 to %c16
// CHECK:             %[[Q:.+]] = affine.apply #[[QUOTIENT]](%[[J]])
// CHECK:             %[[R:.+]] = affine.apply #[[REST]](%[[J]])
// CHECK:             memref.store %{{.*}}, %[[B]][%[[Q]], %[[I]], %[[R]]]
// CHECK:             memref.load %[[B]][%{{.*}}, %{{.*}}, %{{.*}}] : memref<4x8x4xf32>
func.func @layout(%A: tensor<8x16xf32> {te.name = "A"}, %out: tensor<8x16xf32> {te.name = "C", te.output}) -> tensor<8x16xf32> {
  %B = te.compute "B" (%i: 8, %j: 16) {
    %a = te.read %A[%i, %j] : tensor<8x16xf32>
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } : tensor<8x16xf32>
  %C = te.compute "C" (%i: 8, %j: 16) {
    %b = te.read %B[%i, %j] : tensor<8x16xf32>
    te.yield %b : f32
  } : tensor<8x16xf32>
  return %C : tensor<8x16xf32>
}
schedule.of @layout {
  %B = schedule.stage "B"
  schedule.transform_layout %B by affine_map<(i, j) -> (j floordiv 4, i, j mod 4)>
}

// -----

// CHECK-LABEL: func.func @swizzle
// CHECK:         %[[B:.+]] = memref.alloc() {te.stage = "B"} : memref<8x16xf32>
// CHECK:         scf.for %[[I:.+]] = %c0 to %c8
// CHECK:           scf.for %[[J:.+]] = %c0 to %c16
// CHECK-DAG:         %[[GRANULE:.+]] = affine.apply #{{.*}}(%[[J]])
// CHECK-DAG:         %[[ROW:.+]] = affine.apply #{{.*}}(%[[I]])
// CHECK:             %[[X:.+]] = arith.xori %[[GRANULE]], %[[ROW]] : index
// CHECK:             %[[AT:.+]] = affine.apply #{{.*}}(%[[X]], %[[J]])
// CHECK:             memref.store %{{.*}}, %[[B]][%[[I]], %[[AT]]]
func.func @swizzle(%A: tensor<8x16xf32> {te.name = "A"}, %out: tensor<8x16xf32> {te.name = "C", te.output}) -> tensor<8x16xf32> {
  %B = te.compute "B" (%i: 8, %j: 16) {
    %a = te.read %A[%i, %j] : tensor<8x16xf32>
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } : tensor<8x16xf32>
  %C = te.compute "C" (%i: 8, %j: 16) {
    %b = te.read %B[%i, %j] : tensor<8x16xf32>
    te.yield %b : f32
  } : tensor<8x16xf32>
  return %C : tensor<8x16xf32>
}
schedule.of @swizzle {
  %B = schedule.stage "B"
  schedule.swizzle %B granule 4
}

// -----

// The buffer stands before the loop; all of the first window is computed, of the others what is new.
// CHECK-LABEL: func.func @roll
// CHECK:         %[[B:.+]] = memref.alloca() {te.stage = "B"} : memref<3xf32
// CHECK:         scf.for %[[I:.+]] = %c0 to %c16
// CHECK:           scf.for %[[N:.+]] = %c0 to %c3
// CHECK-DAG:         %[[FIRST:.+]] = arith.cmpi eq, %[[I]], %c0
// CHECK-DAG:         %[[NEW:.+]] = arith.cmpi sge, %[[N]], %c2
// CHECK:             %[[COMPUTES:.+]] = arith.ori %[[FIRST]], %[[NEW]]
// CHECK:             scf.if %[[COMPUTES]] {
// CHECK:               %[[AT:.+]] = affine.apply #{{.*}}(%{{.*}}, %{{.*}})
// CHECK:               memref.store %{{.*}}, %[[B]][%{{.*}}]
func.func @roll(%A: tensor<18xf32> {te.name = "A"}, %out: tensor<16xf32> {te.name = "C", te.output}) -> tensor<16xf32> {
  %B = te.compute "B" (%i: 18) {
    %a = te.read %A[%i] : tensor<18xf32>
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } : tensor<18xf32>
  %C = te.compute "C" (%i: 16) sum (%k: 3) {
    %b = te.read %B[%i + %k] : tensor<18xf32>
    te.yield %b : f32
  } : tensor<16xf32>
  return %C : tensor<16xf32>
}
schedule.of @roll {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  schedule.compute_at %B at %C, %i
  schedule.rolling_buffer %B
}
