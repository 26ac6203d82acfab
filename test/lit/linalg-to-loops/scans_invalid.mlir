// What is wrong with stages in the steps of a scan.
// RUN: tilewright-opt %s --convert-te-to-linalg --apply-schedule --split-input-file --verify-diagnostics

// A step that reads its own, and one of the steps to come.
func.func @f(%X: tensor<5x4xf32> {te.name = "X"}, %out: tensor<5x4xf32> {te.name = "S", te.output}) -> tensor<5x4xf32> {
  %state = te.state "state" of "S" : tensor<5x4xf32>
  // expected-error @below {{stage 'total': expected to read 'S' in the steps of scan 'S' at earlier steps, got others}}
  %total = te.compute "total" (%t: 4) sum (%k: 4) {
    %x = te.read %state[%t + 1, %k] : tensor<5x4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4) {
    %c1 = arith.constant 1 : index
    %begins = arith.cmpi slt, %t, %c1 : index
    %s = scf.if %begins -> f32 {
      %x = te.read %X[%t, %i] : tensor<5x4xf32>
      scf.yield %x : f32
    } else {
      %x = te.read %total[%t - 1] : tensor<4xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4xf32>
  return %S : tensor<5x4xf32>
}

// -----

// Updates that go different numbers of steps.
func.func @f(%X: tensor<5x4xf32> {te.name = "X"}, %out: tensor<5x4xf32> {te.name = "S", te.output}) -> tensor<5x4xf32> {
  %state = te.state "state" of "S" : tensor<5x4xf32>
  %other = te.state "other" of "T" : tensor<6xf32>
  %total = te.compute "total" (%t: 4) {
    %x = te.read %state[%t, 0] : tensor<5x4xf32>
    %y = te.read %other[%t] : tensor<6xf32>
    %z = arith.addf %x, %y : f32
    te.yield %z : f32
  } : tensor<4xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4) {
    %c1 = arith.constant 1 : index
    %begins = arith.cmpi slt, %t, %c1 : index
    %s = scf.if %begins -> f32 {
      %x = te.read %X[%t, %i] : tensor<5x4xf32>
      scf.yield %x : f32
    } else {
      %x = te.read %total[%t - 1] : tensor<4xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4xf32>
  // expected-error @below {{scan 'T': expected as many steps as 'S' has, for they are computed together, got another number}}
  %T = te.compute "T" scan (%t: 6) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi eq, %t, %c0 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %total[%t - 1] : tensor<4xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<6xf32>
  return %S : tensor<5x4xf32>
}

