// RUN: tilewright-opt %s -quantize-operators=float8=true | FileCheck %s
// RUN: tilewright-opt %s -quantize-operators=float8=true -fuse-quantization | FileCheck %s --check-prefix=FUSED

// Operands in float8_e4m3fn, whose largest number is 448; products are accumulated in float32.
// CHECK-LABEL: func.func @matmul
// CHECK-DAG: %[[I:.*]] = graph.weight "w.float8.1" {graph.quantized_from = "w", graph.scale_axis = 1 : i64} : tensor<8x6xf8E4M3FN>
// CHECK-DAG: %[[X:.*]] = graph.constant dense<2.000000e+00> : tensor<f32>
// CHECK-DAG: %[[Z:.*]] = graph.constant dense<0.000000e+00> : tensor<f8E4M3FN>
// CHECK: graph.quantize %arg0, %[[X]], %[[Z]] {axis = 0 : i64, block = 0 : i64, to = "float8_e4m3fn"}
// CHECK: graph.dequantize %[[I]]
// FUSED: %[[M:.*]] = graph.matmul {{.*}} {acc = "float32", to = "float32"} : (tensor<4x8xf8E4M3FN>, tensor<8x6xf8E4M3FN>) -> tensor<4x6xf32>
// FUSED-NOT: graph.dequantize
// FUSED: graph.mul %[[M]]
func.func @matmul(%x: tensor<4x8xf32>) -> tensor<4x6xf32> {
  %w = graph.weight "w" : tensor<8x6xf32>
  %y = graph.matmul %x, %w {acc = "float32", graph.magnitude = 896.0 : f64, to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
