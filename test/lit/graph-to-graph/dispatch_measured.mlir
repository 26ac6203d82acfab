// RUN: tilewright-opt %s -dispatch-to-library="groups=1 own-ns=12500 library-ns=9250" | FileCheck %s

// Only the groups that were measured, with what was measured.
// CHECK-LABEL: func.func @two
// CHECK: graph.group "first"
// CHECK-NOT: library =
// CHECK: graph.group "second"
// CHECK: ends = ["an output of the model"], library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, own_ns = 12500, library_ns = 9250>
func.func @two(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %y = graph.group "first" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    graph.yield %m : tensor<4x8xf32>
  } : tensor<4x8xf32>
  %z = graph.group "second" {
    %m = graph.matmul %y, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    graph.yield %m : tensor<4x8xf32>
  } {ends = ["an output of the model"]} : tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}
