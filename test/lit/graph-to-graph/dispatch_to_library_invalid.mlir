// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -dispatch-to-library="groups=1 own-ns=2 library-ns=1"
// RUN: not tilewright-opt %s -split-input-file -dispatch-to-library="groups=0,1 own-ns=2 library-ns=1,2" 2>&1 | FileCheck %s

// CHECK: error: expected as many own-ns and library-ns as groups, 2, got 1 and 2

// expected-error @below {{expected numbers of groups from 0 to 0, got 1}}
func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.group "relu" {
    %r = graph.relu %x : tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @another(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.group "relu" {
    %r = graph.relu %x : tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  } : tensor<4xf32>
  // expected-error @below {{expected a group that cublaslt computes, got exp}}
  %z = graph.group "exp" {
    %r = graph.exp %y : tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  } : tensor<4xf32>
  return %z : tensor<4xf32>
}
