// RUN: tilewright-opt %s --canonicalize --verify-stage=stage=loops -verify-diagnostics

// Simplified before map-loops-to-gpu: the loop of one iteration is gone, and what it was bound to.
// expected-error @below {{stage loops: expected a loop bound to blockIdx.x, as 'schedule.bound' says, got none: loops may not be simplified before map-loops-to-gpu}}
func.func @f(%A: memref<1xf32>) attributes {schedule.bound = [#schedule.thread<blockIdx.x>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c1 step %c1 {
    memref.store %x, %A[%i] : memref<1xf32>
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}
