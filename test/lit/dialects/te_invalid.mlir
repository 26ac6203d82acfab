// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'te.compute' op axis 'k': expected an extent of at least 0, got -1}}
  %C = te.compute "C" (%i: 4) sum (%k: -1) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'te.compute' op expected axes with different names, got 'i' twice}}
  %C = te.compute "C" (%i: 4) sum (%k as "i": 2) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{'te.compute' op expected results of rank 1, one dimension a spatial axis, got 'tensor<4x4xf32>'}}
  %C = te.compute "C" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4x4xf32>
  return %C : tensor<4x4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{'te.compute' op dimension 0 of the result: expected the extent of axis 'i', got 'tensor<5xf32>'}}
  %C = te.compute "C" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<5xf32>
  return %C : tensor<5xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'te.compute' op expected a combiner region with its identity exactly with 'reduce'}}
  %C = te.compute "C" (%i: 4) reduce (%k: 2) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @+1 {{'te.compute' op expected one result of 'sum', got 2}}
  %C, %D = te.compute "C" (%i: 4) sum (%k: 2) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a, %a : f32, f32
  } : tensor<4xf32>, tensor<4xf32>
  return %C, %D : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'te.compute' op expected one identity a result, 1, got 2}}
  %C = te.compute "C" (%i: 4) reduce (%k: 2) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } combine (%x: f32, %y: f32) identity [0.0 : f32, 0.0 : f32] {
    te.yield %x : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'te.compute' op expected an identity of type 'f32', got 0 : i32}}
  %C = te.compute "C" (%i: 4) reduce (%k: 2) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } combine (%x: f32, %y: f32) identity [0 : i32] {
    te.yield %x : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'te.compute' op expected a combiner on two elements of each result, got ('f32', 'f64')}}
  %C = te.compute "C" (%i: 4) reduce (%k: 2) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } combine (%x: f32, %y: f64) identity [0.0 : f32] {
    te.yield %x : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf64>) -> tensor<4xf32> {
  %C = te.compute "C" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf64>
    // expected-error @+1 {{'te.yield' op expected a value of type 'f32', got 'f64'}}
    te.yield %a : f64
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %C = te.compute "C" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    // expected-error @+1 {{'te.yield' op expected one value a result, 1, got 2}}
    te.yield %a, %a : f32, f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4x4xf32>) -> tensor<4xf32> {
  %C = te.compute "C" (%i: 4) {
    // expected-error @+1 {{'te.read' op expected 2 indices of 'tensor<4x4xf32>', got 1}}
    %a = te.read %A[%i] : tensor<4x4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @f(%A: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'te.read' op expected to stand inside te.compute}}
  %a = te.read %A[%c0] : tensor<4xf32>
  return %a : f32
}

// -----

func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %C = te.compute "C" (%i: 4) {
    // expected-error @+1 {{'te.read' op index 0 leaves the tensor: expected 0 to 3, got -1 to 2}}
    %a = te.read %A[%i - 1] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

// The steps of a scan from the second on.
func.func @f(%A: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %s = te.state "s" of "S" : tensor<3x4xf32>
  %S = te.compute "S" scan (%t: 3, %i: 4) {
    %c1 = arith.constant 1 : index
    %0 = arith.cmpi slt, %t, %c1 : index
    %1 = scf.if %0 -> (f32) {
      %2 = te.read %A[%t, %i] : tensor<1x4xf32>
      scf.yield %2 : f32
    } else {
      // expected-error @+1 {{'te.read' op index 1 leaves the tensor: expected 0 to 3, got 1 to 4}}
      %2 = te.read %s[%t - 1, %i + 1] : tensor<3x4xf32>
      scf.yield %2 : f32
    }
    te.yield %1 : f32
  } : tensor<3x4xf32>
  return %S : tensor<3x4xf32>
}

// -----

// Its first steps.
func.func @f(%A: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %S = te.compute "S" scan (%t: 3, %i: 4) {
    %c2 = arith.constant 2 : index
    %0 = arith.cmpi slt, %t, %c2 : index
    %1 = scf.if %0 -> (f32) {
      // expected-error @+1 {{'te.read' op index 0 leaves the tensor: expected 0 to 0, got 0 to 1}}
      %2 = te.read %A[%t, %i] : tensor<1x4xf32>
      scf.yield %2 : f32
    } else {
      %2 = te.previous 0 by 1 : f32
      scf.yield %2 : f32
    }
    te.yield %1 : f32
  } : tensor<3x4xf32>
  return %S : tensor<3x4xf32>
}

// -----

func.func @f(%A: tensor<?xf32>) -> tensor<4xf32> {
  %C = te.compute "C" (%i: 4) {
    // expected-error @+1 {{'te.read' op index 0 leaves the tensor: expected 0 to its extent, got -2 to 1}}
    %a = te.read %A[%i - 2] : tensor<?xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}

// -----

func.func @choice_in_combiner(%X: tensor<8xf32> {te.name = "X"}, %out: tensor<f32> {te.name = "Y", te.output}) -> tensor<f32> {
  %Y = te.compute "Y" () reduce (%k: 8) {
    %x = te.read %X[%k] : tensor<8xf32>
    te.yield %x : f32
  } combine (%a: f32, %b: f32) identity [0.0 : f32] {
    %c = arith.cmpf olt, %a, %b : f32
    // expected-error @+1 {{expected no choices between operations in the combiner of 'Y': threads that combine their parts take arith.select}}
    %r = scf.if %c -> (f32) {
      scf.yield %a : f32
    } else {
      scf.yield %b : f32
    }
    te.yield %r : f32
  } : tensor<f32>
  return %Y : tensor<f32>
}

// -----

func.func @f(%out: tensor<4xf32>) -> tensor<4xf32> {
  %Y = te.compute "Y" scan (%i: 4) {
    %S = te.state "S" of "Y" : tensor<4xf32>
    // expected-error @+1 {{'te.read' op expected to read a tensor that stands outside of the te.compute}}
    %x = te.read %S[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  return %Y : tensor<4xf32>
}
