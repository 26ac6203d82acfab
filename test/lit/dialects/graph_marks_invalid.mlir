// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// Attributes of the dialect graph on ops: one that is not known, on another op, or of another type.
func.func @unknown() {
  // expected-error @below {{'graph.weight' op expected an attribute that the dialect graph has for other dialects' ops, got "graph.magnitudes"}}
  %w = graph.weight "w" {graph.magnitudes = 1.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @on_definition() {
  // expected-error @below {{'arith.constant' op expected "graph.definition" on an operator}}
  %x = arith.constant {graph.definition = @f} 1.0 : f32
  return
}

// -----

func.func @type_of_definition(%x: tensor<4xf32>) {
  // expected-error @below {{'graph.relu' op expected "graph.definition" to be the name of a function, got "f"}}
  %y = graph.relu %x {graph.definition = "f"} : tensor<4xf32>
  return
}

// -----

func.func @on_magnitude() {
  // expected-error @below {{'arith.constant' op expected "graph.magnitude" on a matmul or a convolution}}
  %x = arith.constant {graph.magnitude = 1.0 : f64} 1.0 : f32
  return
}

// -----

func.func @type_of_magnitude(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) {
  // expected-error @below {{'graph.matmul' op expected "graph.magnitude" to be a float, got 1 : i64}}
  %y = graph.matmul %x, %w {acc = "float32", graph.magnitude = 1 : i64, to = "float32"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @on_quantized_from() {
  // expected-error @below {{'arith.constant' op expected "graph.quantized_from" on a weight (graph.weight)}}
  %x = arith.constant {graph.quantized_from = "w"} 1.0 : f32
  return
}

// -----

func.func @type_of_quantized_from() {
  // expected-error @below {{'graph.weight' op expected "graph.quantized_from" to be a string, got 1 : i64}}
  %w = graph.weight "w" {graph.quantized_from = 1 : i64} : tensor<4xf32>
  return
}

// -----

func.func @on_scale_axis() {
  // expected-error @below {{'arith.constant' op expected "graph.scale_axis" on a weight (graph.weight)}}
  %x = arith.constant {graph.scale_axis = 0 : i64} 1.0 : f32
  return
}

// -----

func.func @type_of_scale_axis() {
  // expected-error @below {{'graph.weight' op expected "graph.scale_axis" to be an i64 of at least -1, got -2 : i64}}
  %w = graph.weight "w" {graph.scale_axis = -2 : i64} : tensor<4xf32>
  return
}

// -----

func.func @on_group() {
  // expected-error @below {{'arith.constant' op expected "graph.group" on a weight (graph.weight)}}
  %x = arith.constant {graph.group = 32 : i64} 1.0 : f32
  return
}

// -----

func.func @type_of_group() {
  // expected-error @below {{'graph.weight' op expected "graph.group" to be an i64 of at least 1, got 0 : i64}}
  %w = graph.weight "w" {graph.group = 0 : i64} : tensor<4xf32>
  return
}

// -----

func.func @on_joined() {
  // expected-error @below {{'arith.constant' op expected "graph.joined" on a weight (graph.weight)}}
  %x = arith.constant {graph.joined = ["a", "b"]} 1.0 : f32
  return
}

// -----

func.func @type_of_joined() {
  // expected-error @below {{'graph.weight' op expected "graph.joined" to be an array of strings, got "a"}}
  %w = graph.weight "w" {graph.joined = "a"} : tensor<4xf32>
  return
}

// -----

func.func @on_joined_axis() {
  // expected-error @below {{'arith.constant' op expected "graph.joined_axis" on a weight (graph.weight)}}
  %x = arith.constant {graph.joined_axis = 0 : i64} 1.0 : f32
  return
}

// -----

func.func @type_of_joined_axis() {
  // expected-error @below {{'graph.weight' op expected "graph.joined_axis" to be an i64 of at least 0, got -1 : i64}}
  %w = graph.weight "w" {graph.joined_axis = -1 : i64} : tensor<4xf32>
  return
}

// -----

func.func @on_folded() {
  // expected-error @below {{'arith.constant' op expected "graph.folded" on a weight (graph.weight)}}
  %x = arith.constant {graph.folded = @graph.weights::@f} 1.0 : f32
  return
}

// -----

func.func @type_of_folded() {
  // expected-error @below {{'graph.weight' op expected "graph.folded" to be the name of a function, got "f"}}
  %w = graph.weight "w" {graph.folded = "f"} : tensor<4xf32>
  return
}

// -----

func.func @on_arena_bytes() {
  // expected-error @below {{'arith.constant' op expected "graph.arena_bytes" on a model's function}}
  %x = arith.constant {graph.arena_bytes = 64 : i64} 1.0 : f32
  return
}

// -----

// expected-error @below {{'func.func' op expected "graph.arena_bytes" to be an i64 of at least 0, got -1 : i64}}
func.func @type_of_arena_bytes() attributes {graph.arena_bytes = -1 : i64} {
  return
}

// -----

func.func @on_cuda_graph() {
  // expected-error @below {{'arith.constant' op expected "graph.cuda_graph" on a model's function}}
  %x = arith.constant {graph.cuda_graph} 1.0 : f32
  return
}

// -----

// expected-error @below {{'func.func' op expected "graph.cuda_graph" to be no value, got 2 : i64}}
func.func @type_of_cuda_graph() attributes {graph.cuda_graph = 2 : i64} {
  return
}

// -----

// expected-error @below {{'func.func' op argument #0: expected an attribute that the dialect graph has for arguments and results, got "graph.names"}}
func.func @names(%x: tensor<4xf32> {graph.names = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op argument #0: expected "graph.name" to be a string, got 1 : i64}}
func.func @names(%x: tensor<4xf32> {graph.name = 1 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op result #0: expected an attribute that the dialect graph has for arguments and results, got "graph.names"}}
func.func @names(%x: tensor<4xf32>) -> (tensor<4xf32> {graph.names = "x"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op result #0: expected "graph.name" to be a string, got 1 : i64}}
func.func @names(%x: tensor<4xf32>) -> (tensor<4xf32> {graph.name = 1 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'llvm.func' op result #0: expected graph.count on a result of a model's function}}
llvm.func @count_of_another_function() -> (i64 {graph.count})

// -----

// expected-error @below {{'func.func' op result #0: expected graph.count to be no value, got 1 : i64}}
func.func @type_of_count(%x: tensor<i64>) -> (tensor<i64> {graph.count = 1 : i64, graph.name = "n"}) {
  return %x : tensor<i64>
}

// -----

// expected-error @below {{'func.func' op result #0: expected 'tensor<i64>' for graph.count, got 'tensor<1xi64>'}}
func.func @vector_of_counts(%x: tensor<1xi64>) -> (tensor<1xi64> {graph.count, graph.name = "n"}) {
  return %x : tensor<1xi64>
}

// -----

// expected-error @below {{'func.func' op result #0: expected a symbol (graph.name) for graph.count}}
func.func @count_without_a_name(%x: tensor<i64>) -> (tensor<i64> {graph.count}) {
  return %x : tensor<i64>
}

// -----

// expected-error @below {{'func.func' op argument #0: expected an attribute that the dialect graph has for arguments and results, got "graph.count"}}
func.func @count_of_an_argument(%x: tensor<i64> {graph.count, graph.name = "n"}) -> tensor<i64> {
  return %x : tensor<i64>
}

// -----

// expected-error @below {{'llvm.func' op result #0: expected graph.order on a result of a model's function}}
llvm.func @order_of_another_function() -> (i64 {graph.order = array<i64: 0>})

// -----

// expected-error @below {{'func.func' op result #0: expected graph.order to be a permutation of the dimensions of 'tensor<4x2xf32>', got array<i64: 0, 0>}}
func.func @order_is_no_permutation(%x: tensor<4x2xf32>) -> (tensor<4x2xf32> {graph.order = array<i64: 0, 0>}) {
  return %x : tensor<4x2xf32>
}
