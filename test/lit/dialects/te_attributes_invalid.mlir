// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// Attributes of the dialect te on arguments and on ops of other dialects.
// expected-error @below {{'func.func' op argument #0: expected an attribute that the dialect te has for arguments, got "te.nome"}}
func.func private @f(tensor<?x4xf32> {te.nome = "A"})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.name" to be a string, got 1 : i64}}
func.func private @f(tensor<?x4xf32> {te.name = 1})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.dtype" to be the type of an element that DLPack has, got "float32"}}
func.func private @f(tensor<?x4xf32> {te.dtype = "float32"})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.output" to be no value, got 1 : i64}}
func.func private @f(tensor<?x4xf32> {te.output = 1})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.optional" to be no value, got 1 : i64}}
func.func private @f(tensor<?x4xf32> {te.optional = 1})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.pointer" to be no value, got 1 : i64}}
func.func private @f(tensor<?x4xf32> {te.pointer = 1})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.given" to be an i64 of at least 0, got -1 : i64}}
func.func private @f(i1 {te.given = -1})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.default" to be an f64 or an i64, got "1"}}
func.func private @f(i32 {te.default = "1"})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.align" to be an i64 that is a power of two, got 12 : i64}}
func.func private @f(tensor<?x4xf32> {te.align = 12})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.groups" to be an array of dictionaries, got ["g"]}}
func.func private @f(tensor<?x4xf32> {te.groups = ["g"]})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.symbols" to be an array of strings, got [4]}}
func.func private @f(tensor<?x4xf32> {te.symbols = [4]})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.symbols" to have an element for each of 2 dimensions, got 1}}
func.func private @f(tensor<?x4xf32> {te.symbols = ["n"]})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.divisible_by" to be an array<i64: ...> of numbers of at least 1, got array<i64: 0, 1>}}
func.func private @f(tensor<?x4xf32> {te.divisible_by = array<i64: 0, 1>})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.minimum" to be an array<i64: ...>, got 2 : i64}}
func.func private @f(tensor<?x4xf32> {te.minimum = 2})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.maximum" to have an element for each of 2 dimensions, got 1}}
func.func private @f(tensor<?x4xf32> {te.maximum = array<i64: 2>})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.strides" to be an array<i64: ...> of numbers of at least -1, got array<i64: -2, 1>}}
func.func private @f(tensor<?x4xf32> {te.strides = array<i64: -2, 1>})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.stride_symbols" to be an array of strings, got "s"}}
func.func private @f(tensor<?x4xf32> {te.stride_symbols = "s"})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.stride_divisible_by" to be an array<i64: ...> of numbers of at least 1, got array<i64: 0, 1>}}
func.func private @f(tensor<?x4xf32> {te.stride_divisible_by = array<i64: 0, 1>})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.stride_minimum" to be an array<i64: ...> of numbers of at least 0, got array<i64: -1, 1>}}
func.func private @f(tensor<?x4xf32> {te.stride_minimum = array<i64: -1, 1>})

// -----

// expected-error @below {{'func.func' op argument #0: expected "te.stride_maximum" to be an array<i64: ...> of numbers of at least 0, got array<i64: -1, 1>}}
func.func private @f(tensor<?x4xf32> {te.stride_maximum = array<i64: -1, 1>})

// -----

func.func @unknown() {
  // expected-error @below {{'memref.alloc' op expected an attribute that the dialect te has for other dialects' ops, got "te.stag"}}
  %0 = memref.alloc() {te.stag = "A"} : memref<8xf32>
  return
}

// -----

func.func @stage() {
  // expected-error @below {{'memref.alloca' op expected "te.stage" to be a string, got 2 : i64}}
  %0 = memref.alloca() {te.stage = 2} : memref<8xf32>
  return
}

// -----

func.func @no_buffer() {
  // expected-error @below {{'arith.constant' op expected "te.stage" on an op of linalg or tile, or one that makes a buffer}}
  %x = arith.constant {te.stage = "A"} 1.0 : f32
  return
}

// -----

func.func @axes() {
  // expected-error @below {{'memref.alloc' op expected "te.axes" on an op of linalg with te.stage}}
  %0 = memref.alloc() {te.axes = ["i"]} : memref<8xf32>
  return
}

// -----

func.func @scan() {
  // expected-error @below {{'memref.alloc' op expected "te.scan" on an op of linalg with te.stage or a loop}}
  %0 = memref.alloc() {te.scan} : memref<8xf32>
  return
}

// -----

func.func @combine() {
  // expected-error @below {{'memref.alloc' op expected "te.combine" on an op without effects on memory}}
  %0 = memref.alloc() {te.combine = array<i64>} : memref<8xf32>
  return
}

// -----

func.func @name() {
  // expected-error @below {{'arith.constant' op expected "te.name" on an argument or an op that makes a buffer}}
  %x = arith.constant {te.name = "A"} 1.0 : f32
  return
}

// -----

func.func @extern_value() {
  // expected-error @below {{'memref.alloc' op expected "te.extern" to be a string, got unit}}
  %0 = memref.alloc() {te.extern} : memref<8xf32>
  return
}

// -----

func.func @extern() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @below {{'memref.alloc' op expected "te.extern" on an op of a function's body, a launch or a kernel}}
    %0 = memref.alloc() {te.extern = "E"} : memref<8xf32>
  }
  return
}

// -----

func.func @names(%A: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'linalg.generic' op expected 'te.axes' to name the 1 iterators, got 2 names}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%A : tensor<8xf32>) outs(%out : tensor<8xf32>) attrs = {te.stage = "C", te.axes = ["i", "j"]} {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @operands(%A: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%A : tensor<8xf32>) outs(%out : tensor<8xf32>) attrs = {te.stage = "C"} {
  ^bb0(%a: f32, %o: f32):
    // expected-error @below {{'arith.addf' op expected 'te.combine' to have the number of an element or -1 for each of 2 operands, got array<i64: 0>}}
    %s = arith.addf %a, %o {te.combine = array<i64: 0>} : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
