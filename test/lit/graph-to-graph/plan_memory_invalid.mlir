// RUN: tilewright-opt %s -plan-memory -split-input-file -verify-diagnostics

// A and b live at once: each has fewer bytes than 2^63, both together more.
// expected-error @below {{expected results of groups whose bytes 63 bits count}}
func.func @main(%x: tensor<1500000000000000000xf32>) -> tensor<1500000000000000000xf32> {
  %a = graph.group "a" {
    %y = graph.exp %x : tensor<1500000000000000000xf32>
    graph.yield %y : tensor<1500000000000000000xf32>
  } : tensor<1500000000000000000xf32>
  %b = graph.group "b" {
    %y = graph.exp %a : tensor<1500000000000000000xf32>
    graph.yield %y : tensor<1500000000000000000xf32>
  } : tensor<1500000000000000000xf32>
  %c = graph.group "c" {
    %y = graph.exp %b : tensor<1500000000000000000xf32>
    graph.yield %y : tensor<1500000000000000000xf32>
  } : tensor<1500000000000000000xf32>
  return %c : tensor<1500000000000000000xf32>
}

// -----

// The bytes of a alone are more.
// expected-error @below {{expected results of groups whose bytes 63 bits count}}
func.func @main(%x: tensor<2305843009213693952xf64>) -> tensor<2305843009213693952xf64> {
  %a = graph.group "a" {
    %y = graph.exp %x : tensor<2305843009213693952xf64>
    graph.yield %y : tensor<2305843009213693952xf64>
  } : tensor<2305843009213693952xf64>
  %b = graph.group "b" {
    %y = graph.exp %a : tensor<2305843009213693952xf64>
    graph.yield %y : tensor<2305843009213693952xf64>
  } : tensor<2305843009213693952xf64>
  return %b : tensor<2305843009213693952xf64>
}
