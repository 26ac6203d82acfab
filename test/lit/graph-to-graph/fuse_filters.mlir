// RUN: tilewright-opt %s -fuse-operators | FileCheck %s

// Filters of 16 bits are stored in the order in which the matmul of a convolution reads them; those of float32 are read
// as they are.
// CHECK-LABEL: func.func @halves
// CHECK: graph.group "transpose" {
// CHECK: ends = ["matmul copies it as it is stored"]
// CHECK: graph.group "windows_matmul" {
// So are images whose channels fill vectors of 8.
// CHECK-LABEL: func.func @image
// CHECK: graph.group "transpose" {
// CHECK: ends = ["windows copies it as it is stored"]
// CHECK: graph.group "windows_matmul" {
// CHECK-LABEL: func.func @floats
// CHECK: graph.group "windows_transpose_matmul" {
// Of tf32 they are stored along K, before the transpose.
// CHECK-LABEL: func.func @tf32
// CHECK: graph.group "transpose" {
// CHECK: ends = ["transpose copies it as it is stored"]
// CHECK: graph.group "windows_transpose_matmul" {
func.func @halves(%x: tensor<1x3x3x4xbf16>, %w: tensor<8x16xbf16>) -> tensor<4x8xbf16> {
  %a = graph.windows %x {after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, graph.definition = @windows, kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<1x3x3x4xbf16>) -> tensor<4x16xbf16>
  %b = graph.transpose %w {graph.definition = @transpose, permutation = array<i64: 1, 0>} : (tensor<8x16xbf16>) -> tensor<16x8xbf16>
  %y = graph.matmul %a, %b {acc = "bfloat16", graph.definition = @matmul, to = "bfloat16"} : (tensor<4x16xbf16>, tensor<16x8xbf16>) -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}
func.func @image(%x: tensor<1x8x3x3xbf16>, %w: tensor<32x8xbf16>) -> tensor<4x8xbf16> {
  %t = graph.transpose %x {graph.definition = @transpose_image, permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x3x3xbf16>) -> tensor<1x3x3x8xbf16>
  %a = graph.windows %t {after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, graph.definition = @windows_image, kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<1x3x3x8xbf16>) -> tensor<4x32xbf16>
  %y = graph.matmul %a, %w {acc = "bfloat16", graph.definition = @matmul_image, to = "bfloat16"} : (tensor<4x32xbf16>, tensor<32x8xbf16>) -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}
