// RUN: tilewright-opt %s -fuse-quantization -canonicalize | FileCheck %s

// Zeros of 0: the integers are multiplied as they are, and the sums scaled for each column.
// CHECK-LABEL: func.func @symmetric
// CHECK-NEXT: %[[S:.*]] = graph.matmul %arg0, %arg1 {acc = "int32", to = "int32"} : (tensor<4x8xi8>, tensor<8x6xi8>) -> tensor<4x6xi32>
// CHECK-NEXT: %[[C:.*]] = graph.mul %arg3, %arg2 : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT: %[[F:.*]] = graph.cast %[[S]] {saturate = true, to = "float32"}
// CHECK-NEXT: %[[Y:.*]] = graph.mul %[[F]], %[[C]] : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: return %[[Y]]
func.func @symmetric(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>, %sx: tensor<f32>, %sw: tensor<6xf32>) -> tensor<4x6xf32> {
  %z = graph.constant dense<0> : tensor<i8>
  %a = graph.dequantize %x, %sx, %z {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  %b = graph.dequantize %w, %sw, %z {axis = 1 : i64, block = 0 : i64, to = "float32"} : (tensor<8x6xi8>, tensor<6xf32>, tensor<i8>) -> tensor<8x6xf32>
  %y = graph.matmul %a, %b {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// Another zero is subtracted first. Filters have a scale for each output channel.
// CHECK-LABEL: func.func @convolution
// CHECK-DAG: %[[W:.*]] = graph.cast %arg0 {saturate = true, to = "int32"} : (tensor<1x2x5x5xui8>) -> tensor<1x2x5x5xi32>
// CHECK-DAG: %[[Z:.*]] = graph.cast %{{.*}} {saturate = true, to = "int32"} : (tensor<ui8>) -> tensor<i32>
// CHECK: %[[X:.*]] = graph.sub %[[W]], %[[Z]]
// CHECK: %[[S:.*]] = graph.conv %[[X]], %arg1 {acc = "int32"{{.*}}to = "int32"} : (tensor<1x2x5x5xi32>, tensor<3x2x3x3xi8>) -> tensor<1x3x3x3xi32>
// CHECK: graph.reshape %arg3 {shape = [3, 1, 1]}
// CHECK: graph.mul
// CHECK: graph.cast %[[S]]
func.func @convolution(%x: tensor<1x2x5x5xui8>, %w: tensor<3x2x3x3xi8>, %sx: tensor<f32>, %sw: tensor<3xf32>) -> tensor<1x3x3x3xf32> {
  %middle = graph.constant dense<128> : tensor<ui8>
  %z = graph.constant dense<0> : tensor<i8>
  %a = graph.dequantize %x, %sx, %middle {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x5x5xf32>
  %b = graph.dequantize %w, %sw, %z {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<3x2x3x3xi8>, tensor<3xf32>, tensor<i8>) -> tensor<3x2x3x3xf32>
  %y = graph.conv %a, %b {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "float32"} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return %y : tensor<1x3x3x3xf32>
}

// Scales along the summed axis are no factor of a sum, nor are those of blocks.
// CHECK-LABEL: func.func @along_the_sum
// CHECK: graph.matmul {{.*}}acc = "float32"
func.func @along_the_sum(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>, %sx: tensor<f32>, %sw: tensor<8xf32>) -> tensor<4x6xf32> {
  %z = graph.constant dense<0> : tensor<i8>
  %a = graph.dequantize %x, %sx, %z {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  %b = graph.dequantize %w, %sw, %z {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<8x6xi8>, tensor<8xf32>, tensor<i8>) -> tensor<8x6xf32>
  %y = graph.matmul %a, %b {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @blocks
// CHECK: graph.matmul {{.*}}acc = "float32"
func.func @blocks(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>, %sx: tensor<f32>, %sw: tensor<2x6xf32>) -> tensor<4x6xf32> {
  %z = graph.constant dense<0> : tensor<i8>
  %a = graph.dequantize %x, %sx, %z {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  %b = graph.dequantize %w, %sw, %z {axis = 0 : i64, block = 4 : i64, to = "float32"} : (tensor<8x6xi8>, tensor<2x6xf32>, tensor<i8>) -> tensor<8x6xf32>
  %y = graph.matmul %a, %b {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @transposed
// CHECK: %[[T:.*]] = graph.transpose %arg1 {permutation = array<i64: 1, 0>} : (tensor<6x8xi8>) -> tensor<8x6xi8>
// CHECK: graph.matmul %arg0, %[[T]] {acc = "int32"
// CHECK: graph.mul %arg3, %arg2 : (tensor<6xf32>, tensor<f32>)
func.func @transposed(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>, %sx: tensor<f32>, %sw: tensor<6xf32>) -> tensor<4x6xf32> {
  %z = graph.constant dense<0> : tensor<i8>
  %a = graph.dequantize %x, %sx, %z {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  %b = graph.dequantize %w, %sw, %z {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<6x8xi8>, tensor<6xf32>, tensor<i8>) -> tensor<6x8xf32>
  %t = graph.transpose %b {permutation = array<i64: 1, 0>} : (tensor<6x8xf32>) -> tensor<8x6xf32>
  %y = graph.matmul %a, %t {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
