// RUN: tilewright-opt %s -convert-te-to-linalg -apply-schedule -split-input-file -verify-diagnostics

func.func @f(%X: tensor<16x8xf32> {te.name = "X"}, %out: tensor<16x8xf32> {te.name = "S", te.output}) -> tensor<16x8xf32> {
  %S = te.compute "S" scan (%t: 16, %i: 8) {
    %x = te.read %X[%t, %i] : tensor<16x8xf32>
    te.yield %x : f32
  } : tensor<16x8xf32>
  return %S : tensor<16x8xf32>
}
schedule.of @f {
  %S = schedule.stage "S"
  %t, %i = schedule.axes %S ["t", "i"] : !schedule.axis, !schedule.axis
  // expected-error @below {{'schedule.bind' op expected an axis whose iterations are independent, got 't', the scan axis of stage 'S'}}
  schedule.bind %t to <threadIdx.x>
}

// -----

func.func @f(%X: tensor<16x8xf32> {te.name = "X"}, %out: tensor<16x8xf32> {te.name = "Y", te.output}) -> tensor<16x8xf32> {
  %S = te.compute "S" scan (%t: 16, %i: 8) {
    %x = te.read %X[%t, %i] : tensor<16x8xf32>
    te.yield %x : f32
  } : tensor<16x8xf32>
  %Y = te.compute "Y" (%t: 16, %i: 8) {
    %x = te.read %S[%t, %i] : tensor<16x8xf32>
    te.yield %x : f32
  } : tensor<16x8xf32>
  return %Y : tensor<16x8xf32>
}
schedule.of @f {
  %S = schedule.stage "S"
  %Y = schedule.stage "Y"
  %t, %i = schedule.axes %Y ["t", "i"] : !schedule.axis, !schedule.axis
  // expected-error @below {{compute_at: expected a stage of which a part can be computed, got the scan 'S'}}
  schedule.compute_at %S at %Y, %t
}
