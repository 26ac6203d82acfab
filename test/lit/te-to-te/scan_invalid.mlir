// RUN: tilewright-opt %s -rewrite-scheduled-dataflow -split-input-file -verify-diagnostics

func.func @f(%X: tensor<16x8xf32> {te.name = "X"}, %out: tensor<16x8xf32> {te.name = "S", te.output}) -> tensor<16x8xf32> {
  %S = te.compute "S" scan (%t: 16, %i: 8) {
    %x = te.read %X[%t, %i] : tensor<16x8xf32>
    te.yield %x : f32
  } : tensor<16x8xf32>
  return %S : tensor<16x8xf32>
}
schedule.of @f {
  %S = schedule.stage "S"
  // expected-error @below {{'schedule.cache_write' op expected a stage whose elements can be kept elsewhere, got the scan 'S', which reads its own}}
  %L = schedule.cache_write %S in <local> as "S.local"
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
  // expected-error @below {{'schedule.compute_inline' op expected a stage whose elements can be computed alone, got the scan 'S'}}
  schedule.compute_inline %S
}

// -----

// The scan reads its own elements, which must not become those of its reader.
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
  %Y = schedule.stage "Y"
  %S = schedule.stage "S"
  // expected-error @below {{'schedule.reverse_compute_inline' op expected elementwise stages, got the scan 'S'}}
  schedule.reverse_compute_inline %Y into %S
}
