// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected one symbol a dimension, 2, got 1}}
func.func private @f(%x: tensor<?x4xf32, #graph.extents<"n">>)

// -----

// expected-error @+1 {{dimension 0: expected a symbol, got ''}}
func.func private @f(%x: tensor<?x4xf32, #graph.extents<"", "">>)

// -----

// expected-error @+1 {{dimension 1: expected no symbol, got 'm'}}
func.func private @f(%x: tensor<?x4xf32, #graph.extents<"n", "m">>)

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @+1 {{'graph.add' op expected operands of one element type, got 'f32' and 'f16'}}
  %c = graph.add %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'graph.add' op expected a result of element type 'f32', got 'f16'}}
  %c = graph.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'graph.mul' op expected a result of rank 1, got 'tensor<1x4xf32>'}}
  %c = graph.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'graph.less' op operand 1, dimension 0: expected 1 or 4, got 3}}
  %c = graph.less %a, %b : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @+1 {{'graph.where' op expected values of one element type, got 'f32' and 'f16'}}
  %d = graph.where %c, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reshape' op expected a shape of 1 extents, got 2}}
  %y = graph.reshape %x {shape = [3, 2]} : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reshape' op expected a shape of 6 elements, got 5}}
  %y = graph.reshape %x {shape = [5]} : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op expected a permutation of 2 dimensions, got [0, 0]}}
  %y = graph.transpose %x {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.transpose' op dimension 0: expected 3, got 'tensor<2x3xf32>'}}
  %y = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'graph.concat' op expected at least one operand}}
  %y = graph.concat {axis = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'graph.concat' op expected an axis from 0 to 0, got 1}}
  %y = graph.concat %x {axis = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'graph.concat' op operand 0: expected rank 2, got 1}}
  %y = graph.concat %x {axis = 0 : i64} : (tensor<2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'graph.concat' op dimension 0: expected 4, got 5}}
  %y = graph.concat %x, %x {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.slice' op expected 2 starts, steps and sizes, got 1, 2 and 2}}
  %y = graph.slice %x {starts = [0], steps = array<i64: 1, 1>, sizes = [2, 3]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %i: tensor<4xi64>) {
  // expected-error @+1 {{'graph.gather' op expected an axis from 0 to 1, got 2}}
  %y = graph.gather %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce_sum' op expected axes from 0 to 1, got 2}}
  %y = graph.reduce_sum %x {axes = array<i64: 2>, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reduce_max' op expected a result of rank 2, got 'tensor<2xf32>'}}
  %y = graph.reduce_max %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'graph.matmul' op expected operands of rank 2 at least, got 'tensor<3xf32>' and 'tensor<3x4xf32>'}}
  %y = graph.matmul %a, %b {acc = "float32", to = "float32"} : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{'graph.matmul' op expected as many rows of b as columns of a, 3, got 4}}
  %y = graph.matmul %a, %b {acc = "float32", to = "float32"} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8xf32>, %w: tensor<4x3xf32>) {
  // expected-error @+1 {{'graph.conv' op expected x and w of one rank, 3 at least, got 'tensor<1x3x8xf32>' and 'tensor<4x3xf32>'}}
  %y = graph.conv %x, %w {strides = array<i64: 1>, before = array<i64: 0>, after = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64, acc = "float32", to = "float32"} : (tensor<1x3x8xf32>, tensor<4x3xf32>) -> tensor<1x4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op strides: expected one number a spatial dimension, 1, got 2}}
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, before = array<i64: 0>, after = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64, acc = "float32", to = "float32"} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op expected x to have 6 channels, got 3}}
  %y = graph.conv %x, %w {strides = array<i64: 1>, before = array<i64: 0>, after = array<i64: 0>, dilations = array<i64: 1>, groups = 2 : i64, acc = "float32", to = "float32"} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.group' op expected results of the types that are yielded, ('tensor<4xf32>'), got ('tensor<5xf32>')}}
  %y = graph.group "g" {
    graph.yield %x : tensor<4xf32>
  } : tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.group' op ends: expected one text a result, 1, got 2}}
  %y = graph.group "g" {
    graph.yield %x : tensor<4xf32>
  } {ends = ["a", "b"]} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.group' op offsets: expected one number a result, 1, got 0}}
  %y = graph.group "g" {
    graph.yield %x : tensor<4xf32>
  } {offsets = array<i64>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.group' op expected to end with graph.yield}}
  %y = graph.group "g" {
    llvm.unreachable
  } : tensor<4xf32>
  return
}

