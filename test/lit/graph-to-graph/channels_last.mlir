// RUN: tilewright-opt %s --split-input-file -channels-last | FileCheck %s
// RUN: tilewright-opt %s --split-input-file -channels-last=floats=true | FileCheck %s --check-prefix=FLOATS
// RUN: tilewright-opt %s --split-input-file -channels-last=patches=true | FileCheck %s --check-prefix=PATCHES

// Windows of 3 x 3, and what follows element by element; a factor for each channel moves, too.
// CHECK-LABEL: func.func @windows
// CHECK: %[[T:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x16x8x8xbf16>) -> tensor<2x8x8x16xbf16>
// CHECK: %[[R:.*]] = graph.windows %[[T]] {after = array<i64: 1, 1>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<2x8x8x16xbf16>) -> tensor<32x144xbf16>
// CHECK: %[[F:.*]] = graph.transpose %arg1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<32x16x3x3xbf16>) -> tensor<32x3x3x16xbf16>
// CHECK: %[[G:.*]] = graph.reshape %[[F]] {shape = [32, 144]}
// CHECK: %[[H:.*]] = graph.transpose %[[G]] {permutation = array<i64: 1, 0>}
// CHECK: %[[M:.*]] = graph.matmul %[[R]], %[[H]] {acc = "float32", to = "bfloat16"} : (tensor<32x144xbf16>, tensor<144x32xbf16>) -> tensor<32x32xbf16>
// CHECK: %[[I:.*]] = graph.reshape %[[M]] {shape = [2, 4, 4, 32]}
// CHECK: %[[L:.*]] = graph.reshape %arg2 {shape = [1, 1, 1, 32]} : (tensor<32x1x1xbf16>) -> tensor<1x1x1x32xbf16>
// CHECK: %[[P:.*]] = graph.mul %[[I]], %[[L]] : (tensor<2x4x4x32xbf16>, tensor<1x1x1x32xbf16>) -> tensor<2x4x4x32xbf16>
// CHECK: %[[Y:.*]] = graph.relu %[[P]] : tensor<2x4x4x32xbf16>
// CHECK: graph.transpose %[[Y]] {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x4x4x32xbf16>) -> tensor<2x32x4x4xbf16>
func.func @windows(%x: tensor<2x16x8x8xbf16>, %w: tensor<32x16x3x3xbf16>, %scale: tensor<32x1x1xbf16>) -> tensor<2x32x4x4xbf16> {
  %c = graph.conv %x, %w {acc = "float32", after = array<i64: 1, 1>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 2, 2>, to = "bfloat16"} : (tensor<2x16x8x8xbf16>, tensor<32x16x3x3xbf16>) -> tensor<2x32x4x4xbf16>
  %m = graph.mul %c, %scale : (tensor<2x32x4x4xbf16>, tensor<32x1x1xbf16>) -> tensor<2x32x4x4xbf16>
  %y = graph.relu %m : tensor<2x32x4x4xbf16>
  return %y : tensor<2x32x4x4xbf16>
}

// -----

// Of single pixels the matrix is another shape of the images. Between two convolutions no transpose is left, and what is
// added comes in rows, too. The sum of all pixels needs none.
// CHECK-LABEL: func.func @residual
// CHECK-NEXT: %[[T:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>}
// CHECK-COUNT-2: graph.matmul
// CHECK-NOT: graph.transpose %arg0
// CHECK: %[[A:.*]] = graph.add %{{.*}}, %[[T]] : (tensor<2x4x4x16xbf16>, tensor<2x4x4x16xbf16>) -> tensor<2x4x4x16xbf16>
// CHECK-NEXT: %[[S:.*]] = graph.reduce_sum %[[A]] {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x4x4x16xbf16>) -> tensor<2x1x1x16xbf16>
// CHECK-NEXT: %[[Y:.*]] = graph.transpose %[[S]] {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: return %[[Y]]
func.func @residual(%x: tensor<2x16x4x4xbf16>, %w: tensor<16x16x1x1xbf16>) -> tensor<2x16x1x1xbf16> {
  %a = graph.conv %x, %w {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "bfloat16"} : (tensor<2x16x4x4xbf16>, tensor<16x16x1x1xbf16>) -> tensor<2x16x4x4xbf16>
  %b = graph.conv %a, %w {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "bfloat16"} : (tensor<2x16x4x4xbf16>, tensor<16x16x1x1xbf16>) -> tensor<2x16x4x4xbf16>
  %c = graph.add %b, %x : (tensor<2x16x4x4xbf16>, tensor<2x16x4x4xbf16>) -> tensor<2x16x4x4xbf16>
  %s = graph.reduce_sum %c {axes = array<i64: 2, 3>, keepdims = true} : (tensor<2x16x4x4xbf16>) -> tensor<2x16x1x1xbf16>
  return %s : tensor<2x16x1x1xbf16>
}

