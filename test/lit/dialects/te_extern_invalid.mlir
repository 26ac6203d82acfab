// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'te.extern' op expected at least one result}}
"te.extern"() <{name = "C", operandSegmentSizes = array<i32: 0, 0>}> ({
^bb0:
}) : () -> ()

// -----

func.func @f(%A: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{'te.extern' op expected a buffer for each tensor, ('memref<4xf32>', 'memref<4xf32>'), got ('memref<4xf32>', 'memref<8xf32>')}}
  %C = "te.extern"(%A, %o) <{name = "C", operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: memref<4xf32>, %c: memref<8xf32>):
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%A: tensor<4xf32>, %o: tensor<4xf32>, %x: f32, %i: index) {
  %C = te.extern "C" ins(%a = %A : tensor<4xf32>) outs(%c = %o : tensor<4xf32>) {
    // expected-error @below {{'memref.store' op expected stores to the results of te.extern 'C' and to its own buffers, got one to a tensor that it reads}}
    memref.store %x, %a[%i] : memref<4xf32>
  }
  return
}

// -----

func.func @f(%o: tensor<4xf32>) {
  %C = te.extern "C" outs(%c = %o : tensor<4xf32>) {
    // expected-error @below {{'memref.cast' op expected loads and stores of the elements of te.extern's buffers, got another use}}
    %d = memref.cast %c : memref<4xf32> to memref<?xf32>
  }
  return
}

// -----

func.func @f(%o: tensor<4xf32>, %c0: index, %c1: index, %c4: index) {
  %C = te.extern "C" outs(%c = %o : tensor<4xf32>) {
    scf.for %i = %c0 to %c4 step %c1 {
      // expected-error @below {{'scf.for' op expected a thread axis outside of the loops and choices of te.extern 'C', got one in 'scf.for'}}
      scf.for %t = %c0 to %c4 step %c1 {
      } {schedule.bind = #schedule.thread<threadIdx.x>}
    }
  }
  return
}

// -----

func.func @f(%o: tensor<4xf32>, %c0: index, %c1: index, %c4: index) {
  %C = te.extern "C" outs(%c = %o : tensor<4xf32>) {
    scf.for %i = %c0 to %c4 step %c1 {
      // expected-error @below {{'scf.for' op expected each thread index once around a statement of te.extern 'C', got threadIdx.x twice}}
      scf.for %t = %c0 to %c4 step %c1 {
      } {schedule.bind = #schedule.thread<threadIdx.x>}
    } {schedule.bind = #schedule.thread<threadIdx.x>}
  }
  return
}
