// RUN: tilewright-opt %s --split-input-file -channels-last="patches=true processors=4" | FileCheck %s

// The gradient of filters: images and their gradient, whose batch stands for channels. K of the matmul is all pixels.
// CHECK-LABEL: func.func @filters
// CHECK: %[[X:.*]] = graph.transpose %arg1 {permutation = array<i64: 0, 2, 3, 1>}
// CHECK: %[[W:.*]] = graph.windows %[[X]] {after = array<i64: 1, 1>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x6x5x16xbf16>) -> tensor<60x144xbf16>
// CHECK: %[[G:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>}
// CHECK: %[[R:.*]] = graph.reshape %[[G]] {shape = [60, 24]}
// CHECK: %[[T:.*]] = graph.transpose %[[R]] {permutation = array<i64: 1, 0>}
// CHECK: %[[M:.*]] = graph.matmul %[[T]], %[[W]] {acc = "float32", to = "bfloat16"} : (tensor<24x60xbf16>, tensor<60x144xbf16>) -> tensor<24x144xbf16>
// CHECK: %[[F:.*]] = graph.reshape %[[M]] {shape = [24, 3, 3, 16]}
// CHECK: graph.transpose %[[F]] {permutation = array<i64: 3, 0, 1, 2>}
func.func @filters(%g: tensor<2x24x6x5xbf16>, %images: tensor<2x16x6x5xbf16>) -> tensor<16x24x3x3xbf16> {
  %a = graph.transpose %images {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x16x6x5xbf16>) -> tensor<16x2x6x5xbf16>
  %b = graph.transpose %g {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x24x6x5xbf16>) -> tensor<24x2x6x5xbf16>
  %c = graph.conv %a, %b {acc = "float32", after = array<i64: 1, 1>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "bfloat16"} : (tensor<16x2x6x5xbf16>, tensor<24x2x6x5xbf16>) -> tensor<16x24x3x3xbf16>
  return %c : tensor<16x24x3x3xbf16>
}

// -----

// Of few tiles and many pixels, parts are added in float32.
// CHECK-LABEL: func.func @parts
// CHECK: %[[M:.*]] = graph.matmul {{.*}} {acc = "float32", to = "float32"} : (tensor<4x24x512xbf16>, tensor<4x512x16xbf16>) -> tensor<4x24x16xf32>
// CHECK: %[[S:.*]] = graph.reduce_sum %[[M]] {axes = array<i64: 0>, keepdims = false}
// CHECK: graph.cast %[[S]] {saturate = false, to = "bfloat16"}
func.func @parts(%images: tensor<4x16x16x32xbf16>, %g: tensor<4x24x16x32xbf16>) -> tensor<16x24x1x1xbf16> {
  %a = graph.transpose %images {permutation = array<i64: 1, 0, 2, 3>} : (tensor<4x16x16x32xbf16>) -> tensor<16x4x16x32xbf16>
  %b = graph.transpose %g {permutation = array<i64: 1, 0, 2, 3>} : (tensor<4x24x16x32xbf16>) -> tensor<24x4x16x32xbf16>
  %c = graph.conv %a, %b {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "bfloat16"} : (tensor<16x4x16x32xbf16>, tensor<24x4x16x32xbf16>) -> tensor<16x24x1x1xbf16>
  return %c : tensor<16x24x1x1xbf16>
}

// -----

// The gradient of images: zeros between pixels, and reversed filters.
// CHECK-LABEL: func.func @images
// CHECK: %[[W:.*]] = graph.slice %arg1 {sizes = [24, 16, 3, 3], starts = [0, 0, 2, 2], steps = array<i64: 1, 1, -1, -1>}
// CHECK: %[[P:.*]] = graph.pad {{.*}} {after = array<i64: 0, 0, 0, 1, 0, 1>, before = array<i64: 0, 0, 0, 0, 0, 0>, mode = "constant"}
// CHECK: %[[R:.*]] = graph.reshape %[[P]] {shape = [2, 24, 8, 6]}
// CHECK: %[[S:.*]] = graph.slice %[[R]] {sizes = [2, 24, 7, 5]
// CHECK: graph.windows {{.*}} {after = array<i64: 2, 2>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x7x5x24xbf16>) -> tensor<96x216xbf16>
// CHECK-NOT: graph.conv
func.func @images(%g: tensor<2x24x4x3xbf16>, %w: tensor<24x16x3x3xbf16>) -> tensor<2x16x8x6xbf16> {
  %c = graph.conv_transpose %g, %w {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 2, 2>, to = "bfloat16"} : (tensor<2x24x4x3xbf16>, tensor<24x16x3x3xbf16>) -> tensor<2x16x8x6xbf16>
  return %c : tensor<2x16x8x6xbf16>
}

