// RUN: tilewright-opt %s --verify-stage=stage=linalg -split-input-file -verify-diagnostics

// What may not stand at the stage linalg.
func.func @f(%A: tensor<8xf32>, %B: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  // expected-error @below {{stage linalg: expected no tensor expressions, got 'te.compute': run convert-te-to-linalg before}}
  %0 = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}
