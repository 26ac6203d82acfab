// RUN: tilewright-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @exact
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0
func.func @exact(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %minus = graph.constant dense<-0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %a = graph.add %x, %minus : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = graph.sub %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.mul %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %d = graph.div %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -0 + 0 is 0, not -0: this addition stays.
// CHECK-LABEL: func.func @signed_zero
// CHECK: graph.add
func.func @signed_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %a = graph.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// A factor that broadcasts the tensor stays.
// CHECK-LABEL: func.func @broadcast
// CHECK: graph.mul
func.func @broadcast(%x: tensor<1xf32>) -> tensor<4xf32> {
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %a = graph.mul %x, %one : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func @moves
// CHECK: %[[R:.*]] = graph.reshape %arg0 {shape = [6]} : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK: return %[[R]], %arg0, %arg0
func.func @moves(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = graph.reshape %x {shape = [3, 2]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = graph.reshape %a {shape = [6]} : (tensor<3x2xf32>) -> tensor<6xf32>
  %c = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %d = graph.transpose %c {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %e = graph.concat %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %f = graph.slice %e {starts = [0, 0], steps = array<i64: 1, 1>, sizes = [2, 3]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %b, %d, %f : tensor<6xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// A slice that reverses has its operand's type, and stays.
// CHECK-LABEL: func.func @reversed
// CHECK: graph.slice
func.func @reversed(%x: tensor<3xf32>) -> tensor<3xf32> {
  %a = graph.slice %x {starts = [2], steps = array<i64: -1>, sizes = [3]} : (tensor<3xf32>) -> tensor<3xf32>
  return %a : tensor<3xf32>
}

// Slices whose numbers are the first positions are those that the tensor begins with.
// CHECK-LABEL: func.func @gather_of_positions
// CHECK-NEXT: %[[S:.*]] = graph.slice %arg0 {sizes = [4, 3], starts = [0, 0], steps = array<i64: 1, 1>} : (tensor<8x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[S]] {shape = [1, 4, 3]}
// CHECK-NEXT: return %[[R]]
func.func @gather_of_positions(%x: tensor<8x3xf32>) -> tensor<1x4x3xf32> {
  %i = graph.iota {axis = 0 : i64, shape = [4], to = "int64"} : tensor<4xi64>
  %p = graph.reshape %i {shape = [1, 4]} : (tensor<4xi64>) -> tensor<1x4xi64>
  %y = graph.gather %x, %p {axis = 0 : i64} : (tensor<8x3xf32>, tensor<1x4xi64>) -> tensor<1x4x3xf32>
  return %y : tensor<1x4x3xf32>
}

// Positions that the tensor does not have, and symbolic ones, stay indices.
// CHECK-LABEL: func.func @other_positions
// CHECK: graph.gather
// CHECK: graph.gather
func.func @other_positions(%x: tensor<8x3xf32>) -> (tensor<9x3xf32>, tensor<?x3xf32, #graph.extents<"n", "">>) {
  %i = graph.iota {axis = 0 : i64, shape = [9], to = "int64"} : tensor<9xi64>
  %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<8x3xf32>, tensor<9xi64>) -> tensor<9x3xf32>
  %j = graph.iota {axis = 0 : i64, shape = ["n"], to = "int64"} : tensor<?xi64, #graph.extents<"n">>
  %z = graph.gather %x, %j {axis = 0 : i64} : (tensor<8x3xf32>, tensor<?xi64, #graph.extents<"n">>) -> tensor<?x3xf32, #graph.extents<"n", "">>
  return %y, %z : tensor<9x3xf32>, tensor<?x3xf32, #graph.extents<"n", "">>
}

// One window that has all of a dimension's elements is no larger than these.
// CHECK-LABEL: func.func @window_of_all
// CHECK-NEXT: graph.sum_pool %arg0 {after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, kernel = array<i64: 7, 2>, strides = array<i64: 1, 2>}
// CHECK-NEXT: graph.max_pool %arg0 {after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, kernel = array<i64: 7, 8>, strides = array<i64: 1, 1>}
// CHECK-NEXT: graph.max_pool %arg0 {after = array<i64: 0, 0>, before = array<i64: 2, 0>, dilations = array<i64: 1, 1>, kernel = array<i64: 8, 8>, strides = array<i64: 8, 1>}
func.func @window_of_all(%x: tensor<1x4x7x8xf32>) -> (tensor<1x4x1x4xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) {
  %a = graph.sum_pool %x {after = array<i64: 1273, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, kernel = array<i64: 1280, 2>, strides = array<i64: 1280, 2>} : (tensor<1x4x7x8xf32>) -> tensor<1x4x1x4xf32>
  %b = graph.max_pool %x {after = array<i64: 0, 1>, before = array<i64: 2, 1>, dilations = array<i64: 1, 1>, kernel = array<i64: 9, 10>, strides = array<i64: 8, 8>} : (tensor<1x4x7x8xf32>) -> tensor<1x4x1x1xf32>
  %c = graph.max_pool %x {after = array<i64: 0, 0>, before = array<i64: 2, 0>, dilations = array<i64: 1, 1>, kernel = array<i64: 8, 8>, strides = array<i64: 8, 1>} : (tensor<1x4x7x8xf32>) -> tensor<1x4x1x1xf32>
  return %a, %b, %c : tensor<1x4x1x4xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>
}

// Dimensions of one element need not move behind a reshape: those of einsum go.
// CHECK-LABEL: func.func @ones
// CHECK-NEXT: %[[T:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x16x4x8xf32>) -> tensor<2x4x16x8xf32>
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[T]] {shape = [8, 16, 8]} : (tensor<2x4x16x8xf32>) -> tensor<8x16x8xf32>
// CHECK-NEXT: return %[[R]]
func.func @ones(%x: tensor<2x16x4x8xf32>) -> tensor<8x16x8xf32> {
  %0 = graph.reshape %x {shape = [2, 16, 4, 8, 1]} : (tensor<2x16x4x8xf32>) -> tensor<2x16x4x8x1xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 2, 4, 1, 3>} : (tensor<2x16x4x8x1xf32>) -> tensor<2x4x1x16x8xf32>
  %2 = graph.reshape %1 {shape = [8, 16, 8]} : (tensor<2x4x1x16x8xf32>) -> tensor<8x16x8xf32>
  return %2 : tensor<8x16x8xf32>
}

// CHECK-LABEL: func.func @ones_alone
// CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0 {shape = [1, 1, "n", 8]} : (tensor<?x8xf32, #graph.extents<"n", "">>) -> tensor<1x1x?x8xf32, #graph.extents<"", "", "n", "">>
// CHECK-NEXT: return %[[R]]
func.func @ones_alone(%x: tensor<?x8xf32, #graph.extents<"n", "">>) -> tensor<1x1x?x8xf32, #graph.extents<"", "", "n", "">> {
  %0 = graph.reshape %x {shape = ["n", 1, 8, 1]} : (tensor<?x8xf32, #graph.extents<"n", "">>) -> tensor<?x1x8x1xf32, #graph.extents<"n", "", "", "">>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 3, 0, 2>} : (tensor<?x1x8x1xf32, #graph.extents<"n", "", "", "">>) -> tensor<1x1x?x8xf32, #graph.extents<"", "", "n", "">>
  return %1 : tensor<1x1x?x8xf32, #graph.extents<"", "", "n", "">>
}

// Queries, keys and values of one matmul: each is a transpose of a slice, which attention reads where it lies.
// CHECK-LABEL: func @slices_of_a_transpose
// CHECK: %[[FIRST:.*]] = graph.slice %arg0 {sizes = [2, 300, 1, 2, 64], starts = [0, 0, 0, 0, 0], steps = array<i64: 1, 1, 1, 1, 1>}
// CHECK: graph.transpose %[[FIRST]] {permutation = array<i64: 2, 0, 3, 1, 4>}
// CHECK: %[[SECOND:.*]] = graph.slice %arg0 {sizes = [2, 300, 1, 2, 64], starts = [0, 0, 2, 0, 0], steps = array<i64: 1, 1, 1, 1, 1>}
// CHECK: graph.transpose %[[SECOND]] {permutation = array<i64: 2, 0, 3, 1, 4>}
func.func @slices_of_a_transpose(%x: tensor<2x300x3x2x64xf16>) -> (tensor<1x2x2x300x64xf16>, tensor<1x2x2x300x64xf16>) {
  %t = graph.transpose %x {permutation = array<i64: 2, 0, 3, 1, 4>} : (tensor<2x300x3x2x64xf16>) -> tensor<3x2x2x300x64xf16>
  %a = graph.slice %t {starts = [0, 0, 0, 0, 0], steps = array<i64: 1, 1, 1, 1, 1>, sizes = [1, 2, 2, 300, 64]}
      : (tensor<3x2x2x300x64xf16>) -> tensor<1x2x2x300x64xf16>
  %b = graph.slice %t {starts = [2, 0, 0, 0, 0], steps = array<i64: 1, 1, 1, 1, 1>, sizes = [1, 2, 2, 300, 64]}
      : (tensor<3x2x2x300x64xf16>) -> tensor<1x2x2x300x64xf16>
  return %a, %b : tensor<1x2x2x300x64xf16>, tensor<1x2x2x300x64xf16>
}

// Whoever reads all of it needs it stored.
// CHECK-LABEL: func @a_transpose_that_is_returned
// CHECK: graph.slice %{{.*}} {sizes = [1, 3]
func.func @a_transpose_that_is_returned(%x: tensor<3x2xf16>) -> (tensor<2x3xf16>, tensor<1x3xf16>) {
  %t = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<3x2xf16>) -> tensor<2x3xf16>
  %a = graph.slice %t {starts = [1, 0], steps = array<i64: 1, 1>, sizes = [1, 3]} : (tensor<2x3xf16>) -> tensor<1x3xf16>
  return %t, %a : tensor<2x3xf16>, tensor<1x3xf16>
}
