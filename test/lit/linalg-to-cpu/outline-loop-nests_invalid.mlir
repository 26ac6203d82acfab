// RUN: tilewright-opt %s --outline-loop-nests --verify-diagnostics

func.func @too_large(%A: memref<8x9223372036854775807xf32>, %x: f32) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @below {{'memref.store' op expected buffers of less than 2^63 elements, got 'memref<8x9223372036854775807xf32>'}}
    memref.store %x, %A[%i, %c0] : memref<8x9223372036854775807xf32>
  }
  return
}
