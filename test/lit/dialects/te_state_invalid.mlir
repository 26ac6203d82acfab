// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @sizes(%n: index) {
  // expected-error@+1 {{'te.state' op expected a size for each dimension that has no number, 2, got 1}}
  %S = te.state "S" of "Y" (%n) : tensor<4x?x?xf32>
  return
}
