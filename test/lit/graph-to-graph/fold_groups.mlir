// RUN: tilewright-opt %s -fold-groups | FileCheck %s

// A group that reads nothing, and one that reads that group alone. What nothing else reads is dropped.
// CHECK-LABEL: func.func @angles
// CHECK-NEXT: %[[W:.*]] = graph.weight "folded.0" {graph.folded = @graph.weights::@folded.0} : tensor<8xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.group "add"
// CHECK-NEXT: graph.add %arg0, %[[W]]
// CHECK-NOT: graph.group
func.func @angles(%x: tensor<8xf32>) -> tensor<8xf32> {
  %i = graph.group "iota_cast" {
    %0 = graph.iota {axis = 0 : i64, shape = [8], to = "int64"} : tensor<8xi64>
    %1 = graph.cast %0 {saturate = true, to = "float32"} : (tensor<8xi64>) -> tensor<8xf32>
    graph.yield %1 : tensor<8xf32>
  } {ends = ["an operator"]} : tensor<8xf32>
  %c = graph.group "cos" {
    %0 = graph.cos %i : tensor<8xf32>
    graph.yield %0 : tensor<8xf32>
  } {ends = ["an operator"]} : tensor<8xf32>
  %y = graph.group "add" {
    %0 = graph.add %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    graph.yield %0 : tensor<8xf32>
  } {ends = ["an output of the model"]} : tensor<8xf32>
  return %y : tensor<8xf32>
}

// Groups stay that read inputs or weights, whose shape is symbolic, or whose result is large.
// CHECK-LABEL: func.func @stay
// CHECK: graph.group "relu"
// CHECK: graph.group "exp"
// CHECK: graph.group "symbolic"
// CHECK: graph.group "large"
func.func @stay(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<?xi64, #graph.extents<"n">>, tensor<1024x1024xi64>) {
  %r = graph.group "relu" {
    %0 = graph.relu %x : tensor<8xf32>
    graph.yield %0 : tensor<8xf32>
  } {ends = ["an output of the model"]} : tensor<8xf32>
  %w = graph.weight "w" : tensor<8xf32>
  %e = graph.group "exp" {
    %0 = graph.exp %w : tensor<8xf32>
    graph.yield %0 : tensor<8xf32>
  } {ends = ["an output of the model"]} : tensor<8xf32>
  %s = graph.group "symbolic" {
    %0 = graph.iota {axis = 0 : i64, shape = ["n"], to = "int64"} : tensor<?xi64, #graph.extents<"n">>
    graph.yield %0 : tensor<?xi64, #graph.extents<"n">>
  } {ends = ["an output of the model"]} : tensor<?xi64, #graph.extents<"n">>
  %l = graph.group "large" {
    %0 = graph.iota {axis = 0 : i64, shape = [1024, 1024], to = "int64"} : tensor<1024x1024xi64>
    graph.yield %0 : tensor<1024x1024xi64>
  } {ends = ["an output of the model"]} : tensor<1024x1024xi64>
  return %r, %e, %s, %l : tensor<8xf32>, tensor<8xf32>, tensor<?xi64, #graph.extents<"n">>, tensor<1024x1024xi64>
}

// A result that only a folded group reads may be larger than what is kept.
// CHECK-LABEL: func.func @on_the_way
// CHECK-NEXT: %[[W:.*]] = graph.weight "folded.1"
// CHECK-NEXT: return %[[W]]
func.func @on_the_way() -> tensor<1024xi64> {
  %i = graph.group "iota" {
    %0 = graph.iota {axis = 0 : i64, shape = [1024, 1024], to = "int64"} : tensor<1024x1024xi64>
    graph.yield %0 : tensor<1024x1024xi64>
  } {ends = ["an operator"]} : tensor<1024x1024xi64>
  %r = graph.group "reduce_max" {
    %0 = graph.reduce_max %i {axes = array<i64: 1>, keepdims = false} : (tensor<1024x1024xi64>) -> tensor<1024xi64>
    graph.yield %0 : tensor<1024xi64>
  } {ends = ["an output of the model"]} : tensor<1024xi64>
  return %r : tensor<1024xi64>
}

// CHECK: module @graph.weights
// CHECK: func.func @folded.0() -> tensor<8xf32>
// CHECK-NEXT: graph.iota
// CHECK-NEXT: graph.cast
// CHECK-NEXT: %[[C:.*]] = graph.cos
// CHECK-NEXT: return %[[C]]
