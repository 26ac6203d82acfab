// RUN: tilewright-opt %s -sink-reshapes | FileCheck %s

// Both operands get the matrix's shape; a bias stays; the reshape back folds with the next one.
// CHECK-LABEL: func.func @residual
// CHECK-NEXT: %[[Y:.*]] = graph.reshape %arg1 {shape = [8, 16]} : (tensor<2x4x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: %[[A:.*]] = graph.add %arg0, %[[Y]] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: %[[B:.*]] = graph.add %[[A]], %arg2 : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: return %[[B]]
func.func @residual(%x: tensor<8x16xf32>, %y: tensor<2x4x16xf32>, %bias: tensor<16xf32>) -> tensor<8x16xf32> {
  %r = graph.reshape %x {shape = [2, 4, 16]} : (tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %a = graph.add %r, %y : (tensor<2x4x16xf32>, tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  %b = graph.add %a, %bias : (tensor<2x4x16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32>
  %z = graph.reshape %b {shape = [8, 16]} : (tensor<2x4x16xf32>) -> tensor<8x16xf32>
  return %z : tensor<8x16xf32>
}

// A reduction of the rows, and what is broadcast along them.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: %[[S:.*]] = graph.reduce_sum %arg0 {axes = array<i64: 1>, keepdims = true} : (tensor<8x16xf32>) -> tensor<8x1xf32>
// CHECK-NEXT: %[[D:.*]] = graph.sub %arg0, %[[S]] : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: %[[W:.*]] = graph.reshape %arg1 {shape = [1, 16]} : (tensor<1x1x16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %[[M:.*]] = graph.mul %[[D]], %[[W]] : (tensor<8x16xf32>, tensor<1x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: graph.reshape %[[M]] {shape = [2, 4, 16]}
func.func @rows(%x: tensor<8x16xf32>, %w: tensor<1x1x16xf32>) -> tensor<2x4x16xf32> {
  %r = graph.reshape %x {shape = [2, 4, 16]} : (tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %s = graph.reduce_sum %r {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x16xf32>) -> tensor<2x4x1xf32>
  %d = graph.sub %r, %s : (tensor<2x4x16xf32>, tensor<2x4x1xf32>) -> tensor<2x4x16xf32>
  %m = graph.mul %d, %w : (tensor<2x4x16xf32>, tensor<1x1x16xf32>) -> tensor<2x4x16xf32>
  return %m : tensor<2x4x16xf32>
}

// What is broadcast along some of the rows, splits of the last dimension, and other reductions stay.
// CHECK-LABEL: func.func @stay
// CHECK: graph.add {{.*}} -> tensor<2x4x16xf32>
// CHECK: graph.relu {{.*}} : tensor<8x4x4xf32>
// CHECK: graph.reduce_sum {{.*}} -> tensor<1x4x16xf32>
func.func @stay(%x: tensor<8x16xf32>, %some: tensor<4x16xf32>) -> (tensor<2x4x16xf32>, tensor<8x4x4xf32>, tensor<1x4x16xf32>) {
  %r = graph.reshape %x {shape = [2, 4, 16]} : (tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %a = graph.add %r, %some : (tensor<2x4x16xf32>, tensor<4x16xf32>) -> tensor<2x4x16xf32>
  %h = graph.reshape %x {shape = [8, 4, 4]} : (tensor<8x16xf32>) -> tensor<8x4x4xf32>
  %u = graph.relu %h : tensor<8x4x4xf32>
  %s = graph.reduce_sum %r {axes = array<i64: 0>, keepdims = true} : (tensor<2x4x16xf32>) -> tensor<1x4x16xf32>
  return %a, %u, %s : tensor<2x4x16xf32>, tensor<8x4x4xf32>, tensor<1x4x16xf32>
}

// Quantisation with one scale works element by element, with a scale for each place along an axis it stays.
// CHECK-LABEL: func.func @quantised
// CHECK: %[[R:.*]] = graph.reshape %arg0 {shape = [2, 4, 16]}
// CHECK: %[[Q:.*]] = graph.quantize %arg0, {{.*}} -> tensor<8x16xi8>
// CHECK: %[[P:.*]] = graph.quantize %[[R]], %arg1, {{.*}} -> tensor<2x4x16xi8>
// CHECK: return %[[Q]], %[[P]]
func.func @quantised(%x: tensor<8x16xf32>, %rows: tensor<4xf32>) -> (tensor<8x16xi8>, tensor<2x4x16xi8>) {
  %scale = graph.constant dense<0.5> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<i8>
  %r = graph.reshape %x {shape = [2, 4, 16]} : (tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %q = graph.quantize %r, %scale, %zero {axis = 0 : i64, block = 0 : i64, to = "int8"} : (tensor<2x4x16xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4x16xi8>
  %b = graph.reshape %q {shape = [8, 16]} : (tensor<2x4x16xi8>) -> tensor<8x16xi8>
  %p = graph.quantize %r, %rows, %zero {axis = 1 : i64, block = 0 : i64, to = "int8"} : (tensor<2x4x16xf32>, tensor<4xf32>, tensor<i8>) -> tensor<2x4x16xi8>
  return %b, %p : tensor<8x16xi8>, tensor<2x4x16xi8>
}
