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

// Of the gradients, what moves the head and the result is in the group, but not what moves the logarithms.
// CHECK-LABEL: func.func @gradients
// CHECK: graph.group "transpose" {
// CHECK: ends = ["attention is in a group with moves alone"]
// CHECK: graph.group "transpose_transpose_attention_gradients" {
// CHECK: ends = ["an output of the model", "an output of the model"]
// PLAIN-LABEL: func.func @gradients
// PLAIN: graph.group "attention_gradients" {
func.func @gradients(%x: tensor<4x2x8xf32>, %y: tensor<4x2x8xf32>, %n: tensor<4x2xf32>, %k: tensor<2x6x8xf32>, %q: tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x6x8xf32>) {
  %head = graph.transpose %x {graph.definition = @heads_4, permutation = array<i64: 1, 0, 2>} : (tensor<4x2x8xf32>) -> tensor<2x4x8xf32>
  %result = graph.transpose %y {graph.definition = @heads_4, permutation = array<i64: 1, 0, 2>} : (tensor<4x2x8xf32>) -> tensor<2x4x8xf32>
  %l = graph.transpose %n {graph.definition = @numbers, permutation = array<i64: 1, 0>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %dq, %dk = graph.attention_gradients %head, %q, %k, %k, %result, %l {graph.definition = @of_attention, scale = 0.5 : f64, before = -1 : i64, behind = 0 : i64, offset = 0 : i64, softcap = 0.0 : f64, wanted = array<i64: 0, 1>, deterministic = true} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x4x8xf32>, tensor<2x4xf32>) -> (tensor<2x4x8xf32>, tensor<2x6x8xf32>)
  return %dq, %dk : tensor<2x4x8xf32>, tensor<2x6x8xf32>
}

func.func private @numbers(%x: tensor<4x2xf32>, %o: tensor<2x4xf32> {te.output}) -> tensor<2x4xf32> {
  %y = te.compute "transpose" (%i: 2, %j: 4) {
    %0 = te.read %x[%j, %i] : tensor<4x2xf32>
    te.yield %0 : f32
  } : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Stands for the stages of the gradients.
func.func private @of_attention(%head: tensor<2x4x8xf32>, %q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %r: tensor<2x4x8xf32>, %l: tensor<2x4xf32>, %o: tensor<2x4x8xf32> {te.output}, %p: tensor<2x6x8xf32> {te.output}) -> (tensor<2x4x8xf32>, tensor<2x6x8xf32>) {
  %y = te.compute "dq" (%h: 2, %i: 4, %d: 8) sum (%j: 6) {
    %0 = te.read %head[%h, %i, %d] : tensor<2x4x8xf32>
    te.yield %0 : f32
  } : tensor<2x4x8xf32>
  %z = te.compute "dk" (%h: 2, %i: 6, %d: 8) sum (%j: 4) {
    %0 = te.read %q[%h, %j, %d] : tensor<2x4x8xf32>
    te.yield %0 : f32
  } : tensor<2x6x8xf32>
  return %y, %z : tensor<2x4x8xf32>, tensor<2x6x8xf32>
}

// A mask that a few instructions compute of small weights is in the group, so that it takes no memory.
// CHECK-LABEL: func.func @computed
// CHECK-NOT: graph.group "greater
// CHECK: graph.group "reshape_greater_equal_attention" {
// PLAIN-LABEL: func.func @computed
// PLAIN: graph.group "reshape_greater_equal" {
// PLAIN: graph.group "attention" {
func.func @computed(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x4x8xf32> {
  %rows = graph.weight "rows" : tensor<4xi64>
  %columns = graph.weight "columns" : tensor<6xi64>
  %i = graph.reshape %rows {graph.definition = @column, shape = [4, 1]} : (tensor<4xi64>) -> tensor<4x1xi64>
  %m = graph.greater_equal %i, %columns {graph.definition = @at_least} : (tensor<4x1xi64>, tensor<6xi64>) -> tensor<4x6xi1>
  %a = graph.attention %q, %k, %v, %m {graph.definition = @seen, scale = 0.5 : f64, before = -1 : i64, behind = 0 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<4x6xi1>) -> tensor<2x4x8xf32>
  return %a : tensor<2x4x8xf32>
}

func.func private @column(%x: tensor<4xi64>, %o: tensor<4x1xi64> {te.output}) -> tensor<4x1xi64> {
  %y = te.compute "reshape" (%i: 4, %j: 1) {
    %0 = te.read %x[%i] : tensor<4xi64>
    te.yield %0 : i64
  } : tensor<4x1xi64>
  return %y : tensor<4x1xi64>
}

func.func private @at_least(%x: tensor<4x1xi64>, %z: tensor<6xi64>, %o: tensor<4x6xi1> {te.output}) -> tensor<4x6xi1> {
  %y = te.compute "greater_equal" (%i: 4, %j: 6) {
    %0 = te.read %x[%i, 0] : tensor<4x1xi64>
    %1 = te.read %z[%j] : tensor<6xi64>
    %2 = arith.cmpi sge, %0, %1 : i64
    te.yield %2 : i1
  } : tensor<4x6xi1>
  return %y : tensor<4x6xi1>
}

// Stands for the stages of attention.
func.func private @seen(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>, %m: tensor<4x6xi1>, %o: tensor<2x4x8xf32> {te.output}) -> tensor<2x4x8xf32> {
  %y = te.compute "sum" (%h: 2, %i: 4, %d: 8) sum (%j: 6) {
    %0 = te.read %q[%h, %i, %d] : tensor<2x4x8xf32>
    te.yield %0 : f32
  } : tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
