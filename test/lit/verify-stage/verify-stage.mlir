// RUN: tilewright-opt %s --verify-stage=stage=loops | FileCheck %s

// A program at the stage comes out as it went in.
// CHECK: func.func @f({{.*}}) attributes {schedule.bound = [#schedule.thread<blockIdx.x>]}
func.func @f(%A: memref<8xf32>) attributes {schedule.bound = [#schedule.thread<blockIdx.x>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %A[%i] : memref<8xf32>
  // CHECK: schedule.bind = #schedule.thread<blockIdx.x>
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}
