// RUN: tilewright-opt %s -split-input-file -verify-diagnostics --rewrite-scheduled-dataflow

func.func @cached(%A: tensor<4xf32> {te.name = "A"}, %o: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %C = te.extern "C" ins(%a = %A : tensor<4xf32>) outs(%c = %o : tensor<4xf32>) {
  }
  return %C : tensor<4xf32>
}
schedule.of @cached {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.cache_read' op expected a stage with loops of its own, got the extern 'C', whose statements say how it is computed}}
  %S = schedule.cache_read "A" in <shared> for %C as "S"
}

// -----

func.func @inlined(%A: tensor<4xf32> {te.name = "A"}, %o: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %x = te.read %A[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  %C = te.extern "C" ins(%b = %B : tensor<4xf32>) outs(%c = %o : tensor<4xf32>) {
  }
  return %C : tensor<4xf32>
}
schedule.of @inlined {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.compute_inline' op expected a stage whose elements are read at indices, got stage 'B', whose tensor the extern 'C' reads}}
  schedule.compute_inline %B
}

// -----

func.func @reverse(%A: tensor<4xf32> {te.name = "A"}, %o0: tensor<4xf32> {te.output}, %o1: tensor<4xf32> {te.output}) -> (tensor<4xf32>, tensor<4xf32>) {
  %B = te.compute "B" (%i: 4) {
    %x = te.read %A[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  %D = te.compute "D" (%i: 4) {
    %x = te.read %B[%i] : tensor<4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  %C = te.extern "C" ins(%b = %B : tensor<4xf32>) outs(%c = %o1 : tensor<4xf32>) {
  }
  return %D, %C : tensor<4xf32>, tensor<4xf32>
}
schedule.of @reverse {
  %B = schedule.stage "B"
  %D = schedule.stage "D"
  // expected-error @below {{'schedule.reverse_compute_inline' op expected the only reader of stage 'B', got another, the extern 'C'}}
  schedule.reverse_compute_inline %D into %B
}
