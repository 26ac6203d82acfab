// RUN: tilewright-opt %s -split-input-file -dispatch-to-library | FileCheck %s
// RUN: tilewright-opt %s -split-input-file -dispatch-to-library="library=cublaslt" | FileCheck %s

// Of a group of float32: a weight that is stored transposed, a bias and ReLU.
// CHECK-LABEL: func.func @layer
// CHECK: library = #graph.library_matmul<library = cublaslt, a = 1, b = 0, b_order = [1, 0], bias = 2, epilogue = relu>
func.func @layer(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %bias: tensor<16xf32>) -> tensor<4x16xf32> {
  %y = graph.group "layer" {
    %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
    %m = graph.matmul %x, %t {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %a = graph.add %m, %bias : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    %r = graph.relu %a : tensor<4x16xf32>
    graph.yield %r : tensor<4x16xf32>
  } : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// In bfloat16: what is rounded in between is rounded once. The residual is the sum's first operand.
// CHECK-LABEL: func.func @residual
// CHECK: library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, bias = 2, residual = 3>
func.func @residual(%x: tensor<4x8xbf16>, %w: tensor<8x16xbf16>, %bias: tensor<16xbf16>, %skip: tensor<4x16xbf16>)
    -> tensor<4x16xbf16> {
  %y = graph.group "residual" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xbf16>, tensor<8x16xbf16>) -> tensor<4x16xf32>
    %c = graph.cast %bias {saturate = true, to = "float32"} : (tensor<16xbf16>) -> tensor<16xf32>
    %a = graph.add %m, %c : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    %n = graph.cast %a {saturate = true, to = "bfloat16"} : (tensor<4x16xf32>) -> tensor<4x16xbf16>
    %r = graph.add %skip, %n : (tensor<4x16xbf16>, tensor<4x16xbf16>) -> tensor<4x16xbf16>
    graph.yield %r : tensor<4x16xbf16>
  } : tensor<4x16xbf16>
  return %y : tensor<4x16xbf16>
}

// -----

// GELU by tanh.
// CHECK-LABEL: func.func @gelu
// CHECK: library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, epilogue = gelu_tanh>
func.func @gelu(%x: tensor<4x8xf16>, %w: tensor<8x16xf16>) -> tensor<4x16xf16> {
  %y = graph.group "gelu" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float16"} : (tensor<4x8xf16>, tensor<8x16xf16>) -> tensor<4x16xf16>
    %c = graph.cast %m {saturate = true, to = "float32"} : (tensor<4x16xf16>) -> tensor<4x16xf32>
    %square = graph.mul %c, %c : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %cube = graph.mul %square, %c : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %c0 = graph.constant dense<4.471500e-02> : tensor<f32>
    %small = graph.mul %cube, %c0 : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
    %sum = graph.add %c, %small : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %c1 = graph.constant dense<0.797884583> : tensor<f32>
    %inner = graph.mul %sum, %c1 : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
    %c2 = graph.constant dense<5.000000e-01> : tensor<f32>
    %half = graph.mul %c, %c2 : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
    %tanh = graph.tanh %inner : tensor<4x16xf32>
    %c3 = graph.constant dense<1.000000e+00> : tensor<f32>
    %factor = graph.add %tanh, %c3 : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
    %g = graph.mul %half, %factor : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %n = graph.cast %g {saturate = true, to = "float16"} : (tensor<4x16xf32>) -> tensor<4x16xf16>
    graph.yield %n : tensor<4x16xf16>
  } : tensor<4x16xf16>
  return %y : tensor<4x16xf16>
}

// -----

