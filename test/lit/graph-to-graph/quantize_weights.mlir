// RUN: tilewright-opt %s '-quantize-weights=group=4' -split-input-file | FileCheck %s
// RUN: tilewright-opt %s -quantize-weights -split-input-file | FileCheck %s --check-prefix=WIDE

// Groups of 128 are longer than K here.
// WIDE-NOT: graph.unpack

// CHECK-LABEL: func.func @matmul
// CHECK-DAG: %[[P:.*]] = graph.weight "w.int4.0" {graph.group = 4 : i64, graph.quantized_from = "w", graph.scale_axis = 0 : i64} : tensor<4x6xui8>
// CHECK-DAG: %[[S:.*]] = graph.weight "w.scale.0" {graph.group = 4 : i64, graph.quantized_from = "w", graph.scale_axis = 0 : i64} : tensor<2x6xf32>
// CHECK-DAG: %[[Z:.*]] = graph.constant dense<8> : tensor<ui8>
// CHECK: %[[U:.*]] = graph.unpack %[[P]] {axis = 0 : i64} : (tensor<4x6xui8>) -> tensor<8x6xui8>
// CHECK: %[[W:.*]] = graph.dequantize %[[U]], %[[S]], %[[Z]] {axis = 0 : i64, block = 4 : i64, to = "float32"}
// CHECK: graph.matmul %arg0, %[[W]]
// CHECK-NOT: graph.weight "w" :
func.func @matmul(%x: tensor<4x8xf32>) -> tensor<4x6xf32> {
  %w = graph.weight "w" : tensor<8x6xf32>
  %y = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Of a transposed weight the axis is that of the weight, which stays where something else reads it.
// CHECK-LABEL: func.func @transposed
// CHECK: graph.weight "w.int4.1" {{.*}} : tensor<6x4xui8>
// CHECK: graph.weight "w.scale.1" {{.*}} : tensor<6x2xf32>
// CHECK: %[[V:.*]] = graph.weight "w" : tensor<6x8xbf16>
// CHECK: %[[W:.*]] = graph.dequantize {{.*}} {axis = 1 : i64, block = 4 : i64, to = "bfloat16"}
// CHECK: %[[T:.*]] = graph.transpose %[[W]] {permutation = array<i64: 1, 0>}
// CHECK: graph.matmul %arg0, %[[T]]
// CHECK: return %{{.*}}, %[[V]]
func.func @transposed(%x: tensor<4x8xbf16>) -> (tensor<4x6xbf16>, tensor<6x8xbf16>) {
  %w = graph.weight "w" : tensor<6x8xbf16>
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<6x8xbf16>) -> tensor<8x6xbf16>
  %y = graph.matmul %x, %t {acc = "float32", to = "bfloat16"} : (tensor<4x8xbf16>, tensor<8x6xbf16>) -> tensor<4x6xbf16>
  return %y, %w : tensor<4x6xbf16>, tensor<6x8xbf16>
}

// -----

// K of 6 has no groups of 4; what is computed is no weight.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: graph.unpack
func.func @stays(%x: tensor<4x6xf32>, %z: tensor<6x8xf32>) -> (tensor<4x6xf32>, tensor<4x8xf32>) {
  %w = graph.weight "w" : tensor<6x6xf32>
  %y = graph.matmul %x, %w {acc = "float32", to = "float32"} : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  %v = graph.matmul %x, %z {acc = "float32", to = "float32"} : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %y, %v : tensor<4x6xf32>, tensor<4x8xf32>
}