// -----

// Three channels are no tile, and float32 has no tensor cores here.
// FLOATS-LABEL: func.func @stays
// FLOATS-NEXT: graph.conv
// FLOATS: graph.matmul %{{.*}}, %{{.*}} {acc = "float32", to = "float32"} : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
// CHECK-LABEL: func.func @stays
// CHECK-NEXT: graph.conv
// CHECK-NEXT: graph.conv
// CHECK-NEXT: return
func.func @stays(%x: tensor<2x3x4x4xbf16>, %w: tensor<16x3x1x1xbf16>, %z: tensor<2x16x4x4xf32>, %v: tensor<16x16x1x1xf32>) -> (tensor<2x16x4x4xbf16>, tensor<2x16x4x4xf32>) {
  %a = graph.conv %x, %w {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "bfloat16"} : (tensor<2x3x4x4xbf16>, tensor<16x3x1x1xbf16>) -> tensor<2x16x4x4xbf16>
  %b = graph.conv %z, %v {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "float32"} : (tensor<2x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<2x16x4x4xf32>
  return %a, %b : tensor<2x16x4x4xbf16>, tensor<2x16x4x4xf32>
}

// -----

// Beside a convolution of each channel by itself, which reads images as they come, all stay.
// CHECK-LABEL: func.func @grouped
// CHECK-NEXT: graph.conv
// CHECK-NEXT: graph.conv
// CHECK-NEXT: return
func.func @grouped(%x: tensor<2x16x4x4xbf16>, %w: tensor<16x1x1x1xbf16>, %v: tensor<16x16x1x1xbf16>) -> tensor<2x16x4x4xbf16> {
  %a = graph.conv %x, %w {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 16 : i64, strides = array<i64: 1, 1>, to = "bfloat16"} : (tensor<2x16x4x4xbf16>, tensor<16x1x1x1xbf16>) -> tensor<2x16x4x4xbf16>
  %b = graph.conv %a, %v {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "bfloat16"} : (tensor<2x16x4x4xbf16>, tensor<16x16x1x1xbf16>) -> tensor<2x16x4x4xbf16>
  return %b : tensor<2x16x4x4xbf16>
}

// -----

// Of int8, whose sums are scaled and quantised again in rows; 24 channels are no copies of 16 bytes.
// CHECK-LABEL: func.func @integers
// CHECK: graph.windows {{.*}} -> tensor<16x288xi8>
// CHECK: graph.matmul {{.*}} {acc = "int32", to = "int32"} : (tensor<16x288xi8>, tensor<288x32xi8>) -> tensor<16x32xi32>
// CHECK: graph.quantize {{.*}} : (tensor<1x4x4x32xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x32xi8>
// CHECK: graph.transpose {{.*}} -> tensor<1x32x4x4xi8>
// CHECK: graph.conv {{.*}} -> tensor<1x24x4x4xi32>
func.func @integers(%x: tensor<1x32x4x4xi8>, %w: tensor<32x32x3x3xi8>, %v: tensor<24x32x1x1xi8>, %s: tensor<32x1x1xf32>) -> (tensor<1x32x4x4xi8>, tensor<1x24x4x4xi32>) {
  %scale = graph.constant dense<0.5> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<i8>
  %a = graph.conv %x, %w {acc = "int32", after = array<i64: 1, 1>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "int32"} : (tensor<1x32x4x4xi8>, tensor<32x32x3x3xi8>) -> tensor<1x32x4x4xi32>
  %b = graph.cast %a {to = "float32", saturate = true} : (tensor<1x32x4x4xi32>) -> tensor<1x32x4x4xf32>
  %c = graph.mul %b, %s : (tensor<1x32x4x4xf32>, tensor<32x1x1xf32>) -> tensor<1x32x4x4xf32>
  %q = graph.quantize %c, %scale, %zero {axis = 0 : i64, block = 0 : i64, to = "int8"} : (tensor<1x32x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x32x4x4xi8>
  %d = graph.conv %x, %v {acc = "int32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "int32"} : (tensor<1x32x4x4xi8>, tensor<24x32x1x1xi8>) -> tensor<1x24x4x4xi32>
  return %q, %d : tensor<1x32x4x4xi8>, tensor<1x24x4x4xi32>
}

// -----

// For a processor, a pool reads channels that lie together, with one more dimension of its windows.
// CHECK-LABEL: func.func @pools
// CHECK-NEXT: graph.conv
// FLOATS-LABEL: func.func @pools
// FLOATS: %[[M:.*]] = graph.matmul
// FLOATS-NEXT: %[[R:.*]] = graph.reshape %[[M]] {shape = [2, 1, 4, 4, 16]}
// FLOATS-NEXT: %[[P:.*]] = graph.max_pool %[[R]] {after = array<i64: 0, 1, 0>, before = array<i64: 1, 0, 0>, dilations = array<i64: 1, 1, 1>, kernel = array<i64: 3, 3, 1>, strides = array<i64: 2, 2, 1>} : (tensor<2x1x4x4x16xf32>) -> tensor<2x1x2x2x16xf32>
// FLOATS-NEXT: %[[I:.*]] = graph.reshape %[[P]] {shape = [2, 2, 2, 16]}
// FLOATS-NEXT: %[[Y:.*]] = graph.transpose %[[I]] {permutation = array<i64: 0, 3, 1, 2>}
// FLOATS-NEXT: return %[[Y]]
func.func @pools(%x: tensor<2x3x4x4xf32>, %w: tensor<16x3x1x1xf32>) -> tensor<2x16x2x2xf32> {
  %c = graph.conv %x, %w {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "float32"} : (tensor<2x3x4x4xf32>, tensor<16x3x1x1xf32>) -> tensor<2x16x4x4xf32>
  %p = graph.max_pool %c {after = array<i64: 0, 1>, before = array<i64: 1, 0>, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<2x16x4x4xf32>) -> tensor<2x16x2x2xf32>
  return %p : tensor<2x16x2x2xf32>
}

// -----

// Patches of three channels are windows beside another convolution, and so are those of a pool between the two.
// CHECK-LABEL: func.func @patches
// CHECK-NEXT: graph.conv
// CHECK: graph.max_pool {{.*}} : (tensor<2x32x8x8xbf16>) -> tensor<2x32x4x4xbf16>
// PATCHES-LABEL: func.func @patches
// PATCHES-NEXT: %[[T:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x3x16x16xbf16>) -> tensor<2x16x16x3xbf16>
// PATCHES-NEXT: graph.windows %[[T]] {{.*}} -> tensor<128x147xbf16>
// PATCHES: graph.max_pool {{.*}} kernel = array<i64: 3, 3, 1>, {{.*}} : (tensor<2x1x8x8x32xbf16>) -> tensor<2x1x4x4x32xbf16>
// PATCHES: graph.windows {{.*}} -> tensor<32x288xbf16>
// PATCHES-NOT: graph.conv
// PATCHES: return
func.func @patches(%x: tensor<2x3x16x16xbf16>, %w: tensor<32x3x7x7xbf16>, %v: tensor<32x32x3x3xbf16>) -> tensor<2x32x4x4xbf16> {
  %c = graph.conv %x, %w {acc = "float32", after = array<i64: 3, 3>, before = array<i64: 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 2, 2>, to = "bfloat16"} : (tensor<2x3x16x16xbf16>, tensor<32x3x7x7xbf16>) -> tensor<2x32x8x8xbf16>
  %r = graph.relu %c : tensor<2x32x8x8xbf16>
  %p = graph.max_pool %r {after = array<i64: 1, 1>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<2x32x8x8xbf16>) -> tensor<2x32x4x4xbf16>
  %d = graph.conv %p, %v {acc = "float32", after = array<i64: 1, 1>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "bfloat16"} : (tensor<2x32x4x4xbf16>, tensor<32x32x3x3xbf16>) -> tensor<2x32x4x4xbf16>
  return %d : tensor<2x32x4x4xbf16>
}

// -----

// Patches alone stay as they come.
// PATCHES-LABEL: func.func @alone
// PATCHES-NEXT: graph.conv
// PATCHES-NEXT: return
func.func @alone(%x: tensor<2x3x16x16xbf16>, %w: tensor<32x3x7x7xbf16>) -> tensor<2x32x8x8xbf16> {
  %c = graph.conv %x, %w {acc = "float32", after = array<i64: 3, 3>, before = array<i64: 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 2, 2>, to = "bfloat16"} : (tensor<2x3x16x16xbf16>, tensor<32x3x7x7xbf16>) -> tensor<2x32x8x8xbf16>
  return %c : tensor<2x32x8x8xbf16>
}

// -----

// Of float32 that may be multiplied in tf32.
// CHECK-LABEL: func.func @tf32
// CHECK: %[[R:.*]] = graph.windows
// CHECK: graph.matmul %[[R]], %{{.*}} {acc = "tf32", to = "float32"} : (tensor<32x144xf32>, tensor<144x32xf32>) -> tensor<32x32xf32>
func.func @tf32(%x: tensor<2x16x8x8xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<2x32x4x4xf32> {
  %c = graph.conv %x, %w {acc = "tf32", after = array<i64: 1, 1>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 2, 2>, to = "float32"} : (tensor<2x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<2x32x4x4xf32>
  return %c : tensor<2x32x4x4xf32>
}
