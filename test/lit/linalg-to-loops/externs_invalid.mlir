// RUN: tilewright-opt %s -split-input-file -verify-diagnostics --convert-te-to-linalg --apply-schedule

func.func @scope(%o: tensor<64xf32> {te.output}) -> tensor<64xf32> {
  %i0 = tensor.empty() : tensor<64xf32>
  %C = te.extern "C" outs(%c = %i0 : tensor<64xf32>) {
  }
  return %C : tensor<64xf32>
}
schedule.of @scope {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.set_scope' op expected a stage with loops of its own, got the extern 'C', whose statements say how it is computed}}
  schedule.set_scope %C to <shared>
}

// -----

func.func @axes(%o: tensor<64xf32> {te.output}) -> tensor<64xf32> {
  %i0 = tensor.empty() : tensor<64xf32>
  %C = te.extern "C" outs(%c = %i0 : tensor<64xf32>) {
  }
  return %C : tensor<64xf32>
}
schedule.of @axes {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.axes' op expected a stage with loops of its own, got the extern 'C', whose statements say how it is computed}}
  %i = schedule.axes %C ["i"] : !schedule.axis
}

// -----

func.func @producer(%A: tensor<64xf32>, %o0: tensor<64xf32> {te.output}, %o1: tensor<64xf32> {te.output}) -> (tensor<64xf32>, tensor<64xf32>) {
  %B = te.compute "B" (%i: 64) {
    %x = te.read %A[%i] : tensor<64xf32>
    te.yield %x : f32
  } : tensor<64xf32>
  %i0 = tensor.empty() : tensor<64xf32>
  %C = te.extern "C" ins(%b = %B : tensor<64xf32>) outs(%c = %i0 : tensor<64xf32>) {
  }
  %D = te.compute "D" (%i: 64) {
    %x = te.read %B[%i] : tensor<64xf32>
    te.yield %x : f32
  } : tensor<64xf32>
  return %C, %D : tensor<64xf32>, tensor<64xf32>
}
schedule.of @producer {
  %D = schedule.stage "D"
  %i = schedule.axes %D ["i"] : !schedule.axis
  %B = schedule.stage "B"
  // expected-error @below {{compute_at: expected the loop 'i' of stage 'D' to be around all that reads stage 'B', got stage 'C' outside it}}
  schedule.compute_at %B at %D, %i
}

// -----

func.func @kernels(%o: tensor<64xf32> {te.output}) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %x = arith.constant 1.0 : f32
  %i0 = tensor.empty() : tensor<64xf32>
  %C = te.extern "C" outs(%c = %i0 : tensor<64xf32>) {
    // expected-error @below {{te.extern 'C': expected a buffer in shared or local memory to be used within one nest of thread axes, got 'C.s' around several}}
    %s = memref.alloc() {te.stage = "s"} : memref<64xf32, #gpu.address_space<workgroup>>
    scf.for %t = %c0 to %c64 step %c1 {
      memref.store %x, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    } {schedule.axis = #schedule.axis<"t">, schedule.bind = #schedule.thread<threadIdx.x>}
    scf.for %t = %c0 to %c64 step %c1 {
      %y = memref.load %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %y, %c[%t] : memref<64xf32>
    } {schedule.axis = #schedule.axis<"t">, schedule.bind = #schedule.thread<threadIdx.x>}
  }
  return %C : tensor<64xf32>
}
