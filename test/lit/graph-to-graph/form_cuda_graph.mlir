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
