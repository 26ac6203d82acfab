#ifndef TILEWRIGHT_GRAPH_TO_GRAPH_PASSES
#define TILEWRIGHT_GRAPH_TO_GRAPH_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file. Before these run upstream's canonicalize and cse.

def RaiseAttention : Pass<"raise-attention", "mlir::ModuleOp"> {
  let summary = "Two matmuls around a softmax become graph.attention";
  let description = [{
    The scores may have factors, which are constants, and then masks. These are added, or they choose between scores and
    a number that hides them, -1e9 or less. On the way, casts may round to 16 bits, and reshapes may count the matrices in
    another way; attention rounds its result alone. Each tensor on the way has one user. Operands have one element type,
    and leading extents that are not broadcast. A query that sees no key gets zeros, and not NaN.

    ```mlir
    %t = graph.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x7x8xf32>) -> tensor<2x8x7xf32>
    %s = graph.matmul %q, %t {acc = "float32", to = "float32"} : (tensor<2x5x8xf32>, tensor<2x8x7xf32>) -> tensor<2x5x7xf32>
    %m = graph.mul %s, %factor : (tensor<2x5x7xf32>, tensor<f32>) -> tensor<2x5x7xf32>
    %p = graph.softmax %m {axis = 2 : i64} : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
    %y = graph.matmul %p, %v {acc = "float32", to = "float32"} : (tensor<2x5x7xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
    ```

    becomes, where `%factor` is 0.5,

    ```mlir
    %y = graph.attention %q, %k, %v {scale = 5.0e-01 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64}
        : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
    ```

    A mask that is 0 where a bool is true and -inf where it is false becomes the bools: attention skips tiles that these
    hide.

    ```mlir
    %m = graph.where %seen, %zero, %infinity : (tensor<5x7xi1>, tensor<f32>, tensor<f32>) -> tensor<5x7xf32>
    %y = graph.attention %q, %k, %v, %m {scale = 5.0e-01 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64}
        : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>, tensor<5x7xf32>) -> tensor<2x5x8xf32>
    ```

    becomes

    ```mlir
    %y = graph.attention %q, %k, %v, %seen {scale = 5.0e-01 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64}
        : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>, tensor<5x7xi1>) -> tensor<2x5x8xf32>
    ```

    Keys and values whose heads are repeated for groups of queries become those of fewer heads.

    ```mlir
    %e = graph.reshape %k {shape = [2, 3, 1, 7, 8]} : (tensor<2x3x7x8xf32>) -> tensor<2x3x1x7x8xf32>
    %r = graph.expand %e {shape = [2, 3, 2, 7, 8]} : (tensor<2x3x1x7x8xf32>) -> tensor<2x3x2x7x8xf32>
    %all = graph.reshape %r {shape = [2, 6, 7, 8]} : (tensor<2x3x2x7x8xf32>) -> tensor<2x6x7x8xf32>
    ```
  }];
}

def QuantizeOperators : Pass<"quantize-operators", "mlir::ModuleOp"> {
  let summary = "Matmuls and convolutions by weights get operands that were quantised to 8 bits";
  let description = [{
    Of operators in floats of 16 or 32 bits that calibration has given the largest magnitude of their first operand, as
    `graph.magnitude`. Their first operand is quantised with one scale, magnitude / 127, and their weight with one scale
    for each output channel. `graph.quantized_from` names the weight that the integers and their scales are made of, and
    `graph.scale_axis` is its axis. What remains is in QDQ form, which `fuse-quantization` makes an operator of integers.
    With `float8`, the type is float8_e4m3fn, and the largest magnitude becomes 448.

    ```mlir
    %w = graph.weight "w" : tensor<8x6xf32>
    %y = graph.matmul %x, %w {acc = "float32", graph.magnitude = 2.54 : f64, to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    ```

    becomes

    ```mlir
    %zero = graph.constant dense<0> : tensor<i8>
    %scale = graph.constant dense<2.000000e-02> : tensor<f32>
    %q = graph.quantize %x, %scale, %zero {axis = 0 : i64, block = 0 : i64, to = "int8"} : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
    %a = graph.dequantize %q, %scale, %zero {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
    %i = graph.weight "w.int8.1" {graph.quantized_from = "w", graph.scale_axis = 1 : i64} : tensor<8x6xi8>
    %s = graph.weight "w.scale.1" {graph.quantized_from = "w", graph.scale_axis = 1 : i64} : tensor<6xf32>
    %b = graph.dequantize %i, %s, %zero {axis = 1 : i64, block = 0 : i64, to = "float32"} : (tensor<8x6xi8>, tensor<6xf32>, tensor<i8>) -> tensor<8x6xf32>
    %y = graph.matmul %a, %b {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    ```
  }];
  let options = [Option<"perChannel", "per-channel", "bool", /*default=*/"true",
                        "Whether a weight has a scale for each output channel; otherwise it has one">,
                 Option<"float8", "float8", "bool", /*default=*/"false",
                        "Whether operands become float8_e4m3fn; otherwise they become int8">];
}