func.func private @transpose_image(%x: tensor<1x8x3x3xbf16>, %o: tensor<1x3x3x8xbf16> {te.output}) -> tensor<1x3x3x8xbf16> {
  %r = te.compute "transpose" (%n: 1, %h: 3, %w: 3, %c: 8) {
    %e = te.read %x[%n, %c, %h, %w] : tensor<1x8x3x3xbf16>
    te.yield %e : bf16
  } : tensor<1x3x3x8xbf16>
  return %r : tensor<1x3x3x8xbf16>
}
func.func private @windows_image(%x: tensor<1x3x3x8xbf16>, %o: tensor<4x32xbf16> {te.output}) -> tensor<4x32xbf16> {
  %r = te.compute "windows" (%row: 4, %column: 32) {
    %e = te.read %x[0, %row floordiv 2 + (%column floordiv 8) floordiv 2, %row mod 2 + (%column floordiv 8) mod 2, %column mod 8] : tensor<1x3x3x8xbf16>
    te.yield %e : bf16
  } : tensor<4x32xbf16>
  return %r : tensor<4x32xbf16>
}
func.func private @matmul_image(%a: tensor<4x32xbf16>, %b: tensor<32x8xbf16>, %o: tensor<4x8xbf16> {te.output}) -> tensor<4x8xbf16> {
  %r = te.compute "matmul" (%i: 4, %j: 8) sum (%k: 32) {
    %l = te.read %a[%i, %k] : tensor<4x32xbf16>
    %m = te.read %b[%k, %j] : tensor<32x8xbf16>
    %p = arith.mulf %l, %m : bf16
    te.yield %p : bf16
  } : tensor<4x8xbf16>
  return %r : tensor<4x8xbf16>
}
func.func @floats(%x: tensor<1x3x3x4xf32>, %w: tensor<8x16xf32>) -> tensor<4x8xf32> {
  %a = graph.windows %x {after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, graph.definition = @windows_f32, kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<1x3x3x4xf32>) -> tensor<4x16xf32>
  %b = graph.transpose %w {graph.definition = @transpose_f32, permutation = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %y = graph.matmul %a, %b {acc = "float32", graph.definition = @matmul_f32, to = "float32"} : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @tf32(%x: tensor<1x3x3x4xf32>, %w: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %a = graph.windows %x {after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, graph.definition = @windows_f32, kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<1x3x3x4xf32>) -> tensor<4x16xf32>
  %f = graph.transpose %w {graph.definition = @transpose_filters, permutation = array<i64: 1, 0>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %b = graph.transpose %f {graph.definition = @transpose_f32, permutation = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %y = graph.matmul %a, %b {acc = "tf32", graph.definition = @matmul_f32, to = "float32"} : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func private @transpose_filters(%x: tensor<16x8xf32>, %o: tensor<8x16xf32> {te.output}) -> tensor<8x16xf32> {
  %r = te.compute "transpose" (%i: 8, %j: 16) {
    %e = te.read %x[%j, %i] : tensor<16x8xf32>
    te.yield %e : f32
  } : tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
func.func private @windows(%x: tensor<1x3x3x4xbf16>, %o: tensor<4x16xbf16> {te.output}) -> tensor<4x16xbf16> {
  %r = te.compute "windows" (%row: 4, %column: 16) {
    %e = te.read %x[0, %row floordiv 2 + (%column floordiv 4) floordiv 2, %row mod 2 + (%column floordiv 4) mod 2, %column mod 4] : tensor<1x3x3x4xbf16>
    te.yield %e : bf16
  } : tensor<4x16xbf16>
  return %r : tensor<4x16xbf16>
}
func.func private @transpose(%x: tensor<8x16xbf16>, %o: tensor<16x8xbf16> {te.output}) -> tensor<16x8xbf16> {
  %r = te.compute "transpose" (%i: 16, %j: 8) {
    %e = te.read %x[%j, %i] : tensor<8x16xbf16>
    te.yield %e : bf16
  } : tensor<16x8xbf16>
  return %r : tensor<16x8xbf16>
}
func.func private @matmul(%a: tensor<4x16xbf16>, %b: tensor<16x8xbf16>, %o: tensor<4x8xbf16> {te.output}) -> tensor<4x8xbf16> {
  %r = te.compute "matmul" (%i: 4, %j: 8) sum (%k: 16) {
    %l = te.read %a[%i, %k] : tensor<4x16xbf16>
    %m = te.read %b[%k, %j] : tensor<16x8xbf16>
    %p = arith.mulf %l, %m : bf16
    te.yield %p : bf16
  } : tensor<4x8xbf16>
  return %r : tensor<4x8xbf16>
}
func.func private @windows_f32(%x: tensor<1x3x3x4xf32>, %o: tensor<4x16xf32> {te.output}) -> tensor<4x16xf32> {
  %r = te.compute "windows" (%row: 4, %column: 16) {
    %e = te.read %x[0, %row floordiv 2 + (%column floordiv 4) floordiv 2, %row mod 2 + (%column floordiv 4) mod 2, %column mod 4] : tensor<1x3x3x4xf32>
    te.yield %e : f32
  } : tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}
func.func private @transpose_f32(%x: tensor<8x16xf32>, %o: tensor<16x8xf32> {te.output}) -> tensor<16x8xf32> {
  %r = te.compute "transpose" (%i: 16, %j: 8) {
    %e = te.read %x[%j, %i] : tensor<8x16xf32>
    te.yield %e : f32
  } : tensor<16x8xf32>
  return %r : tensor<16x8xf32>
}
func.func private @matmul_f32(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %r = te.compute "matmul" (%i: 4, %j: 8) sum (%k: 16) {
    %l = te.read %a[%i, %k] : tensor<4x16xf32>
    %m = te.read %b[%k, %j] : tensor<16x8xf32>
    %p = arith.mulf %l, %m : f32
    te.yield %p : f32
  } : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
