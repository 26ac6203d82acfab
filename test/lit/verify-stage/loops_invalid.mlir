// RUN: tilewright-opt %s --verify-stage=stage=loops -split-input-file -verify-diagnostics

// What may not stand at the stage loops.
func.func @f(%A: memref<8xf32>) {
  // expected-error @below {{stage loops: expected no 'te.axes', got it on 'linalg.generic': run apply-schedule before}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%A : memref<8xf32>) attrs = {te.stage = "A", te.axes = ["i"]} {
  ^bb0(%o: f32):
    linalg.yield %o : f32
  }
  return
}

// -----

func.func @f(%A: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%A : memref<8xf32>) {
  ^bb0(%o: f32):
    // expected-error @below {{stage loops: expected no 'te.combine', got it on 'arith.addf': run apply-schedule before}}
    %s = arith.addf %o, %o {te.combine = array<i64: 0, -1>} : f32
    linalg.yield %s : f32
  }
  return
}

// -----

func.func @f(%A: tensor<8xf32>, %B: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  // expected-error @below {{stage loops: expected no tensor expressions, got 'te.compute': run convert-te-to-linalg before}}
  %0 = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @f(%A: memref<8xf32>) {
  return
}
// expected-error @below {{stage loops: expected no schedule, got one: run apply-schedule before}}
schedule.of @f {
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{stage loops: expected no 'schedule.partition', got it on 'scf.for': run partition-loops before}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.partition}
  return
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{stage loops: expected a bound loop to run from 0 by 1, got another}}
  scf.for %i = %c1 to %c8 step %c1 {
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}