def QuantizeWeights : Pass<"quantize-weights", "mlir::ModuleOp"> {
  let summary = "Weights of matmuls get four bits an element, and a scale for each group along K";
  let description = [{
    Two elements stand in a byte, the lower one first, and 8 stands for 0. `graph.quantized_from` names the weight that
    the bytes and their scales are made of. Weights stay whose extent along K is no multiple of the group.

    ```mlir
    %w = graph.weight "w" : tensor<256x64xbf16>
    %y = graph.matmul %x, %w {acc = "float32", to = "bfloat16"} : (tensor<4x256xbf16>, tensor<256x64xbf16>) -> tensor<4x64xbf16>
    ```

    becomes

    ```mlir
    %p = graph.weight "w.int4.0" {graph.group = 128 : i64, graph.quantized_from = "w", graph.scale_axis = 0 : i64} : tensor<128x64xui8>
    %s = graph.weight "w.scale.0" {graph.group = 128 : i64, graph.quantized_from = "w", graph.scale_axis = 0 : i64} : tensor<2x64xf32>
    %z = graph.constant dense<8> : tensor<ui8>
    %u = graph.unpack %p {axis = 0 : i64} : (tensor<128x64xui8>) -> tensor<256x64xui8>
    %w = graph.dequantize %u, %s, %z {axis = 0 : i64, block = 128 : i64, to = "bfloat16"} : (tensor<256x64xui8>, tensor<2x64xf32>, tensor<ui8>) -> tensor<256x64xbf16>
    %y = graph.matmul %x, %w {acc = "float32", to = "bfloat16"} : (tensor<4x256xbf16>, tensor<256x64xbf16>) -> tensor<4x64xbf16>
    ```
  }];
  let options = [Option<"group", "group", "int64_t", /*default=*/"128",
                        "How many elements along K have a scale together; even">];
}

def MergeMatmuls : Pass<"merge-matmuls", "mlir::ModuleOp"> {
  let summary = "Matmuls of one matrix by the weights of queries, keys and values become one";
  let description = [{
    Their weights stand one behind the other in one weight, which is named by `graph.joined`. So do biases. Each former
    result is a slice of the columns. Shapes are static, and the results are only moved before `graph.attention` reads
    them. What they have in common is the first operand, the types, and whether there is a bias. If the weights are
    integers with a scale for each column, the scales stand one behind the other, too.

    ```mlir
    %a = graph.weight "a" : tensor<8x16xbf16>
    %b = graph.weight "b" : tensor<8x16xbf16>
    %q = graph.matmul %x, %a {acc = "float32", to = "bfloat16"} : (tensor<4x8xbf16>, tensor<8x16xbf16>) -> tensor<4x16xbf16>
    %k = graph.matmul %x, %b {acc = "float32", to = "bfloat16"} : (tensor<4x8xbf16>, tensor<8x16xbf16>) -> tensor<4x16xbf16>
    ```

    becomes

    ```mlir
    %w = graph.weight "a+b" {graph.joined = ["a", "b"], graph.joined_axis = 1 : i64} : tensor<8x32xbf16>
    %y = graph.matmul %x, %w {acc = "float32", to = "bfloat16"} : (tensor<4x8xbf16>, tensor<8x32xbf16>) -> tensor<4x32xbf16>
    %q = graph.slice %y {sizes = [4, 16], starts = [0, 0], steps = array<i64: 1, 1>} : (tensor<4x32xbf16>) -> tensor<4x16xbf16>
    %k = graph.slice %y {sizes = [4, 16], starts = [0, 16], steps = array<i64: 1, 1>} : (tensor<4x32xbf16>) -> tensor<4x16xbf16>
    ```
  }];
}

