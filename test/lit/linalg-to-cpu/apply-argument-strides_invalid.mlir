// RUN: tilewright-opt %s --apply-argument-strides --verify-diagnostics

func.func @f(%A: memref<8x8xf32> {te.strides = array<i64: 16, 1>}) {
  // expected-error@+1 {{'memref.cast' op expected a part of an argument with strides, got another view of it}}
  %0 = memref.cast %A : memref<8x8xf32> to memref<?x8xf32>
  return
}
