// RUN: tilewright-opt %s --vectorize-linalg-loops --split-input-file --verify-diagnostics

func.func @tensors(%A: tensor<8xf32>, %B: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'linalg.exp' op expected operands that are memrefs, got tensors}}
  %C = linalg.exp ins(%A : tensor<8xf32>) outs(%B : tensor<8xf32>) -> tensor<8xf32>
  return %C : tensor<8xf32>
}