def FuseQuantization : Pass<"fuse-quantization", "mlir::ModuleOp"> {
  let summary = "Matmuls and convolutions of what was dequantised from 8 bits become those of integers";
  let description = [{
    The integers are accumulated in int32, floats of 8 bits in float32, and the sums are scaled. The first operand has
    one scale; the second has one, or one for each column of the result or output channel. A zero that is not 0 is
    subtracted in int32 before. A transpose of what was dequantised becomes one of the integers.

    ```mlir
    %a = graph.dequantize %x, %sx, %z {axis = 0 : i64, block = 0 : i64, to = "float32"} : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
    %b = graph.dequantize %w, %sw, %z {axis = 1 : i64, block = 0 : i64, to = "float32"} : (tensor<8x6xi8>, tensor<6xf32>, tensor<i8>) -> tensor<8x6xf32>
    %y = graph.matmul %a, %b {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    ```

    becomes, where `%z` is 0,

    ```mlir
    %s = graph.matmul %x, %w {acc = "int32", to = "int32"} : (tensor<4x8xi8>, tensor<8x6xi8>) -> tensor<4x6xi32>
    %c = graph.mul %sw, %sx : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
    %f = graph.cast %s {to = "float32", saturate = true} : (tensor<4x6xi32>) -> tensor<4x6xf32>
    %y = graph.mul %f, %c : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    ```
  }];
}

def ChannelsLast : Pass<"channels-last", "mlir::ModuleOp"> {
  let summary = "Convolutions for tensor cores become matmuls of rows of pixels, whose channels lie together";
  let description = [{
    Convolutions of images NCHW of 16-bit floats, int8 or float8_e4m3fn, with at least 16 channels on either side, in
    multiples of 16 bytes. A pixel is a row, and a window is read where it is. The transposes back move behind operators that work element by element, and
    behind the sum of all pixels, so that they meet, and fold. Shapes are static. A model with grouped convolutions stays.
    With `floats`, convolutions are those of float32, with at least 16 channels of results, for a processor. The transposes
    then move behind pools, too. They also do with `patches`, where convolutions of 16-bit floats may have fewer channels
    than a copy of 16 bytes, if others have more.

    Gradients of such convolutions are made for tensor cores first. That of filters is a matmul whose K is all pixels, in
    parts where it has few tiles for so many `processors`. Of filters of one channel each, it is a matmul for each of
    their rows, whose K is all rows of pixels. That of images is a convolution with reversed filters, with zeros between
    pixels where there are strides; of grouped filters it stays.

    ```mlir
    %c = graph.conv %x, %w {acc = "float32", after = array<i64: 1, 1>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, strides = array<i64: 1, 1>, to = "bfloat16"}
        : (tensor<2x16x8x8xbf16>, tensor<32x16x3x3xbf16>) -> tensor<2x32x8x8xbf16>
    %y = graph.relu %c : tensor<2x32x8x8xbf16>
    ```

    becomes

    ```mlir
    %t = graph.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x16x8x8xbf16>) -> tensor<2x8x8x16xbf16>
    %r = graph.windows %t {after = array<i64: 1, 1>, before = array<i64: 1, 1>, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>}
        : (tensor<2x8x8x16xbf16>) -> tensor<128x144xbf16>
    %f = graph.transpose %w {permutation = array<i64: 0, 2, 3, 1>} : (tensor<32x16x3x3xbf16>) -> tensor<32x3x3x16xbf16>
    %g = graph.reshape %f {shape = [32, 144]} : (tensor<32x3x3x16xbf16>) -> tensor<32x144xbf16>
    %h = graph.transpose %g {permutation = array<i64: 1, 0>} : (tensor<32x144xbf16>) -> tensor<144x32xbf16>
    %m = graph.matmul %r, %h {acc = "float32", to = "bfloat16"} : (tensor<128x144xbf16>, tensor<144x32xbf16>) -> tensor<128x32xbf16>
    %i = graph.reshape %m {shape = [2, 8, 8, 32]} : (tensor<128x32xbf16>) -> tensor<2x8x8x32xbf16>
    %a = graph.relu %i : tensor<2x8x8x32xbf16>
    %y = graph.transpose %a {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x8x8x32xbf16>) -> tensor<2x32x8x8xbf16>
    ```
  }];
  let options = [
    Option<"floats", "floats", "bool", /*default=*/"false", "convolutions of float32, for a processor">,
    Option<"patches", "patches", "bool", /*default=*/"false", "convolutions of few channels, too">,
    Option<"processors", "processors", "int64_t", /*default=*/"1", "the SMs that the gradients of filters have work for">
  ];
}

