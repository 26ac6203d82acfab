// RUN: tilewright-opt %s --tilewright-pipeline="to=loops" --split-input-file --verify-diagnostics

func.func @f(%A: tensor<64xf32> {te.name = "A"}, %o0: tensor<64xf32> {te.name = "C", te.output}, %o1: tensor<64xf32> {te.name = "D", te.output}) -> (tensor<64xf32>, tensor<64xf32>) {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  %C = te.compute "C" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  %D = te.compute "D" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  return %C, %D : tensor<64xf32>, tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %b = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{compute_at: expected the loop 'i' of stage 'C' to be around all that reads stage 'B', got stage 'D' outside it}}
  schedule.compute_at %B at %C, %i
}

// -----

func.func @f(%A: tensor<64xf32> {te.name = "A"}, %o0: tensor<64xf32> {te.name = "C", te.output}, %o1: tensor<64xf32> {te.name = "D", te.output}) -> (tensor<64xf32>, tensor<64xf32>) {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  %C = te.compute "C" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  %D = te.compute "D" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  return %C, %D : tensor<64xf32>, tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %b = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{compute_at: expected a stage that is read by others, got the output 'D'}}
  schedule.compute_at %D at %C, %i
}

// -----

func.func @f(%A: tensor<64xf32> {te.name = "A"}, %o0: tensor<64xf32> {te.name = "C", te.output}, %o1: tensor<64xf32> {te.name = "D", te.output}) -> (tensor<64xf32>, tensor<64xf32>) {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  %C = te.compute "C" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  %D = te.compute "D" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  return %C, %D : tensor<64xf32>, tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %b = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 4
  // expected-error @below {{bind: expected axis 'i.inner' of extent 8, as the thread axis says, got 4}}
  schedule.bind %ii to <threadIdx.x> extent 8
}

// -----

func.func @f(%A: tensor<64xf32> {te.name = "A"}, %o0: tensor<64xf32> {te.name = "C", te.output}, %o1: tensor<64xf32> {te.name = "D", te.output}) -> (tensor<64xf32>, tensor<64xf32>) {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  %C = te.compute "C" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  %D = te.compute "D" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  return %C, %D : tensor<64xf32>, tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %b = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.stage' op expected the name of a stage, got 'X'}}
  %X = schedule.stage "X"
}

// -----

func.func @f(%A: tensor<64xf32> {te.name = "A"}, %o0: tensor<64xf32> {te.name = "C", te.output}, %o1: tensor<64xf32> {te.name = "D", te.output}) -> (tensor<64xf32>, tensor<64xf32>) {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  %C = te.compute "C" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  %D = te.compute "D" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  return %C, %D : tensor<64xf32>, tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %b = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.axes' op expected 1 spatial axes of stage 'C', got 2}}
  %x, %y = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
}

// -----

func.func @f(%A: tensor<64xf32> {te.name = "A"}, %o0: tensor<64xf32> {te.name = "C", te.output}, %o1: tensor<64xf32> {te.name = "D", te.output}) -> (tensor<64xf32>, tensor<64xf32>) {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  %C = te.compute "C" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  %D = te.compute "D" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  return %C, %D : tensor<64xf32>, tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %b = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 4
  %iio, %iii = schedule.split %ii by 2
  // expected-error @below {{'schedule.fuse' op stage 'C': expected neighbouring loops, got 'i.outer' and 'i.inner.inner' apart: reorder them first}}
  %f = schedule.fuse %io, %iii
}

// -----

func.func @f(%A: tensor<8xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{stage 'A.shared' in shared memory: expected to be computed at a loop of its consumer, got compute_root}}
  %X = schedule.cache_read "A" in <shared> for %B as "A.shared"
}

// -----

func.func @f(%A: tensor<?xf32> {te.name = "A"}, %out: tensor<?xf32> {te.name = "C", te.output}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : tensor<?xf32>
  %B = te.compute "B" (%i: %n) {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  } : tensor<?xf32>
  %C = te.compute "C" (%i: %n) sum (%k: %n) {
    %b = te.read %B[%k] : tensor<?xf32>
    te.yield %b : f32
  } : tensor<?xf32>
  return %C : tensor<?xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  schedule.set_scope %B to <local>
  // expected-error @below {{stage 'B' in local memory: expected axis 'i' to need a constant number of elements here, got one that depends on a symbolic extent}}
  schedule.compute_at %B at %C, %i
}

// -----

func.func @f(%A: tensor<8xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "C", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  %T = te.compute "T" (%i: 8) {
    %b = te.read %B[%i] : tensor<8xf32>
    te.yield %b : f32
  } : tensor<8xf32>
  %C = te.compute "C" (%i: 8) {
    %b = te.read %T[%i] : tensor<8xf32>
    te.yield %b : f32
  } : tensor<8xf32>
  return %C : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %T = schedule.stage "T"
  %b = schedule.axes %B ["i"] : !schedule.axis
  %t = schedule.axes %T ["i"] : !schedule.axis
  schedule.compute_at %B at %T, %t
  // expected-error @below {{'schedule.compute_at' op expected a consumer of stage 'T', got stage 'B', which is computed inside it}}
  schedule.compute_at %T at %B, %b
}

// -----

func.func @f(%A: tensor<8xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "C", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  %C = te.compute "C" (%i: 8) {
    %b = te.read %A[%i] : tensor<8xf32>
    te.yield %b : f32
  } : tensor<8xf32>
  return %C : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // expected-error @below {{compute_at: expected a consumer of stage 'B', got stage 'C', which does not read it}}
  schedule.compute_at %B at %C, %i
}

// -----

func.func @f(%A: tensor<8x8xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "C", te.output}) -> tensor<8xf32> {
  %C = te.compute "C" (%i: 8) sum (%k: 8) {
    %a = te.read %A[%i, %k] : tensor<8x8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %C : tensor<8xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.reduce_axes' op expected 1 reduction axes of stage 'C', got 2}}
  %k, %l = schedule.reduce_axes %C ["k", "l"] : !schedule.axis, !schedule.axis
}

// -----

func.func @f(%A: tensor<?xf32> {te.name = "A"}, %out: tensor<?xf32> {te.name = "B", te.output}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : tensor<?xf32>
  %B = te.compute "B" (%i: %n) {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  } : tensor<?xf32>
  return %B : tensor<?xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{bind: expected axis 'i' of extent 8, as the thread axis says, got a symbolic extent}}
  schedule.bind %i to <threadIdx.x> extent 8
}

// -----

func.func @f(%A: tensor<64xf32> {te.name = "A"}, %out: tensor<8x8xf32> {te.name = "C", te.output}) -> tensor<8x8xf32> {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  %C = te.compute "C" (%i: 8, %j: 8) {
    %at = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%i, %j)
    %b = te.read %B[%at] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<8x8xf32>
  return %C : tensor<8x8xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  %B = schedule.stage "B"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  schedule.bind %i to <blockIdx.x>
  schedule.compute_at %B at %C, %i
  %b = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{bind: expected no axis of stage 'B' on a block index, as each block has a buffer of its own in shared memory, got 'i' on blockIdx.y}}
  schedule.bind %b to <blockIdx.y>
}
