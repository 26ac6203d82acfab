// RUN: tilewright-opt %s -view-reshapes | FileCheck %s
// RUN: tilewright-opt %s -view-reshapes -plan-memory | FileCheck %s --check-prefix=PLAN

// What the matmul reads and writes are views; the group writes into the output.
// CHECK-LABEL: func.func @ends(
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8xf32>, %[[W:.*]]: tensor<8x8xf32>)
// CHECK: %[[ROWS:.*]] = graph.reshape %[[X]] {shape = [8, 8]}
// CHECK-NEXT: %[[Y:.*]] = graph.group "matmul_relu" {
// CHECK-NEXT: graph.matmul %[[ROWS]], %[[W]]
// CHECK: } {ends = ["an output of the model"]} : tensor<8x8xf32>
// CHECK-NEXT: %[[OUT:.*]] = graph.reshape %[[Y]] {shape = [2, 4, 8]}
// CHECK-NEXT: return %[[OUT]]
// PLAN-LABEL: func.func @ends(
// PLAN-SAME: graph.arena_bytes = 0 : i64
// PLAN: offsets = array<i64: -1>
func.func @ends(%x: tensor<2x4x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x4x8xf32> {
  %y = graph.group "reshape_matmul_relu_reshape" {
    %r = graph.reshape %x {shape = [8, 8]} : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
    %m = graph.matmul %r, %w {acc = "float32", to = "float32"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %a = graph.relu %m : tensor<8x8xf32>
    %s = graph.reshape %a {shape = [2, 4, 8]} : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
    graph.yield %s : tensor<2x4x8xf32>
  } {ends = ["an output of the model"]} : tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// A group of reshapes alone is none; equal reshapes are one. The first group's result lives until its view is read.
// CHECK-LABEL: func.func @between(
// CHECK: %[[A:.*]] = graph.group "exp"
// CHECK: %[[R:.*]] = graph.reshape %[[A]] {shape = [64]}
// CHECK-NEXT: graph.group "neg"
// CHECK: graph.neg %[[R]]
// CHECK: graph.group "add"
// CHECK: graph.add %[[R]], %
// CHECK-NOT: graph.reshape
// CHECK: return
// PLAN-LABEL: func.func @between(
// PLAN-SAME: graph.arena_bytes = 512 : i64
func.func @between(%x: tensor<8x8xf32>) -> tensor<64xf32> {
  %a = graph.group "exp" {
    %y = graph.exp %x : tensor<8x8xf32>
    graph.yield %y : tensor<8x8xf32>
  } : tensor<8x8xf32>
  %r = graph.group "reshape" {
    %y = graph.reshape %a {shape = [64]} : (tensor<8x8xf32>) -> tensor<64xf32>
    graph.yield %y : tensor<64xf32>
  } : tensor<64xf32>
  %n = graph.group "neg" {
    %y = graph.neg %r : tensor<64xf32>
    graph.yield %y : tensor<64xf32>
  } : tensor<64xf32>
  %s = graph.group "reshape_add" {
    %q = graph.reshape %a {shape = [64]} : (tensor<8x8xf32>) -> tensor<64xf32>
    %y = graph.add %q, %n : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    graph.yield %y : tensor<64xf32>
  } : tensor<64xf32>
  return %s : tensor<64xf32>
}

// Rows of a matrix lie together, columns do not; the third row begins at no multiple of 16 bytes.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4x8xf32>, %[[ODD:[a-z0-9]*]]: tensor<4x3xf32>)
// CHECK: %[[ROW:.*]] = graph.slice %[[X]] {sizes = [1, 8], starts = [2, 0]
// CHECK-NEXT: graph.group "exp"
// CHECK: graph.group "slice_exp"
// CHECK-NEXT: graph.slice %[[X]] {sizes = [4, 4], starts = [0, 4]
// CHECK: graph.group "slice_exp"
// CHECK-NEXT: graph.slice %[[ODD]] {sizes = [1, 3], starts = [2, 0]
func.func @slices(%x: tensor<4x8xf32>, %odd: tensor<4x3xf32>) -> (tensor<1x8xf32>, tensor<4x4xf32>, tensor<1x3xf32>) {
  %a = graph.group "slice_exp" {
    %s = graph.slice %x {sizes = [1, 8], starts = [2, 0], steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %y = graph.exp %s : tensor<1x8xf32>
    graph.yield %y : tensor<1x8xf32>
  } : tensor<1x8xf32>
  %b = graph.group "slice_exp" {
    %s = graph.slice %x {sizes = [4, 4], starts = [0, 4], steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %y = graph.exp %s : tensor<4x4xf32>
    graph.yield %y : tensor<4x4xf32>
  } : tensor<4x4xf32>
  %c = graph.group "slice_exp" {
    %s = graph.slice %odd {sizes = [1, 3], starts = [2, 0], steps = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<1x3xf32>
    %y = graph.exp %s : tensor<1x3xf32>
    graph.yield %y : tensor<1x3xf32>
  } : tensor<1x3xf32>
  return %a, %b, %c : tensor<1x8xf32>, tensor<4x4xf32>, tensor<1x3xf32>
}

// A part of a result that is an output is copied at the end: the result keeps its place until then. What a group reads
// at two places stays in the group.
// CHECK-LABEL: func.func @part(
// CHECK: graph.group "exp"
// CHECK: graph.slice
// CHECK-NEXT: graph.group "reshape_transpose_reshape_add"
// PLAN-LABEL: func.func @part(
// PLAN-SAME: graph.arena_bytes = 256 : i64
// PLAN: offsets = array<i64: 0>
func.func @part(%x: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<64xf32>) {
  %a = graph.group "exp" {
    %y = graph.exp %x : tensor<8x8xf32>
    graph.yield %y : tensor<8x8xf32>
  } : tensor<8x8xf32>
  %s = graph.group "slice" {
    %y = graph.slice %a {sizes = [4, 8], starts = [4, 0], steps = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<4x8xf32>
    graph.yield %y : tensor<4x8xf32>
  } : tensor<4x8xf32>
  %t = graph.group "reshape_transpose_reshape_add" {
    %r = graph.reshape %a {shape = [64]} : (tensor<8x8xf32>) -> tensor<64xf32>
    %p = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %q = graph.reshape %p {shape = [64]} : (tensor<8x8xf32>) -> tensor<64xf32>
    %y = graph.add %r, %q : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    graph.yield %y : tensor<64xf32>
  } : tensor<64xf32>
  return %s, %t : tensor<4x8xf32>, tensor<64xf32>
}

// Attention reads views by itself.
// CHECK-LABEL: func.func @attention(
// CHECK: graph.group "attention_reshape"
// CHECK-NEXT: graph.attention
// CHECK-NEXT: graph.reshape
func.func @attention(%q: tensor<2x5x8xf32>) -> tensor<10x8xf32> {
  %y = graph.group "attention_reshape" {
    %a = graph.attention %q, %q, %q {scale = 5.0e-01 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
    %r = graph.reshape %a {shape = [10, 8]} : (tensor<2x5x8xf32>) -> tensor<10x8xf32>
    graph.yield %r : tensor<10x8xf32>
  } : tensor<10x8xf32>
  return %y : tensor<10x8xf32>
}
