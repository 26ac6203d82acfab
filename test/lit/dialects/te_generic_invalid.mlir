// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// What te's own syntax cannot write, the generic form can.

%x = arith.constant 1.0 : f32
// expected-error @below {{'te.compute' op expected at least one result}}
"te.compute"() <{name = "C", axes = ["i"], reduce_axes = [], static_extents = array<i64: 4>}> ({
^bb0(%i: index):
  "te.yield"() : () -> ()
}, {}) : () -> ()

// -----

%x = arith.constant 1.0 : f32
// expected-error @below {{'te.compute' op expected one extent an axis, 1, got 2}}
%C = "te.compute"() <{name = "C", axes = ["i"], reduce_axes = [], static_extents = array<i64: 4, 4>}> ({
^bb0(%i: index):
  "te.yield"(%x) : (f32) -> ()
}, {}) : () -> tensor<4xf32>

// -----

%x = arith.constant 1.0 : f32
// expected-error @below {{'te.compute' op expected 1 extent operands, got 0}}
%C = "te.compute"() <{name = "C", axes = ["i"], reduce_axes = [], static_extents = array<i64: -9223372036854775808>}> ({
^bb0(%i: index):
  "te.yield"(%x) : (f32) -> ()
}, {}) : () -> tensor<?xf32>

// -----

%x = arith.constant 1.0 : f32
// expected-error @below {{'te.compute' op expected a combiner exactly where there are reduction axes}}
%C = "te.compute"() <{name = "C", axes = ["i"], reduce_axes = ["k"], static_extents = array<i64: 4, 4>}> ({
^bb0(%i: index, %k: index):
  "te.yield"(%x) : (f32) -> ()
}, {}) : () -> tensor<4xf32>

// -----

%x = arith.constant 1.0 : f32
// expected-error @below {{'te.compute' op expected one index argument an axis, 1}}
%C = "te.compute"() <{name = "C", axes = ["i"], reduce_axes = [], static_extents = array<i64: 4>}> ({
^bb0(%i: index, %j: index):
  "te.yield"(%x) : (f32) -> ()
}, {}) : () -> tensor<4xf32>

// -----

// expected-error @below {{'te.compute' op expected the body to end with te.yield}}
%C = "te.compute"() <{name = "C", axes = ["i"], reduce_axes = [], static_extents = array<i64: 4>}> ({
^bb0(%i: index):
  "llvm.unreachable"() : () -> ()
}, {}) : () -> tensor<4xf32>

// -----

func.func @f(%A: tensor<4xf32>) {
  %C = te.compute "C" (%i: 4) {
    // expected-error @below {{'te.read' op expected an element of type 'f32', got 'f64'}}
    %a = "te.read"(%A, %i) <{map = affine_map<(d0) -> (d0)>}> : (tensor<4xf32>, index) -> f64
    te.yield %a : f64
  } : tensor<4xf64>
  return
}

// -----

func.func @f(%A: tensor<4xf32>) {
  %C = te.compute "C" (%i: 4) {
    // expected-error @below {{'te.read' op expected 1 index operands, got 2}}
    %a = "te.read"(%A, %i, %i) <{map = affine_map<(d0) -> (d0)>}> : (tensor<4xf32>, index, index) -> f32
    te.yield %a : f32
  } : tensor<4xf32>
  return
}
