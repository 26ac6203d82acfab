// RUN: tilewright-opt %s -fold-weights | FileCheck %s
// RUN: tilewright-opt %s -fold-weights=transposes=true | FileCheck %s --check-prefix=PROCESSOR

// CHECK-LABEL: func.func @norm
// CHECK-NEXT: %[[R:.*]] = graph.weight "folded.0" {graph.folded = @graph.weights::@folded.0} : tensor<8xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.mul %arg0, %[[R]]
// CHECK-NEXT: return %[[Y]]
func.func @norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = graph.weight "variance" : tensor<8xf32>
  %r = graph.rsqrt %w : tensor<8xf32>
  %y = graph.mul %x, %r : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Moves and conversions are no computation, and what is dequantised stays integers.
// CHECK-LABEL: func.func @stay
// CHECK: graph.transpose
// CHECK: graph.cast
// CHECK: graph.dequantize
func.func @stay(%x: tensor<4x8xf32>, %v: tensor<8x4xf32>, %d: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>, tensor<8xf32>) {
  %w = graph.weight "w" : tensor<4x8xbf16>
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
  %c = graph.cast %t {to = "float32", saturate = true} : (tensor<8x4xbf16>) -> tensor<8x4xf32>
  %a = graph.add %v, %c : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %q = graph.weight "q" : tensor<8xi8>
  %s = graph.weight "s" : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %f = graph.dequantize %q, %s, %z {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<8xi8>, tensor<f32>, tensor<i8>) -> tensor<8xf32>
  %b = graph.add %d, %f : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %x, %a, %b : tensor<4x8xf32>, tensor<8x4xf32>, tensor<8xf32>
}

// A large result of few elements would take more memory.
// CHECK-LABEL: func.func @large
// CHECK: graph.mul
// CHECK: graph.mul
func.func @large(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %a = graph.weight "a" : tensor<256x1xf32>
  %b = graph.weight "b" : tensor<256xf32>
  %p = graph.mul %a, %b : (tensor<256x1xf32>, tensor<256xf32>) -> tensor<256x256xf32>
  %y = graph.mul %x, %p : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}

// Filters that nothing else reads may have another shape; a matrix that is only transposed stays, and so does what has
// another user.
// CHECK-LABEL: func.func @filters
// CHECK: %[[F:.*]] = graph.weight "folded.1" {graph.folded = @graph.weights::@folded.1} : tensor<36x16xbf16>
// CHECK: graph.reshape
// CHECK: return %[[F]]
func.func @filters() -> (tensor<36x16xbf16>, tensor<4x16xbf16>, tensor<4x4x4xbf16>) {
  %w = graph.weight "filters" : tensor<16x4x3x3xbf16>
  %t = graph.transpose %w {permutation = array<i64: 0, 2, 3, 1>} : (tensor<16x4x3x3xbf16>) -> tensor<16x3x3x4xbf16>
  %r = graph.reshape %t {shape = [16, 36]} : (tensor<16x3x3x4xbf16>) -> tensor<16x36xbf16>
  %f = graph.transpose %r {permutation = array<i64: 1, 0>} : (tensor<16x36xbf16>) -> tensor<36x16xbf16>
  %v = graph.weight "twice" : tensor<4x4x4xbf16>
  %s = graph.reshape %v {shape = [4, 16]} : (tensor<4x4x4xbf16>) -> tensor<4x16xbf16>
  return %f, %s, %v : tensor<36x16xbf16>, tensor<4x16xbf16>, tensor<4x4x4xbf16>
}

// Filters of 8 bits are not transposed for tensor cores, which read them along K.
// CHECK-LABEL: func.func @bytes
// CHECK: %[[B:.*]] = graph.weight "folded.2" {graph.folded = @graph.weights::@folded.2} : tensor<16x36xi8>
// CHECK: %[[T:.*]] = graph.transpose %[[B]] {permutation = array<i64: 1, 0>}
// CHECK: return %[[T]]
// PROCESSOR-LABEL: func.func @bytes
// PROCESSOR-NEXT: %[[B:.*]] = graph.weight "folded.2" {{{.*}}} : tensor<36x16xi8>
// PROCESSOR-NEXT: return %[[B]]
func.func @bytes() -> tensor<36x16xi8> {
  %w = graph.weight "bytes" : tensor<16x4x3x3xi8>
  %t = graph.transpose %w {permutation = array<i64: 0, 2, 3, 1>} : (tensor<16x4x3x3xi8>) -> tensor<16x3x3x4xi8>
  %r = graph.reshape %t {shape = [16, 36]} : (tensor<16x3x3x4xi8>) -> tensor<16x36xi8>
  %f = graph.transpose %r {permutation = array<i64: 1, 0>} : (tensor<16x36xi8>) -> tensor<36x16xi8>
  return %f : tensor<36x16xi8>
}

