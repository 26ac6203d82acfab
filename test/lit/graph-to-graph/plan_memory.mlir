// RUN: tilewright-opt %s -plan-memory | FileCheck %s

// A is read by the second group at last, B by the third: C is where A was. What is an output, or of symbolic size, has no
// place.
// CHECK-LABEL: func.func @main
// CHECK-SAME: graph.arena_bytes = 192 : i64
// CHECK: "a"
// CHECK: offsets = array<i64: 0>
// CHECK: "b"
// CHECK: offsets = array<i64: 128>
// CHECK: "c"
// CHECK: offsets = array<i64: 0>
// CHECK: "d"
// CHECK: offsets = array<i64: -1>
func.func @main(%x: tensor<32xf32>, %s: tensor<?xf32, #graph.extents<"n">>) -> tensor<32xf32> {
  %a = graph.group "a" {
    %y = graph.exp %x : tensor<32xf32>
    graph.yield %y : tensor<32xf32>
  } : tensor<32xf32>
  %b = graph.group "b" {
    %y = graph.isnan %a : (tensor<32xf32>) -> tensor<32xi1>
    graph.yield %y : tensor<32xi1>
  } : tensor<32xi1>
  %c = graph.group "c" {
    %y = graph.not %b : tensor<32xi1>
    graph.yield %y : tensor<32xi1>
  } : tensor<32xi1>
  %d = graph.group "d" {
    %y = graph.cast %c {to = "float32", saturate = true} : (tensor<32xi1>) -> tensor<32xf32>
    graph.yield %y : tensor<32xf32>
  } : tensor<32xf32>
  %e = graph.group "e" {
    %y = graph.exp %s : tensor<?xf32, #graph.extents<"n">>
    graph.yield %y : tensor<?xf32, #graph.extents<"n">>
  } : tensor<?xf32, #graph.extents<"n">>
  return %d : tensor<32xf32>
}
