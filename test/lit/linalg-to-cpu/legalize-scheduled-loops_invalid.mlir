// RUN: tilewright-opt %s --pass-pipeline="builtin.module(func.func(legalize-scheduled-loops))" -split-input-file -verify-diagnostics

func.func @f(%A: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expected loops for target cpu, got a loop bound to threadIdx.x}}
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %zero, %A[%i] : memref<4xf32>
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
