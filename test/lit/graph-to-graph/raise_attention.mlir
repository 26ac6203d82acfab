// RUN: tilewright-opt %s -raise-attention | FileCheck %s

// Keys that were transposed before are read as they are. Factors and a mask are the operator's.
// CHECK-LABEL: func.func @masked
// CHECK-NEXT: %[[Y:.*]] = graph.attention %arg0, %arg1, %arg2, %arg3 {before = -1 : i64, behind = -1 : i64, offset = 0 : i64, scale = 5.000000e-01 : f64, softcap = 0.000000e+00 : f64} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>, tensor<5x7xf32>) -> tensor<2x5x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @masked(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x8xf32>, %mask: tensor<5x7xf32>) -> tensor<2x5x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %t = graph.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x7x8xf32>) -> tensor<2x8x7xf32>
  %s = graph.matmul %q, %t {acc = "float32", to = "float32"} : (tensor<2x5x8xf32>, tensor<2x8x7xf32>) -> tensor<2x5x7xf32>
  %f = graph.mul %half, %s : (tensor<f32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %m = graph.add %mask, %f : (tensor<5x7xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %p = graph.softmax %m {axis = 2 : i64} : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %y = graph.matmul %p, %v {acc = "float32", to = "float32"} : (tensor<2x5x7xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// A transpose that swaps more becomes one that swaps less; a symbolic extent keeps its name.
// CHECK-LABEL: func.func @symbolic
// CHECK: %[[K:.*]] = graph.transpose %arg1 {permutation = array<i64: 1, 0, 2>} : (tensor<?x2x8xf32, #graph.extents<"n", "", "">>) -> tensor<2x?x8xf32, #graph.extents<"", "n", "">>
// CHECK: graph.attention %arg0, %[[K]], %arg2 {{.*}}scale = 2.500000e-01
func.func @symbolic(%q: tensor<2x5x8xf32>, %k: tensor<?x2x8xf32, #graph.extents<"n", "", "">>, %v: tensor<2x?x8xf32, #graph.extents<"", "n", "">>) -> tensor<2x5x8xf32> {
  %four = graph.constant dense<4.0> : tensor<f32>
  %t = graph.transpose %k {permutation = array<i64: 1, 2, 0>} : (tensor<?x2x8xf32, #graph.extents<"n", "", "">>) -> tensor<2x8x?xf32, #graph.extents<"", "", "n">>
  %s = graph.matmul %q, %t {acc = "float32", to = "float32"} : (tensor<2x5x8xf32>, tensor<2x8x?xf32, #graph.extents<"", "", "n">>) -> tensor<2x5x?xf32, #graph.extents<"", "", "n">>
  %f = graph.div %s, %four : (tensor<2x5x?xf32, #graph.extents<"", "", "n">>, tensor<f32>) -> tensor<2x5x?xf32, #graph.extents<"", "", "n">>
  %p = graph.softmax %f {axis = 2 : i64} : (tensor<2x5x?xf32, #graph.extents<"", "", "n">>) -> tensor<2x5x?xf32, #graph.extents<"", "", "n">>
  %y = graph.matmul %p, %v {acc = "float32", to = "float32"} : (tensor<2x5x?xf32, #graph.extents<"", "", "n">>, tensor<2x?x8xf32, #graph.extents<"", "n", "">>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// What else is read stays: here the weights of the softmax, and a factor that comes after the mask.
// CHECK-LABEL: func.func @read_twice
// CHECK-NOT: graph.attention
func.func @read_twice(%q: tensor<2x5x8xf32>, %t: tensor<2x8x7xf32>, %v: tensor<2x7x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x7xf32>) {
  %s = graph.matmul %q, %t {acc = "float32", to = "float32"} : (tensor<2x5x8xf32>, tensor<2x8x7xf32>) -> tensor<2x5x7xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %y = graph.matmul %p, %v {acc = "float32", to = "float32"} : (tensor<2x5x7xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %y, %p : tensor<2x5x8xf32>, tensor<2x5x7xf32>
}

// CHECK-LABEL: func.func @factor_after_mask
// CHECK-NOT: graph.attention
func.func @factor_after_mask(%q: tensor<2x5x8xf32>, %t: tensor<2x8x7xf32>, %v: tensor<2x7x8xf32>, %mask: tensor<5x7xf32>) -> tensor<2x5x8xf32> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %s = graph.matmul %q, %t {acc = "float32", to = "float32"} : (tensor<2x5x8xf32>, tensor<2x8x7xf32>) -> tensor<2x5x7xf32>
  %m = graph.add %s, %mask : (tensor<2x5x7xf32>, tensor<5x7xf32>) -> tensor<2x5x7xf32>
  %f = graph.mul %m, %half : (tensor<2x5x7xf32>, tensor<f32>) -> tensor<2x5x7xf32>
  %p = graph.softmax %f {axis = 2 : i64} : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %y = graph.matmul %p, %v {acc = "float32", to = "float32"} : (tensor<2x5x7xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @along_rows
// CHECK-NOT: graph.attention
func.func @along_rows(%q: tensor<2x5x8xf32>, %t: tensor<2x8x7xf32>, %v: tensor<2x7x8xf32>) -> tensor<2x5x8xf32> {
  %s = graph.matmul %q, %t {acc = "float32", to = "float32"} : (tensor<2x5x8xf32>, tensor<2x8x7xf32>) -> tensor<2x5x7xf32>
  %p = graph.softmax %s {axis = 1 : i64} : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %y = graph.matmul %p, %v {acc = "float32", to = "float32"} : (tensor<2x5x7xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// A mask of 0 and -inf that is made of bools becomes the bools, also through what moves or casts its elements.
// CHECK-LABEL: func.func @bools
// CHECK-NEXT: %[[Y:.*]] = graph.attention %arg0, %arg1, %arg2, %arg3 {before = -1 : i64, {{.*}}tensor<5x7xi1>) -> tensor<2x5x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @bools(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x8xf32>, %seen: tensor<5x7xi1>) -> tensor<2x5x8xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %infinity = graph.constant dense<0xFF800000> : tensor<f32>
  %m = graph.where %seen, %zero, %infinity : (tensor<5x7xi1>, tensor<f32>, tensor<f32>) -> tensor<5x7xf32>
  %y = graph.attention %q, %k, %v, %m {scale = 5.0e-01 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>, tensor<5x7xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @moved_bools
// CHECK: %[[N:.*]] = graph.not %arg3 : tensor<7xi1>
// CHECK: %[[R:.*]] = graph.reshape %[[N]] {shape = [1, 7]} : (tensor<7xi1>) -> tensor<1x7xi1>
// CHECK: %[[E:.*]] = graph.expand %[[R]] {shape = [5, 7]} : (tensor<1x7xi1>) -> tensor<5x7xi1>
// CHECK: graph.attention %arg0, %arg1, %arg2, %[[E]] {{.*}}tensor<5x7xi1>) -> tensor<2x5x8xf16>
func.func @moved_bools(%q: tensor<2x5x8xf16>, %k: tensor<2x7x8xf16>, %v: tensor<2x7x8xf16>, %unseen: tensor<7xi1>) -> tensor<2x5x8xf16> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %infinity = graph.constant dense<0xFF800000> : tensor<f32>
  %m = graph.where %unseen, %infinity, %zero : (tensor<7xi1>, tensor<f32>, tensor<f32>) -> tensor<7xf32>
  %r = graph.reshape %m {shape = [1, 7]} : (tensor<7xf32>) -> tensor<1x7xf32>
  %c = graph.cast %r {saturate = false, to = "float16"} : (tensor<1x7xf32>) -> tensor<1x7xf16>
  %e = graph.expand %c {shape = [5, 7]} : (tensor<1x7xf16>) -> tensor<5x7xf16>
  %y = graph.attention %q, %k, %v, %e {scale = 5.0e-01 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<2x5x8xf16>, tensor<2x7x8xf16>, tensor<2x7x8xf16>, tensor<5x7xf16>) -> tensor<2x5x8xf16>
  return %y : tensor<2x5x8xf16>
}

// Other numbers than 0 and -inf are added as they are.
// CHECK-LABEL: func.func @large_numbers
// CHECK: %[[M:.*]] = graph.where
// CHECK: graph.attention %arg0, %arg1, %arg2, %[[M]]
func.func @large_numbers(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x8xf32>, %seen: tensor<5x7xi1>) -> tensor<2x5x8xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %low = graph.constant dense<-1.0e+04> : tensor<f32>
  %m = graph.where %seen, %zero, %low : (tensor<5x7xi1>, tensor<f32>, tensor<f32>) -> tensor<5x7xf32>
  %y = graph.attention %q, %k, %v, %m {scale = 5.0e-01 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>, tensor<5x7xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// The matmuls of float32 may be multiplied in tf32, so those of attention may.
// CHECK-LABEL: func.func @tf32
// CHECK: graph.attention %arg0, %arg1, %arg2 {acc = "tf32", before = -1 : i64, behind = -1 : i64, offset = 0 : i64, scale = 1.000000e+00 : f64, softcap = 0.000000e+00 : f64}
func.func @tf32(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x8xf32>) -> tensor<2x5x8xf32> {
  %t = graph.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x7x8xf32>) -> tensor<2x8x7xf32>
  %s = graph.matmul %q, %t {acc = "tf32", to = "float32"} : (tensor<2x5x8xf32>, tensor<2x8x7xf32>) -> tensor<2x5x7xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %y = graph.matmul %p, %v {acc = "tf32", to = "float32"} : (tensor<2x5x7xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// Between the matmuls the matrices may be counted in another way, and rounded. What hides scores is a mask, too.
// CHECK-LABEL: func.func @by_heads
// CHECK-NEXT: %[[SEEN:.*]] = graph.not %arg3 : tensor<5x7xi1>
// CHECK-NEXT: %[[Y:.*]] = graph.attention %arg0, %arg1, %arg2, %[[SEEN]] {{.*}}scale = 1.250000e-01{{.*}} : (tensor<2x3x5x8xbf16>, tensor<2x3x7x8xbf16>, tensor<2x3x7x8xbf16>, tensor<5x7xi1>) -> tensor<2x3x5x8xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @by_heads(%q: tensor<2x3x5x8xbf16>, %k: tensor<2x3x7x8xbf16>, %v: tensor<2x3x7x8xbf16>, %hidden: tensor<5x7xi1>) -> tensor<2x3x5x8xbf16> {
  %eighth = graph.constant dense<0.125> : tensor<f32>
  %infinity = graph.constant dense<0xFF80> : tensor<bf16>
  %t = graph.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x3x7x8xbf16>) -> tensor<2x3x8x7xbf16>
  %a = graph.reshape %q {shape = [6, 5, 8]} : (tensor<2x3x5x8xbf16>) -> tensor<6x5x8xbf16>
  %b = graph.reshape %t {shape = [6, 8, 7]} : (tensor<2x3x8x7xbf16>) -> tensor<6x8x7xbf16>
  %s = graph.matmul %a, %b {acc = "float32", to = "bfloat16"} : (tensor<6x5x8xbf16>, tensor<6x8x7xbf16>) -> tensor<6x5x7xbf16>
  %h = graph.reshape %s {shape = [2, 3, 5, 7]} : (tensor<6x5x7xbf16>) -> tensor<2x3x5x7xbf16>
  %c = graph.cast %h {saturate = true, to = "float32"} : (tensor<2x3x5x7xbf16>) -> tensor<2x3x5x7xf32>
  %f = graph.mul %c, %eighth : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  %d = graph.cast %f {saturate = true, to = "bfloat16"} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xbf16>
  %e = graph.expand %hidden {shape = [2, 3, 5, 7]} : (tensor<5x7xi1>) -> tensor<2x3x5x7xi1>
  %m = graph.where %e, %infinity, %d : (tensor<2x3x5x7xi1>, tensor<bf16>, tensor<2x3x5x7xbf16>) -> tensor<2x3x5x7xbf16>
  %w = graph.cast %m {saturate = true, to = "float32"} : (tensor<2x3x5x7xbf16>) -> tensor<2x3x5x7xf32>
  %p = graph.softmax %w {axis = 3 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %n = graph.cast %p {saturate = true, to = "bfloat16"} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xbf16>
  %r = graph.reshape %n {shape = [6, 5, 7]} : (tensor<2x3x5x7xbf16>) -> tensor<6x5x7xbf16>
  %u = graph.reshape %v {shape = [6, 7, 8]} : (tensor<2x3x7x8xbf16>) -> tensor<6x7x8xbf16>
  %y = graph.matmul %r, %u {acc = "float32", to = "bfloat16"} : (tensor<6x5x7xbf16>, tensor<6x7x8xbf16>) -> tensor<6x5x8xbf16>
  %z = graph.reshape %y {shape = [2, 3, 5, 8]} : (tensor<6x5x8xbf16>) -> tensor<2x3x5x8xbf16>
  return %z : tensor<2x3x5x8xbf16>
}

// Masks at places where the matrices are counted differently: a bias of each head, and windows that hide some elements.
// A number that hides is added, as the others are.
// CHECK-LABEL: func.func @windows
// CHECK-DAG: %[[Q:.*]] = graph.reshape %arg0 {shape = [2, 2, 3, 5, 8]}
// CHECK-DAG: %[[K:.*]] = graph.reshape %arg1 {shape = [2, 2, 3, 8, 7]}
// CHECK-DAG: %[[V:.*]] = graph.reshape %arg2 {shape = [2, 2, 3, 7, 8]}
// CHECK-DAG: %[[HIDES:.*]] = graph.where %arg4, %{{.*}}, %{{.*}} : (tensor<2x1x5x7xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1x5x7xf32>
// CHECK: %[[MASK:.*]] = graph.add %[[HIDES]], %arg3 : (tensor<2x1x5x7xf32>, tensor<3x5x7xf32>) -> tensor<2x3x5x7xf32>
// CHECK: %[[Y:.*]] = graph.attention %[[Q]], %{{.*}}, %[[V]], %[[MASK]]
// CHECK: graph.reshape %[[Y]] {shape = [4, 3, 5, 8]} : (tensor<2x2x3x5x8xf32>) -> tensor<4x3x5x8xf32>
func.func @windows(%q: tensor<4x3x5x8xf32>, %t: tensor<4x3x8x7xf32>, %v: tensor<4x3x7x8xf32>, %bias: tensor<3x5x7xf32>, %hidden: tensor<2x1x5x7xi1>) -> tensor<4x3x5x8xf32> {
  %low = graph.constant dense<-1.0e+09> : tensor<f32>
  %s = graph.matmul %q, %t {acc = "float32", to = "float32"} : (tensor<4x3x5x8xf32>, tensor<4x3x8x7xf32>) -> tensor<4x3x5x7xf32>
  %b = graph.add %s, %bias : (tensor<4x3x5x7xf32>, tensor<3x5x7xf32>) -> tensor<4x3x5x7xf32>
  %h = graph.reshape %b {shape = [2, 2, 3, 5, 7]} : (tensor<4x3x5x7xf32>) -> tensor<2x2x3x5x7xf32>
  %m = graph.where %hidden, %low, %h : (tensor<2x1x5x7xi1>, tensor<f32>, tensor<2x2x3x5x7xf32>) -> tensor<2x2x3x5x7xf32>
  %r = graph.reshape %m {shape = [4, 3, 5, 7]} : (tensor<2x2x3x5x7xf32>) -> tensor<4x3x5x7xf32>
  %p = graph.softmax %r {axis = 3 : i64} : (tensor<4x3x5x7xf32>) -> tensor<4x3x5x7xf32>
  %y = graph.matmul %p, %v {acc = "float32", to = "float32"} : (tensor<4x3x5x7xf32>, tensor<4x3x7x8xf32>) -> tensor<4x3x5x8xf32>
  return %y : tensor<4x3x5x8xf32>
}

// A factor behind a number that hides changes the number: that stays, as what hides no score does.
// CHECK-LABEL: func.func @factor_after_choice
// CHECK-NOT: graph.attention
func.func @factor_after_choice(%q: tensor<2x5x8xf32>, %t: tensor<2x8x7xf32>, %v: tensor<2x7x8xf32>, %hidden: tensor<5x7xi1>) -> tensor<2x5x8xf32> {
  %low = graph.constant dense<-1.0e+09> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %s = graph.matmul %q, %t {acc = "float32", to = "float32"} : (tensor<2x5x8xf32>, tensor<2x8x7xf32>) -> tensor<2x5x7xf32>
  %m = graph.where %hidden, %low, %s : (tensor<5x7xi1>, tensor<f32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %f = graph.mul %m, %half : (tensor<2x5x7xf32>, tensor<f32>) -> tensor<2x5x7xf32>
  %p = graph.softmax %f {axis = 2 : i64} : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %y = graph.matmul %p, %v {acc = "float32", to = "float32"} : (tensor<2x5x7xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @small_number
// CHECK-NOT: graph.attention
func.func @small_number(%q: tensor<2x5x8xf32>, %t: tensor<2x8x7xf32>, %v: tensor<2x7x8xf32>, %hidden: tensor<5x7xi1>) -> tensor<2x5x8xf32> {
  %low = graph.constant dense<-1.0e+04> : tensor<f32>
  %s = graph.matmul %q, %t {acc = "float32", to = "float32"} : (tensor<2x5x8xf32>, tensor<2x8x7xf32>) -> tensor<2x5x7xf32>
  %m = graph.where %hidden, %low, %s : (tensor<5x7xi1>, tensor<f32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %p = graph.softmax %m {axis = 2 : i64} : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %y = graph.matmul %p, %v {acc = "float32", to = "float32"} : (tensor<2x5x7xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// Keys and values that each have several times are read once.
// CHECK-LABEL: func.func @fewer_heads
// CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 {{.*}} : (tensor<2x6x5x8xbf16>, tensor<2x3x7x8xbf16>, tensor<2x3x7x8xbf16>) -> tensor<2x6x5x8xbf16>
func.func @fewer_heads(%q: tensor<2x6x5x8xbf16>, %k: tensor<2x3x7x8xbf16>, %v: tensor<2x3x7x8xbf16>) -> tensor<2x6x5x8xbf16> {
  %0 = graph.reshape %k {shape = [2, 3, 1, 7, 8]} : (tensor<2x3x7x8xbf16>) -> tensor<2x3x1x7x8xbf16>
  %1 = graph.expand %0 {shape = [2, 3, 2, 7, 8]} : (tensor<2x3x1x7x8xbf16>) -> tensor<2x3x2x7x8xbf16>
  %2 = graph.reshape %1 {shape = [2, 6, 7, 8]} : (tensor<2x3x2x7x8xbf16>) -> tensor<2x6x7x8xbf16>
  %3 = graph.reshape %v {shape = [2, 3, 1, 7, 8]} : (tensor<2x3x7x8xbf16>) -> tensor<2x3x1x7x8xbf16>
  %4 = graph.expand %3 {shape = [2, 3, 2, 7, 8]} : (tensor<2x3x1x7x8xbf16>) -> tensor<2x3x2x7x8xbf16>
  %5 = graph.reshape %4 {shape = [2, 6, 7, 8]} : (tensor<2x3x2x7x8xbf16>) -> tensor<2x6x7x8xbf16>
  %y = graph.attention %q, %2, %5 {scale = 5.0e-01 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<2x6x5x8xbf16>, tensor<2x6x7x8xbf16>, tensor<2x6x7x8xbf16>) -> tensor<2x6x5x8xbf16>
  return %y : tensor<2x6x5x8xbf16>
}
