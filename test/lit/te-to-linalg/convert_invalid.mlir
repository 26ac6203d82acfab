// RUN: tilewright-opt %s -convert-te-to-linalg -split-input-file -verify-diagnostics

func.func @reads_output(%X: tensor<4xf32>, %out: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %Y = te.compute "Y" (%i: 4) {
    // expected-error@+1 {{'te.read' op expected to read a computed tensor or an input, got output argument 1}}
    %x = te.read %out[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  return %Y : tensor<4xf32>
}

// -----

func.func @unmarked(%X: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %Y = te.compute "Y" (%i: 4) {
    %x = te.read %X[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  // expected-error@+1 {{'func.return' op expected one value an output argument, 0, got 1}}
  return %Y : tensor<4xf32>
}

// -----

func.func @input(%X: tensor<4xf32>, %o0: tensor<4xf32> {te.output}, %o1: tensor<4xf32> {te.output})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %Y = te.compute "Y" (%i: 4) {
    %x = te.read %X[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  // expected-error@+1 {{'func.return' op output 1: expected the result of a te.compute or te.extern, got another value}}
  return %Y, %X : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @type(%X: tensor<4xf32>, %out: tensor<?xf32> {te.output}) -> tensor<4xf32> {
  %Y = te.compute "Y" (%i: 4) {
    %x = te.read %X[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  // expected-error@+1 {{'func.return' op output 0: expected the type of its argument, 'tensor<?xf32>', got 'tensor<4xf32>'}}
  return %Y : tensor<4xf32>
}

// -----

func.func @twice(%X: tensor<4xf32>, %o0: tensor<4xf32> {te.output}, %o1: tensor<4xf32> {te.output})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %Y = te.compute "Y" (%i: 4) {
    %x = te.read %X[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  // expected-error@+1 {{'func.return' op output 1: expected outputs that differ, got one tensor twice}}
  return %Y, %Y : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @extern_reads_output(%out: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %i0 = tensor.empty() : tensor<4xf32>
  // expected-error@+1 {{'te.extern' op expected to read a computed tensor or an input, got output argument 0}}
  %C = te.extern "C" ins(%a = %out : tensor<4xf32>) outs(%c = %i0 : tensor<4xf32>) {
  }
  return %C : tensor<4xf32>
}

// -----

func.func @state_of_none(%out: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  // expected-error@+1 {{'te.state' op expected the name of a te.compute with 'scan' and one result, got 'Y'}}
  %S = te.state "S" of "Y" : tensor<4xf32>
  %Y = te.compute "Y" (%i: 4) {
    %x = te.read %S[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  return %Y : tensor<4xf32>
}

// -----

func.func @state_of_another_type(%out: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  // expected-error@+1 {{'te.state' op expected the type of what 'Y' computes, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %S = te.state "S" of "Y" : tensor<5xf32>
  %Y = te.compute "Y" scan (%i: 4) {
    %x = te.read %S[%i] : tensor<5xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  return %Y : tensor<4xf32>
}

// -----

func.func @two_states(%X: tensor<4xf32>, %out: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %S = te.state "S" of "Y" : tensor<4xf32>
  // expected-error@+1 {{'te.state' op expected one state of 'Y', got several}}
  %T = te.state "T" of "Y" : tensor<4xf32>
  %Y = te.compute "Y" scan (%i: 4) {
    %x = te.read %S[%i] : tensor<4xf32>
    %y = te.read %T[%i] : tensor<4xf32>
    %z = arith.addf %x, %y : f32
    te.yield %z : f32
  } : tensor<4xf32>
  %Z = te.compute "Z" (%i: 4) {
    %x = te.read %Y[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  return %Z : tensor<4xf32>
}
