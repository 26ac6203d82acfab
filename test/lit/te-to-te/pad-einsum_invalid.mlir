// RUN: tilewright-opt %s --rewrite-scheduled-dataflow --split-input-file --verify-diagnostics

func.func @f(%A: tensor<6x5xf32> {te.name = "A"}, %out: tensor<6xf32> {te.name = "C", te.output}) -> tensor<6xf32> {
  %C = te.compute "C" (%i: 6) sum (%k: 5) {
    %a = te.read %A[%i, %k] : tensor<6x5xf32>
    te.yield %a : f32
  } : tensor<6xf32>
  return %C : tensor<6xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.pad_einsum' op expected names of their own, got 'A', which another tensor has}}
  %0, %1 = schedule.pad_einsum %C by [4, 4] as ["A", "C.pad"] : !schedule.stage, !schedule.stage
}

// -----

func.func @f(%A: tensor<6x5xf32> {te.name = "A"}, %out: tensor<6xf32> {te.name = "C", te.output}) -> tensor<6xf32> {
  %C = te.compute "C" (%i: 6) sum (%k: 5) {
    %a = te.read %A[%i, %k] : tensor<6x5xf32>
    te.yield %a : f32
  } : tensor<6xf32>
  return %C : tensor<6xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  // expected-error @below {{'schedule.pad_einsum' op expected the name of a stage, got 'D'}}
  %0, %1 = schedule.pad_einsum %D by [4, 4] as ["A.pad", "C.pad"] : !schedule.stage, !schedule.stage
}

// -----

func.func @f(%A: tensor<6x5xf32> {te.name = "A"}, %out: tensor<6xf32> {te.name = "C", te.output}) -> tensor<6xf32> {
  %C = te.compute "C" (%i: 6) sum (%k: 5) {
    %a = te.read %A[%i, %k] : tensor<6x5xf32>
    te.yield %a : f32
  } : tensor<6xf32>
  return %C : tensor<6xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.pad_einsum' op stage 'C': expected a number for each axis, 2, got 1}}
  %0, %1 = schedule.pad_einsum %C by [4] as ["A.pad", "C.pad"] : !schedule.stage, !schedule.stage
}

// -----

func.func @f(%A: tensor<6x5xf32> {te.name = "A"}, %out: tensor<6xf32> {te.name = "C", te.output}) -> tensor<6xf32> {
  %C = te.compute "C" (%i: 6) sum (%k: 5) {
    %a = te.read %A[%i, %k] : tensor<6x5xf32>
    te.yield %a : f32
  } : tensor<6xf32>
  return %C : tensor<6xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.pad_einsum' op stage 'C': expected 2 names, of a stage for each tensor read and of the sum, got 1}}
  %0 = schedule.pad_einsum %C by [4, 4] as ["C.pad"] : !schedule.stage
}

// -----

func.func @f(%A: tensor<6x6xf32> {te.name = "A"}, %out: tensor<6xf32> {te.name = "C", te.output}) -> tensor<6xf32> {
  %C = te.compute "C" (%i: 6) sum (%k: 5) {
    // expected-note @below {{read here}}
    %a = te.read %A[%i, %k + 1] : tensor<6x6xf32>
    te.yield %a : f32
  } : tensor<6xf32>
  return %C : tensor<6xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.pad_einsum' op stage 'C': expected reads at axes, each once, got other indices}}
  %0, %1 = schedule.pad_einsum %C by [4, 4] as ["A.pad", "C.pad"] : !schedule.stage, !schedule.stage
}

// -----

func.func @f(%A: tensor<6x6xf32> {te.name = "A"}, %out: tensor<6xf32> {te.name = "C", te.output}) -> tensor<6xf32> {
  %C = te.compute "C" (%i: 6) sum (%k: 6) {
    %a = te.read %A[%i, %k] : tensor<6x6xf32>
    %b = te.read %A[%k, %i] : tensor<6x6xf32>
    %ab = arith.mulf %a, %b : f32
    te.yield %ab : f32
  } : tensor<6xf32>
  return %C : tensor<6xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.pad_einsum' op stage 'C': expected each tensor to be read at one place, got a tensor read at two}}
  %0, %1 = schedule.pad_einsum %C by [4, 4] as ["A.pad", "C.pad"] : !schedule.stage, !schedule.stage
}

// -----

func.func @f(%A: tensor<6xf32> {te.name = "A"}, %out: tensor<6xf32> {te.name = "C", te.output}) -> tensor<6xf32> {
  %C = te.compute "C" (%i: 6) {
    %a = te.read %A[%i] : tensor<6xf32>
    te.yield %a : f32
  } : tensor<6xf32>
  return %C : tensor<6xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.pad_einsum' op stage 'C': expected a contraction, got no reduction}}
  %0, %1 = schedule.pad_einsum %C by [4] as ["A.pad", "C.pad"] : !schedule.stage, !schedule.stage
}

// -----

func.func @main(%arg0: tensor<61x50xf32> {te.name = "A"}) -> tensor<4xf32> {
  %F = te.compute "F" (%i: 4) sum (%k: 50) {
    %0 = te.read %arg0[%i, %k] : tensor<61x50xf32>
    %cst = arith.constant 1.000000e+00 : f32
    %1 = arith.addf %0, %cst : f32
    te.yield %1 : f32
  } : tensor<4xf32>
  return %F : tensor<4xf32>
}
schedule.of @main {
  %F = schedule.stage "F"
  // expected-error @below {{'schedule.pad_einsum' op stage 'F': expected a contraction of elements, got 'arith.addf'}}
  %A_pad, %F_pad = schedule.pad_einsum %F by [16, 8] as ["A.pad", "F.pad"] : !schedule.stage, !schedule.stage
}

// -----

func.func @main(%arg0: tensor<4xf32> {te.name = "x"}, %arg1: tensor<4x5xf32> {te.name = "A"}) -> tensor<4xf32> {
  %C = te.compute "C" (%i: 4) sum (%k: 5) {
    %0 = te.read %arg0[%i] : tensor<4xf32>
    %1 = te.read %arg1[%i, %k] : tensor<4x5xf32>
    %2 = arith.mulf %0, %1 : f32
    te.yield %2 : f32
  } : tensor<4xf32>
  return %C : tensor<4xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.pad_einsum' op stage 'C': expected all that is multiplied to have the reduction axis 'k', which grows from 5 to 8, got an operand without}}
  %x_pad, %A_pad, %C_pad = schedule.pad_einsum %C by [1, 4] as ["x.pad", "A.pad", "C.pad"] : !schedule.stage, !schedule.stage, !schedule.stage
}

// -----

func.func @main(%arg0: tensor<61x50xf32> {te.name = "A"}) -> tensor<4xf32> {
  %F = te.compute "F" (%i: 4) max (%k: 50) {
    %0 = te.read %arg0[%i, %k] : tensor<61x50xf32>
    te.yield %0 : f32
  } : tensor<4xf32>
  return %F : tensor<4xf32>
}
schedule.of @main {
  %F = schedule.stage "F"
  // expected-error @below {{'schedule.pad_einsum' op stage 'F': expected a contraction, got another reduction}}
  %A_pad, %F_pad = schedule.pad_einsum %F by [16, 8] as ["A.pad", "F.pad"] : !schedule.stage, !schedule.stage
}