// -----

// Where the largest elements are is counted with channels last, and then with channels first.
// CHECK-LABEL: func.func @pooled
// CHECK: %[[I:.*]] = graph.max_pool_indices {{.*}} -> tensor<2x1x3x3x16xi64>
// CHECK: %[[J:.*]] = graph.reshape %[[I]] {shape = [2, 3, 3, 16]}
// CHECK: %[[C:.*]] = graph.mod %[[J]]
// CHECK: graph.transpose {{.*}} {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x3x3x16xi64>) -> tensor<2x16x3x3xi64>
func.func @pooled(%x: tensor<2x16x6x5xbf16>, %w: tensor<16x16x1x1xbf16>) -> tensor<2x16x3x3xi64> {
  %c = graph.conv %x, %w {acc = "float32", after = array<i64: 0, 0>, before = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "bfloat16"} : (tensor<2x16x6x5xbf16>, tensor<16x16x1x1xbf16>) -> tensor<2x16x6x5xbf16>
  %p = graph.max_pool_indices %c {after = array<i64: 1, 1>, before = array<i64: 1, 1>, column_major = false, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<2x16x6x5xbf16>) -> tensor<2x16x3x3xi64>
  return %p : tensor<2x16x3x3xi64>
}

// -----

// Filters of one channel each: for each row of a filter, a matmul of all rows of images, as many rows below, and all rows
// of the gradient. The sums along diagonals are the places of the row.
// CHECK-LABEL: func.func @depthwise
// CHECK: %[[X:.*]] = graph.pad {{.*}} {after = array<i64: 0, 0, 0, 1>, before = array<i64: 0, 0, 0, 1>, mode = "constant"} : (tensor<4x64x5x6xbf16>, tensor<bf16>) -> tensor<4x64x5x8xbf16>
// CHECK: %[[R:.*]] = graph.reshape %[[X]] {shape = [4, 320, 8]}
// CHECK: %[[P:.*]] = graph.pad %arg1, {{.*}} {after = array<i64: 0, 0, 1, 2>, before = array<i64: 0, 0, 0, 0>, mode = "constant"} : (tensor<4x64x4x6xbf16>, tensor<bf16>) -> tensor<4x64x5x8xbf16>
// CHECK: %[[G:.*]] = graph.slice {{.*}} {sizes = [4, 319, 8], starts = [0, 0, 0]
// CHECK: %[[A:.*]] = graph.slice %[[R]] {sizes = [4, 319, 8], starts = [0, 0, 0]
// CHECK: %[[T:.*]] = graph.transpose %[[A]] {permutation = array<i64: 0, 2, 1>}
// CHECK: graph.matmul %[[T]], %[[G]] {acc = "float32", to = "float32"} : (tensor<4x8x319xbf16>, tensor<4x319x8xbf16>) -> tensor<4x8x8xf32>
// CHECK: graph.slice %[[R]] {sizes = [4, 319, 8], starts = [0, 1, 0]
// CHECK: graph.matmul
// CHECK: %[[C:.*]] = graph.concat {{.*}} {axis = 1 : i64} : (tensor<4x1x64xf32>, tensor<4x1x64xf32>) -> tensor<4x2x64xf32>
// CHECK: %[[D:.*]] = graph.gather %[[C]], {{.*}} {axis = 2 : i64} : (tensor<4x2x64xf32>, tensor<3x6xi64>) -> tensor<4x2x3x6xf32>
// CHECK: %[[S:.*]] = graph.reduce_sum %[[D]] {axes = array<i64: 3>, keepdims = false}
// CHECK: %[[N:.*]] = graph.cast %[[S]] {saturate = false, to = "bfloat16"}
// CHECK: graph.reshape %[[N]] {shape = [1, 4, 2, 3]}
func.func @depthwise(%x: tensor<1x256x5x6xbf16>, %g: tensor<4x64x4x6xbf16>) -> tensor<1x4x2x3xbf16> {
  %c = graph.conv %x, %g {acc = "float32", after = array<i64: 0, 1>, before = array<i64: 0, 1>, dilations = array<i64: 1, 1>, groups = 4 : i64, strides = array<i64: 1, 1>, to = "bfloat16"} : (tensor<1x256x5x6xbf16>, tensor<4x64x4x6xbf16>) -> tensor<1x4x2x3xbf16>
  return %c : tensor<1x4x2x3xbf16>
}