// On a processor the columns of a matrix lie together: what eight rows, or several operators, are multiplied by. Four rows
// are as fast with either order, and of what is read twice there are no two.
// CHECK-LABEL: func.func @matrices
// CHECK-NOT: folded
// PROCESSOR-LABEL: func.func @matrices
// PROCESSOR-NEXT: %[[A:.*]] = graph.weight "folded.{{[0-9]}}" {{{.*}}} : tensor<16x32xf32>
// PROCESSOR-NEXT: graph.matmul %arg0, %[[A]]
// PROCESSOR-NEXT: graph.weight "few"
// PROCESSOR-NEXT: graph.transpose
// PROCESSOR: %[[T:.*]] = graph.weight "folded.{{[0-9]}}" {{{.*}}} : tensor<16x8xf32>
// PROCESSOR-NEXT: graph.matmul %arg1, %[[T]]
// PROCESSOR-NEXT: graph.matmul %arg1, %[[T]]
// PROCESSOR-NEXT: graph.weight "words"
// PROCESSOR-NEXT: graph.transpose
func.func @matrices(%x: tensor<8x16xf32>, %z: tensor<4x16xf32>) -> (tensor<8x32xf32>, tensor<4x32xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x64xf32>, tensor<64x16xf32>) {
  %w = graph.weight "many" : tensor<32x16xf32>
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<32x16xf32>) -> tensor<16x32xf32>
  %a = graph.matmul %x, %t {acc = "float32", to = "float32"} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %v = graph.weight "few" : tensor<32x16xf32>
  %u = graph.transpose %v {permutation = array<i64: 1, 0>} : (tensor<32x16xf32>) -> tensor<16x32xf32>
  %b = graph.matmul %z, %u {acc = "float32", to = "float32"} : (tensor<4x16xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
  %s = graph.weight "steps" : tensor<8x16xf32>
  %r = graph.transpose %s {permutation = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %c = graph.matmul %z, %r {acc = "float32", to = "float32"} : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %d = graph.matmul %z, %r {acc = "float32", to = "float32"} : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %e = graph.weight "words" : tensor<64x16xf32>
  %f = graph.transpose %e {permutation = array<i64: 1, 0>} : (tensor<64x16xf32>) -> tensor<16x64xf32>
  %g = graph.matmul %x, %f {acc = "float32", to = "float32"} : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  return %a, %b, %c, %d, %g, %e : tensor<8x32xf32>, tensor<4x32xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x64xf32>, tensor<64x16xf32>
}

// A batch norm of what was 16-bit floats has one factor and one summand.
// CHECK-LABEL: func.func @batch_norm
// CHECK-NEXT: %[[X:.*]] = graph.cast %arg0
// CHECK-NEXT: %[[F:.*]] = graph.weight "folded.{{[0-9]+}}" {{.*}} : tensor<1x8xf32>
// CHECK-NEXT: %[[S:.*]] = graph.weight "folded.{{[0-9]+}}" {{.*}} : tensor<1x8xf32>
// CHECK-NEXT: %[[P:.*]] = graph.mul %[[X]], %[[F]] : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.add %[[P]], %[[S]] : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @batch_norm(%x: tensor<4x8xbf16>) -> tensor<4x8xf32> {
  %m = graph.weight "mean" : tensor<1x8xf32>
  %s = graph.weight "rate" : tensor<1x8xf32>
  %g = graph.weight "gamma" : tensor<1x8xf32>
  %b = graph.weight "beta" : tensor<1x8xf32>
  %c = graph.cast %x {to = "float32", saturate = true} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %d = graph.sub %c, %m : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %e = graph.mul %d, %s : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %f = graph.mul %e, %g : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %y = graph.add %f, %b : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// What was float32 keeps the order in which it is rounded.
// CHECK-LABEL: func.func @norm_of_floats
// CHECK: graph.sub %arg0
// CHECK: graph.mul
// CHECK: graph.add
func.func @norm_of_floats(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = graph.weight "mean" : tensor<1x8xf32>
  %s = graph.weight "rate" : tensor<1x8xf32>
  %b = graph.weight "beta" : tensor<1x8xf32>
  %d = graph.sub %x, %m : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %e = graph.mul %d, %s : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %y = graph.add %e, %b : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Filters of a matmul in tf32 are not transposed, either.
// CHECK-LABEL: func.func @tf32
// CHECK-NEXT: %[[B:.*]] = graph.weight "folded.{{[0-9]+}}" {{{.*}}} : tensor<16x36xf32>
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[B]] {permutation = array<i64: 1, 0>}
// CHECK-NEXT: graph.matmul %arg0, %[[T]]
func.func @tf32(%x: tensor<8x36xf32>) -> tensor<8x16xf32> {
  %w = graph.weight "floats" : tensor<16x4x3x3xf32>
  %t = graph.transpose %w {permutation = array<i64: 0, 2, 3, 1>} : (tensor<16x4x3x3xf32>) -> tensor<16x3x3x4xf32>
  %r = graph.reshape %t {shape = [16, 36]} : (tensor<16x3x3x4xf32>) -> tensor<16x36xf32>
  %f = graph.transpose %r {permutation = array<i64: 1, 0>} : (tensor<16x36xf32>) -> tensor<36x16xf32>
  %y = graph.matmul %x, %f {acc = "tf32", to = "float32"} : (tensor<8x36xf32>, tensor<36x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// CHECK: module @graph.weights
// CHECK-NEXT: func.func @folded.0() -> tensor<8xf32> {
// CHECK-NEXT: %[[W:.*]] = graph.weight "variance" : tensor<8xf32>
// CHECK-NEXT: %[[S:.*]] = graph.rsqrt %[[W]]
// CHECK-NEXT: return %[[S]]
