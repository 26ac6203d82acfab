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

// CHECK-LABEL: func.func @matrices
func.func @matrices(%x: tensor<2x5x3xf32>, %s: tensor<2x5x5xf64>) -> tensor<2x5x5xf64> {
  // CHECK: graph.lu %{{.*}} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xi32>)
  %lu, %pivots = graph.lu %x : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xi32>)
  // CHECK: graph.row_order %{{.*}} {rows = 5 : i64} : (tensor<2x3xi32>) -> tensor<2x5xi32>
  %order = graph.row_order %pivots {rows = 5 : i64} : (tensor<2x3xi32>) -> tensor<2x5xi32>
  // CHECK: graph.reflections %{{.*}} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>)
  %factors, %scales = graph.reflections %x : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>)
  // CHECK: graph.reflect %{{.*}}, %{{.*}}, %{{.*}} {transposed = true}
  %r = graph.reflect %factors, %scales, %x {transposed = true} : (tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>
  // CHECK: graph.orthogonalize %{{.*}} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x5x5xf32>)
  %rows, %rotations = graph.orthogonalize %x : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x5x5xf32>)
  // CHECK: graph.diagonalize %{{.*}} : (tensor<2x5x5xf64>) -> (tensor<2x5xf64>, tensor<2x5x5xf64>)
  %values, %vectors = graph.diagonalize %s : (tensor<2x5x5xf64>) -> (tensor<2x5xf64>, tensor<2x5x5xf64>)
  // CHECK: graph.cholesky %{{.*}} : (tensor<2x5x5xf64>) -> tensor<2x5x5xf64>
  %l = graph.cholesky %s : (tensor<2x5x5xf64>) -> tensor<2x5x5xf64>
  // CHECK: graph.solve_triangular %{{.*}}, %{{.*}} {unit = true, upper = false}
  %y = graph.solve_triangular %l, %s {upper = false, unit = true} : (tensor<2x5x5xf64>, tensor<2x5x5xf64>) -> tensor<2x5x5xf64>
  return %y : tensor<2x5x5xf64>
}

// CHECK-LABEL: func.func @unsigned
func.func @unsigned(%x: tensor<2x3xui8>) -> (tensor<2x2xui8>, tensor<2x2xi64>) {
  // CHECK: graph.topk %{{.*}} {axis = 1 : i64, k = 2 : i64, largest = true} : (tensor<2x3xui8>) -> (tensor<2x2xui8>, tensor<2x2xi64>)
  %v, %p = graph.topk %x {axis = 1 : i64, k = 2 : i64, largest = true} : (tensor<2x3xui8>) -> (tensor<2x2xui8>, tensor<2x2xi64>)
  return %v, %p : tensor<2x2xui8>, tensor<2x2xi64>
}

// CHECK-LABEL: func.func @dropped
func.func @dropped(%q: tensor<2x5x8xbf16>, %m: tensor<5x5xi1>, %seed: tensor<i32>) -> tensor<2x5x8xbf16> {
  // CHECK: graph.attention_with_logarithms %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {before = -1 : i64, behind = 0 : i64, dropout_p = 1.000000e-01 : f64, offset = 0 : i64
  %y, %l = graph.attention_with_logarithms %q, %q, %q, %m, %seed {scale = 0.5 : f64, before = -1 : i64, behind = 0 : i64, offset = 0 : i64, softcap = 0.0 : f64, dropout_p = 0.1 : f64}
      : (tensor<2x5x8xbf16>, tensor<2x5x8xbf16>, tensor<2x5x8xbf16>, tensor<5x5xi1>, tensor<i32>) -> (tensor<2x5x8xbf16>, tensor<2x5xf32>)
  return %y : tensor<2x5x8xbf16>
}

// CHECK-LABEL: func.func @trained
func.func @trained(%head: tensor<2x5x8xbf16>, %k: tensor<1x5x8xbf16>, %m: tensor<5x5xf32>) -> (tensor<1x5x8xbf16>, tensor<5x5xf32>) {
  // CHECK: graph.attention_with_logarithms %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {before = -1 : i64, behind = 0 : i64, offset = 0 : i64, scale = 5.000000e-01 : f64, softcap = 0.000000e+00 : f64} : (tensor<2x5x8xbf16>, tensor<1x5x8xbf16>, tensor<1x5x8xbf16>, tensor<5x5xf32>) -> (tensor<2x5x8xbf16>, tensor<2x5xf32>)
  %y, %l = graph.attention_with_logarithms %head, %k, %k, %m {scale = 0.5 : f64, before = -1 : i64, behind = 0 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<2x5x8xbf16>, tensor<1x5x8xbf16>, tensor<1x5x8xbf16>, tensor<5x5xf32>) -> (tensor<2x5x8xbf16>, tensor<2x5xf32>)
  // CHECK: graph.attention_gradients %{{.*}} {before = -1 : i64, behind = 0 : i64, deterministic = false, offset = 0 : i64, scale = 5.000000e-01 : f64, softcap = 0.000000e+00 : f64, wanted = array<i64: 1, 3>} : ({{.*}}) -> (tensor<1x5x8xbf16>, tensor<5x5xf32>)
  %dk, %dm = graph.attention_gradients %head, %head, %k, %k, %y, %l, %m {scale = 0.5 : f64, before = -1 : i64, behind = 0 : i64, offset = 0 : i64, softcap = 0.0 : f64, wanted = array<i64: 1, 3>, deterministic = false}
      : (tensor<2x5x8xbf16>, tensor<2x5x8xbf16>, tensor<1x5x8xbf16>, tensor<1x5x8xbf16>, tensor<2x5x8xbf16>, tensor<2x5xf32>, tensor<5x5xf32>) -> (tensor<1x5x8xbf16>, tensor<5x5xf32>)
  return %dk, %dm : tensor<1x5x8xbf16>, tensor<5x5xf32>
}

// CHECK-LABEL: func.func @library
// CHECK: library = #graph.library_matmul<library = cublaslt, a = 1, b = 0, b_order = [1, 0], bias = 2, epilogue = relu, own_ns = 12500, library_ns = 9250>
func.func @library(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %bias: tensor<16xf32>) -> tensor<4x16xf32> {
  %y = graph.group "layer" {
    %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
    %m = graph.matmul %x, %t {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %a = graph.add %m, %bias : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    %r = graph.relu %a : tensor<4x16xf32>
    graph.yield %r : tensor<4x16xf32>
  } {library = #graph.library_matmul<library = cublaslt, a = 1, b = 0, b_order = [1, 0], bias = 2, epilogue = relu, own_ns = 12500, library_ns = 9250>} : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