// -----

func.func @empty_group(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.group' op expects a non-empty block}}
  %y = "graph.group"() <{root = "relu"}> ({
  ^bb0:
  }) : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %k: tensor<2x5x8xf32>) {
  // expected-error @+1 {{'graph.attention' op expected q, k and v of one rank, 2 at least, got 'tensor<5x8xf32>', 'tensor<2x5x8xf32>' and 'tensor<2x5x8xf32>'}}
  %y = graph.attention %q, %k, %k {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %k: tensor<5x8xf16>) {
  // expected-error @+1 {{'graph.attention' op expected q, k and v of one element type, got 'f32', 'f16' and 'f16'}}
  %y = graph.attention %q, %k, %k {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<5x8xf32>, tensor<5x8xf16>, tensor<5x8xf16>) -> tensor<5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %k: tensor<5x4xf32>) {
  // expected-error @+1 {{'graph.attention' op expected q and k of one width, got 8 and 4}}
  %y = graph.attention %q, %k, %k {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %v: tensor<6x8xf32>) {
  // expected-error @+1 {{'graph.attention' op expected as many keys as values, got 5 and 6}}
  %y = graph.attention %q, %q, %v {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %k: tensor<5x4xf32>) {
  // expected-error @+1 {{'graph.attention_with_logarithms' op expected q and k of one width, got 8 and 4}}
  %y, %l = graph.attention_with_logarithms %q, %k, %k {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<5xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>) {
  // expected-error @+1 {{'graph.attention_with_logarithms' op expected a logarithm for each row of the result, got 'tensor<4xf32>' for 'tensor<5x8xf32>'}}
  %y, %l = graph.attention_with_logarithms %q, %q, %q {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %m: tensor<5x5xi1>) {
  // expected-error @+1 {{'graph.attention_with_logarithms' op expected a mask at most, got 2 operands}}
  %y, %l = graph.attention_with_logarithms %q, %q, %q, %m, %m {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x5xi1>, tensor<5x5xi1>) -> (tensor<5x8xf32>, tensor<5xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %s: tensor<i32>) {
  // expected-error @+1 {{'graph.attention_with_logarithms' op expected a dropout_p between 0 and 1, got 1.000000e+00}}
  %y, %l = graph.attention_with_logarithms %q, %q, %q, %s {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64, dropout_p = 1.0 : f64} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<i32>) -> (tensor<5x8xf32>, tensor<5xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %m: tensor<5x5xi1>) {
  // expected-error @+1 {{'graph.attention_with_logarithms' op expected a seed of i32 as the last operand, for its dropout_p, got 'tensor<5x5xi1>'}}
  %y, %l = graph.attention_with_logarithms %q, %q, %q, %m {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64, dropout_p = 0.5 : f64} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x5xi1>) -> (tensor<5x8xf32>, tensor<5xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %s: tensor<i32>) {
  // expected-error @+1 {{'graph.attention_with_logarithms' op expected a seed of i32 as the last operand, for its dropout_p}}
  %y, %l = graph.attention_with_logarithms %q, %q, %q {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64, dropout_p = 0.5 : f64} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %m: tensor<5x5xi1>, %s: tensor<i32>) {
  // expected-error @+1 {{'graph.attention_with_logarithms' op expected a mask and a seed at most, got 3 operands}}
  %y, %l = graph.attention_with_logarithms %q, %q, %q, %m, %m, %s {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64, dropout_p = 0.5 : f64} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x5xi1>, tensor<5x5xi1>, tensor<i32>) -> (tensor<5x8xf32>, tensor<5xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %l: tensor<5xf32>, %h: tensor<5x8xf16>) {
  // expected-error @+1 {{'graph.attention_gradients' op expected a head of the result's type, got 'tensor<5x8xf16>' and 'tensor<5x8xf32>'}}
  %g = graph.attention_gradients %h, %q, %q, %q, %q, %l {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64, wanted = array<i64: 0>, deterministic = true} : (tensor<5x8xf16>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5xf32>) -> (tensor<5x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %l: tensor<5xf32>) {
  // expected-error @+1 {{'graph.attention_gradients' op expected wanted of ascending numbers below 3, got 3 behind 1}}
  %g:2 = graph.attention_gradients %q, %q, %q, %q, %q, %l {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64, wanted = array<i64: 1, 3>, deterministic = true} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5xf32>) -> (tensor<5x8xf32>, tensor<5x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %l: tensor<5xf32>, %m: tensor<5x5xi1>) {
  // expected-error @+1 {{'graph.attention_gradients' op expected wanted of ascending numbers below 3, got 3 behind -1}}
  %g = graph.attention_gradients %q, %q, %q, %q, %q, %l, %m {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64, wanted = array<i64: 3>, deterministic = true} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5xf32>, tensor<5x5xi1>) -> (tensor<5x5xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %l: tensor<5xf32>) {
  // expected-error @+1 {{'graph.attention_gradients' op expected a result for each that is wanted, and one at least, got 1 for 2}}
  %g = graph.attention_gradients %q, %q, %q, %q, %q, %l {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64, wanted = array<i64: 0, 2>, deterministic = true} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5xf32>) -> (tensor<5x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<5x8xf32>, %l: tensor<5xf32>) {
  // expected-error @+1 {{'graph.attention_gradients' op expected a gradient of its operand's type, got 'tensor<5x8xf16>' and 'tensor<5x8xf32>'}}
  %g = graph.attention_gradients %q, %q, %q, %q, %q, %l {scale = 1.0 : f64, before = -1 : i64, behind = -1 : i64, offset = 0 : i64, softcap = 0.0 : f64, wanted = array<i64: 2>, deterministic = true} : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5xf32>) -> (tensor<5x8xf16>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<4xf32>, %z: tensor<8xi8>) {
  // expected-error @+1 {{'graph.quantize' op expected a zero of one element or of the shape of scale, got 'tensor<4xf32>' and 'tensor<8xi8>'}}
  %y = graph.quantize %x, %s, %z {axis = 0 : i64, block = 0 : i64, to = "int8"} : (tensor<4x8xf32>, tensor<4xf32>, tensor<8xi8>) -> tensor<4x8xi8>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<4xf32>, %z: tensor<i8>) {
  // expected-error @+1 {{'graph.quantize' op expected an axis below 2, got 2}}
  %y = graph.quantize %x, %s, %z {axis = 2 : i64, block = 0 : i64, to = "int8"} : (tensor<4x8xf32>, tensor<4xf32>, tensor<i8>) -> tensor<4x8xi8>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<4x2xf32>, %z: tensor<i8>) {
  // expected-error @+1 {{'graph.quantize' op expected scales of one dimension, got 'tensor<4x2xf32>'}}
  %y = graph.quantize %x, %s, %z {axis = 0 : i64, block = 0 : i64, to = "int8"} : (tensor<4x8xf32>, tensor<4x2xf32>, tensor<i8>) -> tensor<4x8xi8>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<4xf32>, %z: tensor<i8>) {
  // expected-error @+1 {{'graph.quantize' op expected scales of the rank of x, got 'tensor<4xf32>'}}
  %y = graph.quantize %x, %s, %z {axis = 0 : i64, block = 2 : i64, to = "int8"} : (tensor<4x8xf32>, tensor<4xf32>, tensor<i8>) -> tensor<4x8xi8>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<4xf32>, %z: tensor<i8>) {
  // expected-error @+1 {{'graph.quantize' op expected 8 scales along axis 1, got 4}}
  %y = graph.quantize %x, %s, %z {axis = 1 : i64, block = 0 : i64, to = "int8"} : (tensor<4x8xf32>, tensor<4xf32>, tensor<i8>) -> tensor<4x8xi8>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<4x4xf32>, %z: tensor<i8>) {
  // expected-error @+1 {{'graph.quantize' op expected 2 scales along axis 1, got 4}}
  %y = graph.quantize %x, %s, %z {axis = 1 : i64, block = 4 : i64, to = "int8"} : (tensor<4x8xf32>, tensor<4x4xf32>, tensor<i8>) -> tensor<4x8xi8>
  return
}