// The same with a power, and factors in other places.
// CHECK-LABEL: func.func @gelu_by_power
// CHECK: library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, bias = 2, epilogue = gelu_tanh>
func.func @gelu_by_power(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %bias: tensor<1x16xf32>) -> tensor<4x16xf32> {
  %y = graph.group "gelu" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %b = graph.add %bias, %m : (tensor<1x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %three = graph.constant dense<3.0> : tensor<f32>
    %cube = graph.pow %b, %three : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
    %c0 = graph.constant dense<4.471500e-02> : tensor<f32>
    %small = graph.mul %c0, %cube : (tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %sum = graph.add %small, %b : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %c1 = graph.constant dense<0.797884583> : tensor<f32>
    %inner = graph.mul %c1, %sum : (tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %tanh = graph.tanh %inner : tensor<4x16xf32>
    %c3 = graph.constant dense<1.000000e+00> : tensor<f32>
    %factor = graph.add %c3, %tanh : (tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %whole = graph.mul %factor, %b : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %c2 = graph.constant dense<5.000000e-01> : tensor<f32>
    %g = graph.mul %c2, %whole : (tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    graph.yield %g : tensor<4x16xf32>
  } : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// Batches, with transposes of heads, of symbolic extents.
// CHECK-LABEL: func.func @heads
// CHECK: library = #graph.library_matmul<library = cublaslt, a = 0, b = 1, a_order = [0, 2, 1, 3], b_order = [0, 2, 3, 1]>
func.func @heads(%q: tensor<?x5x4x8xf16, #graph.extents<"n", "", "", "">>, %k: tensor<?x7x4x8xf16, #graph.extents<"n", "", "", "">>)
    -> tensor<?x4x5x7xf16, #graph.extents<"n", "", "", "">> {
  %y = graph.group "heads" {
    %a = graph.transpose %q {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x5x4x8xf16, #graph.extents<"n", "", "", "">>) -> tensor<?x4x5x8xf16, #graph.extents<"n", "", "", "">>
    %s = graph.transpose %k {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x7x4x8xf16, #graph.extents<"n", "", "", "">>) -> tensor<?x4x7x8xf16, #graph.extents<"n", "", "", "">>
    %b = graph.transpose %s {permutation = array<i64: 0, 1, 3, 2>} : (tensor<?x4x7x8xf16, #graph.extents<"n", "", "", "">>) -> tensor<?x4x8x7xf16, #graph.extents<"n", "", "", "">>
    %m = graph.matmul %a, %b {acc = "float32", to = "float16"} : (tensor<?x4x5x8xf16, #graph.extents<"n", "", "", "">>, tensor<?x4x8x7xf16, #graph.extents<"n", "", "", "">>) -> tensor<?x4x5x7xf16, #graph.extents<"n", "", "", "">>
    graph.yield %m : tensor<?x4x5x7xf16, #graph.extents<"n", "", "", "">>
  } : tensor<?x4x5x7xf16, #graph.extents<"n", "", "", "">>
  return %y : tensor<?x4x5x7xf16, #graph.extents<"n", "", "", "">>
}

// -----

// Eight bits: integers to int32, floats to bfloat16. A matmul of one matrix for a batch.
// CHECK-LABEL: func.func @eight_bits
// CHECK: library = #graph.library_matmul<library = cublaslt, a = 0, b = 1>
// CHECK: library = #graph.library_matmul<library = cublaslt, a = 0, b = 1>
func.func @eight_bits(%x: tensor<4x8xi8>, %w: tensor<8x16xi8>, %f: tensor<2x4x8xf8E4M3FN>, %g: tensor<8x16xf8E4M3FN>)
    -> (tensor<4x16xi32>, tensor<2x4x16xbf16>) {
  %y = graph.group "integers" {
    %m = graph.matmul %x, %w {acc = "int32", to = "int32"} : (tensor<4x8xi8>, tensor<8x16xi8>) -> tensor<4x16xi32>
    graph.yield %m : tensor<4x16xi32>
  } : tensor<4x16xi32>
  %z = graph.group "floats" {
    %m = graph.matmul %f, %g {acc = "float32", to = "float32"} : (tensor<2x4x8xf8E4M3FN>, tensor<8x16xf8E4M3FN>) -> tensor<2x4x16xf32>
    %n = graph.cast %m {saturate = true, to = "bfloat16"} : (tensor<2x4x16xf32>) -> tensor<2x4x16xbf16>
    graph.yield %n : tensor<2x4x16xbf16>
  } : tensor<2x4x16xbf16>
  return %y, %z : tensor<4x16xi32>, tensor<2x4x16xbf16>
}

// -----

// What no library computes as one call stays: another activation, a factor, a rounding to eight bits, operands that are
// computed, a bias for each row, a broadcast residual, two results, float64, an accumulator of 16 bits, columns that
// do not lie together.
// CHECK-LABEL: func.func @others
// CHECK-NOT: library =
func.func @others(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %rows: tensor<4x1xf32>, %d: tensor<4x8xf64>, %e: tensor<8x16xf64>,
    %h: tensor<4x8xf16>, %i: tensor<8x16xf16>, %j: tensor<8x3x4xf32>) {
  %half = graph.group "erf" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %r = graph.erf %m : tensor<4x16xf32>
    graph.yield %r : tensor<4x16xf32>
  } : tensor<4x16xf32>
  %factor = graph.group "factor" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %c = graph.constant dense<2.0> : tensor<f32>
    %r = graph.mul %m, %c : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
    graph.yield %r : tensor<4x16xf32>
  } : tensor<4x16xf32>
  %rounded = graph.group "rounded" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %c = graph.cast %m {saturate = true, to = "float8_e4m3fn"} : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
    %r = graph.cast %c {saturate = true, to = "float32"} : (tensor<4x16xf8E4M3FN>) -> tensor<4x16xf32>
    graph.yield %r : tensor<4x16xf32>
  } : tensor<4x16xf32>
  %computed = graph.group "computed" {
    %a = graph.relu %x : tensor<4x8xf32>
    %m = graph.matmul %a, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    graph.yield %m : tensor<4x16xf32>
  } : tensor<4x16xf32>
  %by_row = graph.group "by_row" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %r = graph.add %m, %rows : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    graph.yield %r : tensor<4x16xf32>
  } : tensor<4x16xf32>
  %two = graph.group "two" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %s = graph.add %m, %m : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    graph.yield %s : tensor<4x16xf32>
  } : tensor<4x16xf32>
  %results:2 = graph.group "results" {
    %m = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %r = graph.relu %m : tensor<4x16xf32>
    graph.yield %m, %r : tensor<4x16xf32>, tensor<4x16xf32>
  } : tensor<4x16xf32>, tensor<4x16xf32>
  %double = graph.group "double" {
    %m = graph.matmul %d, %e {acc = "float64", to = "float64"} : (tensor<4x8xf64>, tensor<8x16xf64>) -> tensor<4x16xf64>
    graph.yield %m : tensor<4x16xf64>
  } : tensor<4x16xf64>
  %narrow = graph.group "narrow" {
    %m = graph.matmul %h, %i {acc = "float16", to = "float16"} : (tensor<4x8xf16>, tensor<8x16xf16>) -> tensor<4x16xf16>
    graph.yield %m : tensor<4x16xf16>
  } : tensor<4x16xf16>
  %apart = graph.group "apart" {
    %a = graph.transpose %j {permutation = array<i64: 2, 1, 0>} : (tensor<8x3x4xf32>) -> tensor<4x3x8xf32>
    %m = graph.matmul %a, %w {acc = "float32", to = "float32"} : (tensor<4x3x8xf32>, tensor<8x16xf32>) -> tensor<4x3x16xf32>
    graph.yield %m : tensor<4x3x16xf32>
  } : tensor<4x3x16xf32>
  %none = graph.group "none" {
    %r = graph.relu %x : tensor<4x8xf32>
    graph.yield %r : tensor<4x8xf32>
  } : tensor<4x8xf32>
  return
}
