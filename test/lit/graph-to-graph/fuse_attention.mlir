// RUN: tilewright-opt %s '-fuse-operators=strided-attention=true' | FileCheck %s
// RUN: tilewright-opt %s -fuse-operators | FileCheck %s --check-prefix=PLAIN

// What moves the operands and the result is in the group, but for the mask.
// CHECK-LABEL: func.func @moved
// CHECK: graph.group "exp" {
// CHECK: graph.group "transpose_transpose_attention_transpose" {
// CHECK-NEXT: graph.transpose %arg0
// CHECK-NEXT: graph.transpose %arg1
// CHECK-NEXT: graph.attention
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: graph.yield
// CHECK-NEXT: ends = ["attention is in a group with moves alone"]
// CHECK: graph.group "relu" {
// PLAIN-LABEL: func.func @moved
// PLAIN: graph.group "transpose" {
// PLAIN: graph.group "transpose" {
// PLAIN: graph.group "attention" {
// PLAIN: ends = ["attention is a group of its own"]
func.func @moved(%x: tensor<4x2x8xf32>, %y: tensor<6x2x8xf32>, %v: tensor<2x6x8xf32>, %m: tensor<4x6xf32>) -> tensor<4x2x8xf32> {
  %q = graph.transpose %x {graph.definition = @heads_4, permutation = array<i64: 1, 0, 2>} : (tensor<4x2x8xf32>) -> tensor<2x4x8xf32>
  %k = graph.transpose %y {graph.definition = @heads_6, permutation = array<i64: 1, 0, 2>} : (tensor<6x2x8xf32>) -> tensor<2x6x8xf32>
  %e = graph.exp %m {graph.definition = @exp} : tensor<4x6xf32>
  %a = graph.attention %q, %k, %v, %e {graph.definition = @attention, scale = 0.5 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<4x6xf32>) -> tensor<2x4x8xf32>
  %t = graph.transpose %a {graph.definition = @rows, permutation = array<i64: 1, 0, 2>} : (tensor<2x4x8xf32>) -> tensor<4x2x8xf32>
  %r = graph.relu %t {graph.definition = @relu} : tensor<4x2x8xf32>
  return %r : tensor<4x2x8xf32>
}

func.func private @heads_4(%x: tensor<4x2x8xf32>, %o: tensor<2x4x8xf32> {te.output}) -> tensor<2x4x8xf32> {
  %y = te.compute "transpose" (%i: 2, %j: 4, %k: 8) {
    %0 = te.read %x[%j, %i, %k] : tensor<4x2x8xf32>
    te.yield %0 : f32
  } : tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

func.func private @heads_6(%x: tensor<6x2x8xf32>, %o: tensor<2x6x8xf32> {te.output}) -> tensor<2x6x8xf32> {
  %y = te.compute "transpose" (%i: 2, %j: 6, %k: 8) {
    %0 = te.read %x[%j, %i, %k] : tensor<6x2x8xf32>
    te.yield %0 : f32
  } : tensor<2x6x8xf32>
  return %y : tensor<2x6x8xf32>
}

func.func private @rows(%x: tensor<2x4x8xf32>, %o: tensor<4x2x8xf32> {te.output}) -> tensor<4x2x8xf32> {
  %y = te.compute "transpose" (%i: 4, %j: 2, %k: 8) {
    %0 = te.read %x[%j, %i, %k] : tensor<2x4x8xf32>
    te.yield %0 : f32
  } : tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}

func.func private @exp(%x: tensor<4x6xf32>, %o: tensor<4x6xf32> {te.output}) -> tensor<4x6xf32> {
  %y = te.compute "exp" (%i: 4, %j: 6) {
    %0 = te.read %x[%i, %j] : tensor<4x6xf32>
    %1 = math.exp %0 : f32
    te.yield %1 : f32
  } : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

func.func private @relu(%x: tensor<4x2x8xf32>, %o: tensor<4x2x8xf32> {te.output}) -> tensor<4x2x8xf32> {
  %y = te.compute "relu" (%i: 4, %j: 2, %k: 8) {
    %0 = te.read %x[%i, %j, %k] : tensor<4x2x8xf32>
    %1 = arith.negf %0 : f32
    te.yield %1 : f32
  } : tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}

// Stands for the stages of attention.
func.func private @attention(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %m: tensor<4x6xf32>, %o: tensor<2x4x8xf32> {te.output}) -> tensor<2x4x8xf32> {
  %y = te.compute "sum" (%h: 2, %i: 4, %d: 8) sum (%j: 6) {
    %0 = te.read %q[%h, %i, %d] : tensor<2x4x8xf32>
    te.yield %0 : f32
  } : tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
