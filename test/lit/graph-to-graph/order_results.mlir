// RUN: tilewright-opt %s -order-results | FileCheck %s

// The caller transposes in place of the model, behind what it does already.
// CHECK-LABEL: func.func @moved
// CHECK-SAME: -> (tensor<2x4x8xf32> {graph.name = "y", graph.order = array<i64: 2, 0, 1>})
// CHECK-NEXT: %[[R:.*]] = graph.relu
// CHECK-NEXT: return %[[R]]
func.func @moved(%x: tensor<2x4x8xf32>) -> (tensor<4x2x8xf32> {graph.name = "y", graph.order = array<i64: 2, 1, 0>}) {
  %r = graph.relu %x : tensor<2x4x8xf32>
  %t = graph.transpose %r {permutation = array<i64: 1, 0, 2>} : (tensor<2x4x8xf32>) -> tensor<4x2x8xf32>
  return %t : tensor<4x2x8xf32>
}

// Without the mark the result is as it is. What is returned already, or is an argument, is no tensor of its own.
// CHECK-LABEL: func.func @kept
// CHECK-SAME: -> (tensor<4x2xf32>, tensor<2x4xf32>, tensor<4x2xf32> {graph.order = array<i64: 0, 1>}, tensor<4x2xf32> {graph.order = array<i64: 0, 1>})
func.func @kept(%x: tensor<2x4xf32>) -> (tensor<4x2xf32>, tensor<2x4xf32>, tensor<4x2xf32> {graph.order = array<i64: 0, 1>}, tensor<4x2xf32> {graph.order = array<i64: 0, 1>}) {
  %r = graph.relu %x : tensor<2x4xf32>
  %e = graph.exp %x : tensor<2x4xf32>
  %a = graph.transpose %e {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %b = graph.transpose %r {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %c = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return %a, %r, %b, %c : tensor<4x2xf32>, tensor<2x4xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}
