// RUN: tilewright-opt %s -order-groups | FileCheck %s

// Each call waits once for both numbers, and once for the third, which depends on the first.
// CHECK-LABEL: func.func @two_waits
// CHECK: %[[N:.*]] = graph.group "n"
// CHECK: %[[M:.*]] = graph.group "m"
// CHECK: %[[A:.*]] = graph.group "a"
// CHECK: graph.reshape %[[A]]
// CHECK: %[[K:.*]] = graph.group "k"
// CHECK: graph.group "b"
// CHECK: graph.group "c"
// CHECK: return
func.func @two_waits(%x: tensor<4xi64> {graph.name = "x"})
    -> (tensor<1x?xi64, #graph.extents<"", "n">> {graph.name = "a"}, tensor<?xi64, #graph.extents<"2 * k">> {graph.name = "c"},
        tensor<?xi64, #graph.extents<"m">> {graph.name = "b"},
        tensor<i64> {graph.count, graph.name = "n"}, tensor<i64> {graph.count, graph.name = "k"},
        tensor<i64> {graph.count, graph.name = "m"}) {
  %n = graph.group "n" {
    %y = graph.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
    graph.yield %y : tensor<i64>
  } : tensor<i64>
  %a = graph.group "a" {
    %y = graph.iota {axis = 0 : i64, shape = ["n"], to = "int64"} : tensor<?xi64, #graph.extents<"n">>
    graph.yield %y : tensor<?xi64, #graph.extents<"n">>
  } : tensor<?xi64, #graph.extents<"n">>
  %r = graph.reshape %a {shape = [1, "n"]} : (tensor<?xi64, #graph.extents<"n">>) -> tensor<1x?xi64, #graph.extents<"", "n">>
  %k = graph.group "k" {
    %y = graph.reduce_sum %a {axes = array<i64: 0>, keepdims = false} : (tensor<?xi64, #graph.extents<"n">>) -> tensor<i64>
    graph.yield %y : tensor<i64>
  } : tensor<i64>
  %c = graph.group "c" {
    %y = graph.iota {axis = 0 : i64, shape = ["2 * k"], to = "int64"} : tensor<?xi64, #graph.extents<"2 * k">>
    graph.yield %y : tensor<?xi64, #graph.extents<"2 * k">>
  } : tensor<?xi64, #graph.extents<"2 * k">>
  %m = graph.group "m" {
    %y = graph.reduce_max %x {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
    graph.yield %y : tensor<i64>
  } : tensor<i64>
  %b = graph.group "b" {
    %y = graph.iota {axis = 0 : i64, shape = ["m"], to = "int64"} : tensor<?xi64, #graph.extents<"m">>
    graph.yield %y : tensor<?xi64, #graph.extents<"m">>
  } : tensor<?xi64, #graph.extents<"m">>
  return %r, %c, %b, %n, %k, %m : tensor<1x?xi64, #graph.extents<"", "n">>, tensor<?xi64, #graph.extents<"2 * k">>,
    tensor<?xi64, #graph.extents<"m">>, tensor<i64>, tensor<i64>, tensor<i64>
}

// A result without graph.count is no number to wait for, whatever its name is.
// CHECK-LABEL: func.func @known
// CHECK: graph.group "a"
// CHECK: graph.group "n"
func.func @known(%x: tensor<?xi64, #graph.extents<"n">> {graph.name = "x"})
    -> (tensor<?xi64, #graph.extents<"n">> {graph.name = "a"}, tensor<i64> {graph.name = "n"}) {
  %a = graph.group "a" {
    %y = graph.neg %x : tensor<?xi64, #graph.extents<"n">>
    graph.yield %y : tensor<?xi64, #graph.extents<"n">>
  } : tensor<?xi64, #graph.extents<"n">>
  %n = graph.group "n" {
    %y = graph.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<?xi64, #graph.extents<"n">>) -> tensor<i64>
    graph.yield %y : tensor<i64>
  } : tensor<i64>
  return %a, %n : tensor<?xi64, #graph.extents<"n">>, tensor<i64>
}
