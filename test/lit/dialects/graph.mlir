// Round trip: what is printed reads back as the same.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<?x64xf32, #graph.extents<"batch", "">> {graph.name = "x"}
func.func @main(%x: tensor<?x64xf32, #graph.extents<"batch", "">> {graph.name = "x"})
    -> (tensor<?x64xf32, #graph.extents<"batch", "">> {graph.name = "y"}) {
  // CHECK: %[[W:.*]] = graph.weight "fc.weight" : tensor<64x64xf32>
  %w = graph.weight "fc.weight" : tensor<64x64xf32>
  // CHECK: %[[C:.*]] = graph.constant dense<1.500000e+00> : tensor<f32>
  %c = graph.constant dense<1.5> : tensor<f32>
  // CHECK: %[[Y:.*]] = graph.group "matmul_add_relu" {
  %y = graph.group "matmul_add_relu" {
    // CHECK: graph.matmul %{{.*}}, %[[W]] {acc = "float32", to = "float32"} : (tensor<?x64xf32, #graph.extents<"batch", "">>, tensor<64x64xf32>) -> tensor<?x64xf32, #graph.extents<"batch", "">>
    %h = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<?x64xf32, #graph.extents<"batch", "">>, tensor<64x64xf32>) -> tensor<?x64xf32, #graph.extents<"batch", "">>
    // CHECK: graph.add %{{.*}}, %[[C]] :
    %a = graph.add %h, %c : (tensor<?x64xf32, #graph.extents<"batch", "">>, tensor<f32>) -> tensor<?x64xf32, #graph.extents<"batch", "">>
    // CHECK: graph.relu %{{.*}} : tensor<?x64xf32, #graph.extents<"batch", "">>
    %r = graph.relu %a : tensor<?x64xf32, #graph.extents<"batch", "">>
    // CHECK: graph.yield
    graph.yield %r : tensor<?x64xf32, #graph.extents<"batch", "">>
  // CHECK: } {ends = ["an output of the model"], offsets = array<i64: -1>} : tensor<?x64xf32, #graph.extents<"batch", "">>
  } {ends = ["an output of the model"], offsets = array<i64: -1>} : tensor<?x64xf32, #graph.extents<"batch", "">>
  return %y : tensor<?x64xf32, #graph.extents<"batch", "">>
}

// CHECK-LABEL: func.func @detection
func.func @detection(%edges: tensor<1x4x9xf32>, %scores: tensor<1x2x9xf32>, %least: tensor<1xf32>, %most: tensor<1xf32>)
    -> tensor<18xi64> {
  // CHECK: graph.suppress_boxes %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {limit = 9 : i64} : (tensor<1x4x9xf32>, tensor<1x2x9xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x9xi64>
  %boxes = graph.suppress_boxes %edges, %scores, %least, %most {limit = 9 : i64}
      : (tensor<1x4x9xf32>, tensor<1x2x9xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x9xi64>
  %rows = graph.reshape %boxes {shape = [18, 1]} : (tensor<1x2x9xi64>) -> tensor<18x1xi64>
  // CHECK: graph.sort_rows %{{.*}} : (tensor<18x1xi64>) -> tensor<18xi64>
  %order = graph.sort_rows %rows : (tensor<18x1xi64>) -> tensor<18xi64>
  return %order : tensor<18xi64>
}

// CHECK-LABEL: func.func @unsigned
func.func @unsigned(%x: tensor<2x3xui8>) -> (tensor<2x2xui8>, tensor<2x2xi64>) {
  // CHECK: graph.topk %{{.*}} {axis = 1 : i64, k = 2 : i64, largest = true} : (tensor<2x3xui8>) -> (tensor<2x2xui8>, tensor<2x2xi64>)
  %v, %p = graph.topk %x {axis = 1 : i64, k = 2 : i64, largest = true} : (tensor<2x3xui8>) -> (tensor<2x2xui8>, tensor<2x2xi64>)
  return %v, %p : tensor<2x2xui8>, tensor<2x2xi64>
}
