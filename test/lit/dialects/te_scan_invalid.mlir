// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %C = te.compute "C" (%i: 4) {
    // expected-error @below {{'te.previous' op expected to stand inside te.compute with 'scan'}}
    %a = te.previous 0 by 1 : f32
    te.yield %a : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %C = te.compute "C" scan (%i: 4) {
    // expected-error @below {{'te.previous' op expected the number of a result, less than 1, got 1}}
    %a = te.previous 1 by 1 : f32
    te.yield %a : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %C = te.compute "C" scan (%i: 4) {
    // expected-error @below {{'te.previous' op expected an earlier step, at least 1 before, got 0}}
    %a = te.previous 0 by 0 : f32
    te.yield %a : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %C = te.compute "C" scan (%i: 4) {
    // expected-error @below {{'te.previous' op expected an element of type 'f32', got 'f64'}}
    %a = te.previous 0 by 1 : f64
    %b = arith.truncf %a : f64 to f32
    te.yield %b : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'te.compute' op scan: expected a first axis that gives the order, and no reduction, got 1 spatial and 1 reduction axes}}
  %C = te.compute "C" scan (%i: 4) sum (%k: 2) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}
