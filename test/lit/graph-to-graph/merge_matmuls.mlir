// RUN: tilewright-opt %s -merge-matmuls | FileCheck %s

// Weights, and biases, stand one behind the other; each former result is a slice.
// CHECK-LABEL: func.func @heads
// CHECK: %[[W:.*]] = graph.weight "q+k" {graph.joined = ["q", "k"], graph.joined_axis = 0 : i64} : tensor<24x8xbf16>
// CHECK: %[[T:.*]] = graph.transpose %[[W]] {permutation = array<i64: 1, 0>} : (tensor<24x8xbf16>) -> tensor<8x24xbf16>
// CHECK: %[[M:.*]] = graph.matmul %arg0, %[[T]] {acc = "float32", to = "float32"} : (tensor<4x8xbf16>, tensor<8x24xbf16>) -> tensor<4x24xf32>
// CHECK: %[[B:.*]] = graph.weight "bq+bk" {graph.joined = ["bq", "bk"], graph.joined_axis = 0 : i64} : tensor<24xbf16>
// CHECK: %[[C:.*]] = graph.cast %[[B]]
// CHECK: %[[A:.*]] = graph.add %[[M]], %[[C]]
// CHECK: %[[Y:.*]] = graph.cast %[[A]]
// CHECK: %[[Q:.*]] = graph.slice %[[Y]] {sizes = [4, 16], starts = [0, 0], steps = array<i64: 1, 1>} : (tensor<4x24xbf16>) -> tensor<4x16xbf16>
// CHECK: %[[K:.*]] = graph.slice %[[Y]] {sizes = [4, 8], starts = [0, 16], steps = array<i64: 1, 1>} : (tensor<4x24xbf16>) -> tensor<4x8xbf16>
// CHECK-NOT: graph.matmul
func.func @heads(%x: tensor<4x8xbf16>, %v: tensor<1x4x8xbf16>) -> tensor<2x4x8xbf16> {
  %wq = graph.weight "q" : tensor<16x8xbf16>
  %wk = graph.weight "k" : tensor<8x8xbf16>
  %bq = graph.weight "bq" : tensor<16xbf16>
  %bk = graph.weight "bk" : tensor<8xbf16>
  %tq = graph.transpose %wq {permutation = array<i64: 1, 0>} : (tensor<16x8xbf16>) -> tensor<8x16xbf16>
  %mq = graph.matmul %x, %tq {acc = "float32", to = "float32"} : (tensor<4x8xbf16>, tensor<8x16xbf16>) -> tensor<4x16xf32>
  %cq = graph.cast %bq {to = "float32", saturate = true} : (tensor<16xbf16>) -> tensor<16xf32>
  %aq = graph.add %mq, %cq : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %yq = graph.cast %aq {to = "bfloat16", saturate = true} : (tensor<4x16xf32>) -> tensor<4x16xbf16>
  %rq = graph.reshape %yq {shape = [4, 2, 8]} : (tensor<4x16xbf16>) -> tensor<4x2x8xbf16>
  %q = graph.transpose %rq {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x8xbf16>) -> tensor<2x4x8xbf16>
  %tk = graph.transpose %wk {permutation = array<i64: 1, 0>} : (tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %mk = graph.matmul %x, %tk {acc = "float32", to = "float32"} : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xf32>
  %ck = graph.cast %bk {to = "float32", saturate = true} : (tensor<8xbf16>) -> tensor<8xf32>
  %ak = graph.add %mk, %ck : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %yk = graph.cast %ak {to = "bfloat16", saturate = true} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %k = graph.reshape %yk {shape = [1, 4, 8]} : (tensor<4x8xbf16>) -> tensor<1x4x8xbf16>
  %y = graph.attention %q, %k, %v {scale = 0.5 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<2x4x8xbf16>, tensor<1x4x8xbf16>, tensor<1x4x8xbf16>) -> tensor<2x4x8xbf16>
  return %y : tensor<2x4x8xbf16>
}

// What is read by something else stays, and so does a matmul that has a bias alone.
// CHECK-LABEL: func.func @stay
// CHECK: graph.matmul {{.*}} -> tensor<4x8xf32>
// CHECK: graph.matmul {{.*}} -> tensor<4x8xf32>
// CHECK: graph.matmul {{.*}} -> tensor<4x8xf32>
func.func @stay(%x: tensor<4x8xf32>) -> (tensor<1x4x8xf32>, tensor<4x8xf32>) {
  %wq = graph.weight "q" : tensor<8x8xf32>
  %wk = graph.weight "k" : tensor<8x8xf32>
  %wv = graph.weight "v" : tensor<8x8xf32>
  %bk = graph.weight "bk" : tensor<8xf32>
  %mq = graph.matmul %x, %wq {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %q = graph.reshape %mq {shape = [1, 4, 8]} : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
  %mk = graph.matmul %x, %wk {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %ak = graph.add %mk, %bk : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %k = graph.reshape %ak {shape = [1, 4, 8]} : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
  %mv = graph.matmul %x, %wv {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %v = graph.reshape %mv {shape = [1, 4, 8]} : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
  %y = graph.attention %q, %k, %v {scale = 0.5 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return %y, %mv : tensor<1x4x8xf32>, tensor<4x8xf32>
}

// Weights that are integers: the scales of columns are joined, too. One scale for all of a weight is none for two.
// CHECK-LABEL: func.func @integers
// CHECK: %[[W:.*]] = graph.weight "q+k" {graph.joined = ["q", "k"], graph.joined_axis = 0 : i64} : tensor<24x8xi8>
// CHECK: %[[S:.*]] = graph.weight "sq+sk" {graph.joined = ["sq", "sk"], graph.joined_axis = 0 : i64} : tensor<24xf32>
// CHECK: %[[D:.*]] = graph.dequantize %[[W]], %[[S]], %{{.*}} {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<24x8xi8>, tensor<24xf32>, tensor<i8>) -> tensor<24x8xf32>
// CHECK: %[[T:.*]] = graph.transpose %[[D]] {permutation = array<i64: 1, 0>}
// CHECK: graph.matmul %arg0, %[[T]] {{.*}} -> tensor<4x24xf32>
// CHECK: graph.matmul {{.*}} -> tensor<4x8xf32>
// CHECK-NOT: graph.matmul
func.func @integers(%x: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = graph.constant dense<0> : tensor<i8>
  %wq = graph.weight "q" : tensor<16x8xi8>
  %wk = graph.weight "k" : tensor<8x8xi8>
  %wv = graph.weight "v" : tensor<8x8xi8>
  %sq = graph.weight "sq" : tensor<16xf32>
  %sk = graph.weight "sk" : tensor<8xf32>
  %sv = graph.constant dense<0.5> : tensor<f32>
  %dq = graph.dequantize %wq, %sq, %zero {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<16x8xi8>, tensor<16xf32>, tensor<i8>) -> tensor<16x8xf32>
  %dk = graph.dequantize %wk, %sk, %zero {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<8x8xi8>, tensor<8xf32>, tensor<i8>) -> tensor<8x8xf32>
  %dv = graph.dequantize %wv, %sv, %zero {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<8x8xi8>, tensor<f32>, tensor<i8>) -> tensor<8x8xf32>
  %tq = graph.transpose %dq {permutation = array<i64: 1, 0>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %tk = graph.transpose %dk {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %tv = graph.transpose %dv {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %mq = graph.matmul %x, %tq {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %mk = graph.matmul %x, %tk {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %mv = graph.matmul %x, %tv {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %rq = graph.reshape %mq {shape = [4, 2, 8]} : (tensor<4x16xf32>) -> tensor<4x2x8xf32>
  %q = graph.transpose %rq {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x8xf32>) -> tensor<2x4x8xf32>
  %k = graph.reshape %mk {shape = [1, 4, 8]} : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
  %v = graph.reshape %mv {shape = [1, 4, 8]} : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
  %y = graph.attention %q, %k, %v {scale = 0.5 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<2x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
