// RUN: tilewright-opt %s --rewrite-scheduled-dataflow --split-input-file --verify-diagnostics

// The producer reduces.
func.func @f(%A: tensor<8x8xf32> {te.name = "A"}, %o0: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) sum (%k: 8) {
    %x = te.read %A[%i, %k] : tensor<8x8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  %D = te.compute "D" (%i: 8) {
    %x = te.read %B[%i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  return %D : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %D = schedule.stage "D"
  // expected-error @below {{'schedule.reverse_compute_inline' op expected an elementwise producer, got stage 'B', which reduces: use reverse_compute_at}}
  schedule.reverse_compute_inline %D into %B
}

// -----

// The stage reduces.
func.func @f(%A: tensor<8xf32> {te.name = "A"}, %o0: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %x = te.read %A[%i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  %D = te.compute "D" (%i: 8) sum (%k: 8) {
    %x = te.read %B[%k] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  return %D : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %D = schedule.stage "D"
  // expected-error @below {{'schedule.reverse_compute_inline' op expected an elementwise stage, got 'D', which reduces: use compute_inline of stage 'B'}}
  schedule.reverse_compute_inline %D into %B
}

// -----

// Nothing reads the producer.
func.func @f(%A: tensor<8xf32> {te.name = "A"}, %o0: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %x = te.read %A[%i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  %D = te.compute "D" (%i: 8) {
    %x = te.read %A[%i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  return %D : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %D = schedule.stage "D"
  // expected-error @below {{'schedule.reverse_compute_inline' op expected a producer that the stage reads, got stage 'B'}}
  schedule.reverse_compute_inline %D into %B
}

// -----

// Another stage reads the producer.
func.func @f(%A: tensor<8xf32> {te.name = "A"}, %o0: tensor<8xf32> {te.output}, %o1: tensor<8xf32> {te.output}) -> (tensor<8xf32>, tensor<8xf32>) {
  %B = te.compute "B" (%i: 8) {
    %x = te.read %A[%i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  %E = te.compute "E" (%i: 8) {
    %x = te.read %B[%i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  %D = te.compute "D" (%i: 8) {
    %x = te.read %B[%i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  return %D, %E : tensor<8xf32>, tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %D = schedule.stage "D"
  // expected-error @below {{'schedule.reverse_compute_inline' op expected the only reader of stage 'B', got another, stage 'E'}}
  schedule.reverse_compute_inline %D into %B
}

// -----

// The producer is an output.
func.func @f(%A: tensor<8xf32> {te.name = "A"}, %o0: tensor<8xf32> {te.output}, %o1: tensor<8xf32> {te.output}) -> (tensor<8xf32>, tensor<8xf32>) {
  %B = te.compute "B" (%i: 8) {
    %x = te.read %A[%i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  %D = te.compute "D" (%i: 8) {
    %x = te.read %B[%i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  return %B, %D : tensor<8xf32>, tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %D = schedule.stage "D"
  // expected-error @below {{'schedule.reverse_compute_inline' op expected the only reader of stage 'B', got an output of the program}}
  schedule.reverse_compute_inline %D into %B
}

// -----

// The stage reads the producer's elements in another order.
func.func @f(%A: tensor<8xf32> {te.name = "A"}, %o0: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %x = te.read %A[%i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  %D = te.compute "D" (%i: 8) {
    %x = te.read %B[7 - %i] : tensor<8xf32>
    te.yield %x : f32
  } : tensor<8xf32>
  return %D : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %D = schedule.stage "D"
  // expected-error @below {{'schedule.reverse_compute_inline' op expected reads of stage 'B' at the stage's own axes in their order, got other indices: use compute_inline of stage 'B'}}
  schedule.reverse_compute_inline %D into %B
}
