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

func.func @f(%A: tensor<?x5xf32> {te.name = "A", te.symbols = ["n", ""]}, %out: tensor<?xf32> {te.name = "C", te.symbols = ["n"], te.output}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : tensor<?x5xf32>
  %C = te.compute "C" (%i: %n) sum (%k: 5) {
    %a = te.read %A[%i, %k] : tensor<?x5xf32>
    te.yield %a : f32
  } : tensor<?xf32>
  return %C : tensor<?xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.pad_einsum' op stage 'C': expected constant extents, got a symbolic one of axis 'i'}}
  %0, %1 = schedule.pad_einsum %C by [4, 4] as ["A.pad", "C.pad"] : !schedule.stage, !schedule.stage
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
  // expected-error @below {{'schedule.pad_einsum' op stage 'C': expected a sum of products, got no reduction}}
  %0, %1 = schedule.pad_einsum %C by [4] as ["A.pad", "C.pad"] : !schedule.stage, !schedule.stage
}
