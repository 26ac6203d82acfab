// RUN: tilewright-opt %s -form-cuda-graph | FileCheck %s

// CHECK-LABEL: func.func @two
// CHECK-SAME: graph.cuda_graph
func.func @two(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = graph.group "a" {
    %y = graph.exp %x : tensor<16xf32>
    graph.yield %y : tensor<16xf32>
  } : tensor<16xf32>
  %b = graph.group "b" {
    %y = graph.exp %a : tensor<16xf32>
    graph.yield %y : tensor<16xf32>
  } : tensor<16xf32>
  return %b : tensor<16xf32>
}

// One launch is no faster as a graph.
// CHECK-LABEL: func.func @one
// CHECK-NOT: graph.cuda_graph
func.func @one(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = graph.group "a" {
    %y = graph.exp %x : tensor<16xf32>
    graph.yield %y : tensor<16xf32>
  } : tensor<16xf32>
  return %a : tensor<16xf32>
}

// A call waits for the number between its launches.
// CHECK-LABEL: func.func @count
// CHECK-NOT: graph.cuda_graph
func.func @count(%x: tensor<4xi64>)
    -> (tensor<?xi64, #graph.extents<"n">> {graph.name = "y"}, tensor<i64> {graph.count, graph.name = "n"}) {
  %n = graph.group "n" {
    %a = graph.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
    graph.yield %a : tensor<i64>
  } : tensor<i64>
  %y = graph.group "y" {
    %b = graph.iota {axis = 0 : i64, shape = ["n"], to = "int64"} : tensor<?xi64, #graph.extents<"n">>
    graph.yield %b : tensor<?xi64, #graph.extents<"n">>
  } : tensor<?xi64, #graph.extents<"n">>
  return %y, %n : tensor<?xi64, #graph.extents<"n">>, tensor<i64>
}