def SinkReshapes : Pass<"sink-reshapes", "mlir::ModuleOp"> {
  let summary = "Reshapes that split the rows of a matrix move behind what reads them";
  let description = [{
    Behind operators that work element by element, and behind reductions of the last dimension. Their other operands are
    broadcast along all rows, or along none. So reshapes meet, and fold; what is left is at the ends of the model, or before
    what moves elements. Shapes are static.

    ```mlir
    %r = graph.reshape %x {shape = [2, 4, 8]} : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %y = graph.add %r, %bias : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
    ```

    becomes

    ```mlir
    %a = graph.add %x, %bias : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %y = graph.reshape %a {shape = [2, 4, 8]} : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
    ```
  }];
}

def OrderResults : Pass<"order-results", "mlir::ModuleOp"> {
  let summary = "Results that may lie in any order are returned before they are transposed";
  let description = [{
    A result with `graph.order` is transposed by the caller, by that permutation. If the model transposes it, too, both
    become one permutation of the caller's, who only takes another view of the memory. So it is with what a forward pass
    keeps for the backward pass.

    ```mlir
    func.func @f(%x: tensor<2x4x8xf32>) -> (tensor<2x8x4xf32> {graph.order = array<i64: 0, 1, 2>}) {
      %r = graph.relu %x : tensor<2x4x8xf32>
      %t = graph.transpose %r {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
      return %t : tensor<2x8x4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%x: tensor<2x4x8xf32>) -> (tensor<2x4x8xf32> {graph.order = array<i64: 0, 2, 1>}) {
      %r = graph.relu %x : tensor<2x4x8xf32>
      return %r : tensor<2x4x8xf32>
    }
    ```
  }];
}

