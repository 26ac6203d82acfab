// RUN: tilewright-opt %s -quantize-operators -split-input-file -verify-diagnostics | FileCheck %s
// RUN: tilewright-opt %s '-quantize-operators=per-channel=false' -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=TENSOR

// A weight has a scale for each column of the result.
// CHECK-LABEL: func.func @matmul
// CHECK-DAG: %[[I:.*]] = graph.weight "w.int8.1" {graph.quantized_from = "w", graph.scale_axis = 1 : i64} : tensor<8x6xi8>
// CHECK-DAG: %[[S:.*]] = graph.weight "w.scale.1" {graph.quantized_from = "w", graph.scale_axis = 1 : i64} : tensor<6xf32>
// CHECK-DAG: %[[X:.*]] = graph.constant dense<2.000000e-02> : tensor<f32>
// CHECK: %[[Q:.*]] = graph.quantize %arg0, %[[X]], %{{.*}} {axis = 0 : i64, block = 0 : i64, to = "int8"}
// CHECK: %[[A:.*]] = graph.dequantize %[[Q]], %[[X]]
// CHECK: %[[B:.*]] = graph.dequantize %[[I]], %[[S]], %{{.*}} {axis = 1 : i64, block = 0 : i64, to = "float32"}
// CHECK: graph.matmul %[[A]], %[[B]] {acc = "float32", to = "float32"}
// CHECK-NOT: graph.weight "w" :
// TENSOR-LABEL: func.func @matmul
// TENSOR: graph.weight "w.scale" {graph.quantized_from = "w", graph.scale_axis = -1 : i64} : tensor<f32>
func.func @matmul(%x: tensor<4x8xf32>) -> tensor<4x6xf32> {
  %w = graph.weight "w" : tensor<8x6xf32>
  %y = graph.matmul %x, %w {acc = "float32", graph.magnitude = 2.54 : f64, to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// Of a transposed weight the axis is that of the weight. It stays where something else reads it.
// CHECK-LABEL: func.func @transposed
// CHECK: graph.weight "w.int8.0" {graph.quantized_from = "w", graph.scale_axis = 0 : i64} : tensor<6x8xi8>
// CHECK: %[[W:.*]] = graph.weight "w" : tensor<6x8xf32>
// CHECK: %[[B:.*]] = graph.dequantize
// CHECK: %[[B:.*]] = graph.dequantize {{.*}} {axis = 0 : i64
// CHECK: %[[T:.*]] = graph.transpose %[[B]] {permutation = array<i64: 1, 0>}
// CHECK: graph.matmul %{{.*}}, %[[T]]
// CHECK: return %{{.*}}, %[[W]]
func.func @transposed(%x: tensor<4x8xf32>) -> (tensor<4x6xf32>, tensor<6x8xf32>) {
  %w = graph.weight "w" : tensor<6x8xf32>
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<6x8xf32>) -> tensor<8x6xf32>
  %y = graph.matmul %x, %t {acc = "float32", graph.magnitude = 1.0 : f64, to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y, %w : tensor<4x6xf32>, tensor<6x8xf32>
}

// What is computed, of another type, or was 0 in all samples stays as it is.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: graph.quantize
// CHECK-NOT: graph.magnitude
func.func @stays(%x: tensor<4x8xf32>, %y: tensor<8x6xf32>, %h: tensor<4x8xf64>) -> (tensor<4x6xf32>, tensor<4x6xf64>, tensor<4x6xf32>) {
  %w = graph.weight "w" : tensor<8x6xf64>
  %v = graph.weight "v" : tensor<8x6xf32>
  %a = graph.matmul %x, %y {acc = "float32", graph.magnitude = 2.54 : f64, to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %b = graph.matmul %h, %w {acc = "float64", graph.magnitude = 2.54 : f64, to = "float64"} : (tensor<4x8xf64>, tensor<8x6xf64>) -> tensor<4x6xf64>
  %c = graph.matmul %x, %v {acc = "float32", graph.magnitude = 0.0 : f64, to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %a, %b, %c : tensor<4x6xf32>, tensor<4x6xf64>, tensor<4x6xf32>
}

// In 16 bits, what is dequantised has the type of the operands; the scales are float32.
// CHECK-LABEL: func.func @short
// CHECK: graph.weight "w.scale.1" {{.*}} : tensor<6xf32>
// CHECK: graph.dequantize {{.*}}to = "bfloat16"}
// CHECK: graph.dequantize {{.*}}to = "bfloat16"}
// CHECK: graph.matmul {{.*}}to = "bfloat16"}
func.func @short(%x: tensor<4x8xbf16>) -> tensor<4x6xbf16> {
  %w = graph.weight "w" : tensor<8x6xbf16>
  %y = graph.matmul %x, %w {acc = "float32", graph.magnitude = 2.54 : f64, to = "bfloat16"} : (tensor<4x8xbf16>, tensor<8x6xbf16>) -> tensor<4x6xbf16>
  return %y : tensor<4x6xbf16>
}