def FoldWeights : Pass<"fold-weights", "mlir::ModuleOp"> {
  let summary = "What is computed from weights alone becomes a weight";
  let description = [{
    Each such value is computed when the model is compiled, by a function in the module `graph.weights`. Where elements
    are only moved or converted, nothing changes, and neither does what is dequantised. But filters that are reshaped
    become other filters, if nothing else reads them. Filters of 8 bits keep their outputs as rows, and a transpose
    behind them: tensor cores read 8 bits along K. A result of more than 64 KiB is
    no larger than the weights that it is made of. Of what was 16-bit floats, `(x - m) * s * g + b` becomes
    `x * (s * g) + (b - m * (s * g))`, so that a batch norm reads two weights. With `transposes`, so do transposed matrices that nothing else reads,
    if they are multiplied by eight rows or more, or by several operators.

    ```mlir
    %w = graph.weight "variance" : tensor<8xf32>
    %r = graph.rsqrt %w : tensor<8xf32>
    %y = graph.mul %x, %r : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```

    becomes, with `@folded.0` returning the `graph.rsqrt` of the weight,

    ```mlir
    %r = graph.weight "folded.0" {graph.folded = @graph.weights::@folded.0} : tensor<8xf32>
    %y = graph.mul %x, %r : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let options = [Option<"transposes", "transposes", "bool", /*default=*/"false",
                        "transposed matrices become weights, for a processor">];
}

def FuseOperators : Pass<"fuse-operators", "mlir::ModuleOp"> {
  let summary = "Operators become groups, each of which is computed as one program";
  let description = [{
    The function of te that defines an operator (`graph.definition`) says what the operator does, by the maps of its
    reads. It computes each element from others (injective), or it reduces. An operator joins the group of its only user
    where

    - the group of the operator has no reduction, and the user reads each element once;
    - the group of the operator moves elements without arithmetic, however often the user reads them;
    - the group of the operator has a reduction, the user has none, and reads each element at its own place;
    - both together are of the same rows. Each operator reduces the last dimensions, which stay with extent 1, or works
      element by element on whole tensors and numbers of rows. Rows have 16384 elements at most.
      Weights that are moved or converted for them may have any shape.

    What several groups read is computed in each of these, and not stored, where it is cheap: an instruction or two make
    an element. And it has no fewer bytes than it is made of. So a conversion to a wider type is not stored, but what it
    converts. A conversion of types counts as a move where the user has no reduction. Elements that are made of a weight
    in four bits count as moved. An operator with several users joins where all of them have come to be in one group.
    Tensor cores copy images and filters of 16 bits as they are stored. So what moves an image for the windows of a
    matmul is a group of its own, where channels fill vectors of 8. So is what moves filters for this matmul.

    Attention is a group of its own, and so are its gradients. So a group has at most one operator that reduces, with
    operators element by element before and after it. Or it is of rows, as layer norm is. `ends` says for each result of
    a group why nothing more is in it. A constant of one element is in each group that reads it. A group of rows or
    elements may have a second result: its first one, quantised with one scale. With `strided-attention`, slices,
    reshapes and transposes of queries, keys and values are in the group of attention. So are reshapes and transposes of
    its result. So is what a few instructions compute of small tables for its mask.

    ```mlir
    %s = graph.reduce_sum %x {axes = array<i64: 1>, graph.definition = @reduce_sum, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
    %r = graph.relu %s {graph.definition = @relu} : tensor<4xf32>
    return %r : tensor<4xf32>
    ```

    becomes

    ```mlir
    %r = graph.group "reduce_sum_relu" {
      %s = graph.reduce_sum %x {axes = array<i64: 1>, graph.definition = @reduce_sum, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
      %y = graph.relu %s {graph.definition = @relu} : tensor<4xf32>
      graph.yield %y : tensor<4xf32>
    } {ends = ["an output of the model"]} : tensor<4xf32>
    return %r : tensor<4xf32>
    ```
  }];
  let options = [Option<"maxOperators", "max-operators", "int64_t", /*default=*/"0",
                        "How many operators a group has at most; 0 is any number, 1 is no fusion">,
                 Option<"stridedAttention", "strided-attention", "bool", /*default=*/"false",
                        "Whether attention may read and write tensors that are not row-major">];
}

def FoldGroups : Pass<"fold-groups", "mlir::ModuleOp"> {
  let summary = "Groups that read no input become weights";
  let description = [{
    Such groups make positions, masks and the angles of rotary embeddings, in each call the same. They become weights as
    `fold-weights` makes them, of at most 1 MiB. Their shapes are static, and they read neither inputs nor weights.

    ```mlir
    %c = graph.group "iota_cast_cos" {
      %i = graph.iota {axis = 0 : i64, shape = [16], to = "int64"} : tensor<16xi64>
      %f = graph.cast %i {saturate = true, to = "float32"} : (tensor<16xi64>) -> tensor<16xf32>
      %r = graph.cos %f : tensor<16xf32>
      graph.yield %r : tensor<16xf32>
    } {ends = ["2 operators use it"]} : tensor<16xf32>
    ```

    becomes, with `@folded.0` returning the cosines,

    ```mlir
    %c = graph.weight "folded.0" {graph.folded = @graph.weights::@folded.0} : tensor<16xf32>
    ```
  }];
}

def ViewReshapes : Pass<"view-reshapes", "mlir::ModuleOp"> {
  let summary = "Reshapes at the ends of groups become views of memory";
  let description = [{
    A reshape that only a group reads moves before the group; one that makes the group's result moves behind the group.
    So does a slice before a group whose elements lie together, from a multiple of 16 bytes on. What is outside of groups
    costs nothing: a group writes into an output through a reshape, and reads inputs through one. Groups of `graph.attention`
    stay, for attention reads views by itself.

    ```mlir
    %y = graph.group "reshape" {
      %r = graph.reshape %x {shape = [2, 4, 8]} : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
      graph.yield %r : tensor<2x4x8xf32>
    } {ends = ["an output of the model"]} : tensor<2x4x8xf32>
    return %y : tensor<2x4x8xf32>
    ```

    becomes

    ```mlir
    %r = graph.reshape %x {shape = [2, 4, 8]} : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
    return %r : tensor<2x4x8xf32>
    ```
  }];
}

def OrderGroups : Pass<"order-groups", "mlir::ModuleOp"> {
  let summary = "Groups that wait for numbers of the model come behind those that do not";
  let description = [{
    Of a model whose extents data decide, a call waits for the numbers that the next groups need. Groups that wait as
    often as each other stand together, in their order. So a call waits as few times as can be. Such a number is a result
    of the function with `graph.count`, and its name is the symbol of extents.

    ```mlir
    %n = graph.group "reduce_sum" { ... } : tensor<i64>
    %a = graph.group "iota" { ... } : tensor<?xi64, #graph.extents<"n">>
    %m = graph.group "reduce_sum" { ... } : tensor<i64>
    %b = graph.group "iota" { ... } : tensor<?xi64, #graph.extents<"m">>
    ```

    becomes

    ```mlir
    %n = graph.group "reduce_sum" { ... } : tensor<i64>
    %m = graph.group "reduce_sum" { ... } : tensor<i64>
    %a = graph.group "iota" { ... } : tensor<?xi64, #graph.extents<"n">>
    %b = graph.group "iota" { ... } : tensor<?xi64, #graph.extents<"m">>
    ```
  }];
}

def PlanMemory : Pass<"plan-memory", "mlir::ModuleOp"> {
  let summary = "The results of groups get places in one arena";
  let description = [{
    Results whose lives do not overlap share memory. A result lives from its group to the last group that reads it. The
    largest ones are placed first, each at the lowest offset that is free all its life. Reading a view of a result is
    reading the result. An output of the model, what lies in one through reshapes, and a result of symbolic size have no
    place: their offset is -1. Offsets are multiples of 64 bytes; the function gets
    the size of the arena.

    ```mlir
    %a = graph.group "exp" { ... } {ends = ["2 operators use it"]} : tensor<16xf32>
    ```

    becomes, in a function with `graph.arena_bytes = 64 : i64`,

    ```mlir
    %a = graph.group "exp" { ... } {ends = ["2 operators use it"], offsets = array<i64: 0>} : tensor<16xf32>
    ```
  }];
}

def FormCudaGraph : Pass<"form-cuda-graph", "mlir::ModuleOp"> {
  let summary = "The launches of a model's call form a CUDA graph";
  let description = [{
    The function gets `graph.cuda_graph`, for target cuda. The run time captures the launches of a call, and launches
    them at once in later calls with the same addresses and extents. Functions with fewer than two groups stay as they
    are, and so do those with a `graph.count`, for which a call waits between its launches.

    ```mlir
    func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> attributes {graph.arena_bytes = 64 : i64}
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> attributes {graph.arena_bytes = 64 : i64, graph.cuda_graph}
    ```
  }];
}

def DispatchToLibrary : Pass<"dispatch-to-library", "mlir::ModuleOp"> {
  let summary = "Groups that a library computes faster are calls of the library";
  let description = [{
    For target cuda, and for the groups that a measurement says. A group gets `library` if its operators are a matmul of
    two inputs, perhaps transposed, that accumulates in float32 or int32. Then come at most a bias for each column, a
    residual, and ReLU or GELU by tanh, in that order. A result of 16 bits that the operators round several times is
    rounded once. What does not fit keeps its own kernel. So does what has the library in a call where it is missing or
    returns an error: the operators stay.

    ```mlir
    %y = graph.group "transpose_matmul_add_relu" {
      %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
      %m = graph.matmul %x, %t {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
      %a = graph.add %m, %bias : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
      %r = graph.relu %a : tensor<4x16xf32>
      graph.yield %r : tensor<4x16xf32>
    } : tensor<4x16xf32>
    ```

    becomes, with `library=cublaslt groups=0 own-ns=12500 library-ns=9250`,

    ```mlir
    %y = graph.group "transpose_matmul_add_relu" {
      %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
      %m = graph.matmul %x, %t {acc = "float32", to = "float32"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
      %a = graph.add %m, %bias : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
      %r = graph.relu %a : tensor<4x16xf32>
      graph.yield %r : tensor<4x16xf32>
    } {library = #graph.library_matmul<library = cublaslt, a = 1, b = 0, b_order = [1, 0], bias = 2, epilogue = relu, own_ns = 12500, library_ns = 9250>} : tensor<4x16xf32>
    ```

    Without `groups`, all groups that the library computes get `library`, which is what can be measured.
  }];
  let options = [
    Option<"library", "library", "tilewright::graph::Library", /*default=*/"tilewright::graph::Library::CublasLt", "the library",
           [{::llvm::cl::values(clEnumValN(tilewright::graph::Library::CublasLt, "cublaslt", "NVIDIA's cuBLASLt"))}]>,
    ListOption<"groups", "groups", "int64_t", "the numbers of the groups, in their order">,
    ListOption<"ownNs", "own-ns", "int64_t", "how long each of them took by its own kernel, in nanoseconds">,
    ListOption<"libraryNs", "library-ns", "int64_t", "and by the library">
  ];
}

#endif // TILEWRIGHT_GRAPH_TO_GRAPH_PASSES
