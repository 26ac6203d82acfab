// RUN: tilewright-opt %s --rewrite-scheduled-dataflow --split-input-file --verify-diagnostics

func.func @f(%A: tensor<8xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by_symbol "n"
  // expected-error @below {{'schedule.cache_write' op expected the loops of stage 'B' to be split by numbers, got 'i' split by 'n': split it afterwards}}
  %BL = schedule.cache_write %B in <local> as "B.local"
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
  // expected-error @below {{'schedule.cache_read' op expected the name of a stage or an input, got 'X'}}
  %X = schedule.cache_read "X" in <shared> for %B as "X.shared"
}

// -----

func.func @f(%A: tensor<8xf32> {te.name = "A"}, %D: tensor<8xf32> {te.name = "D"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.cache_read' op expected readers of 'D', got stage 'B', which does not read it}}
  %X = schedule.cache_read "D" in <shared> for %B as "D.shared"
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
  // expected-error @below {{'schedule.compute_inline' op expected a stage that only other stages read, got the output 'B'}}
  schedule.compute_inline %B
}

// -----

func.func @f(%A: tensor<8x8xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "C", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) sum (%k: 8) {
    %a = te.read %A[%i, %k] : tensor<8x8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  %C = te.compute "C" (%i: 8) {
    %b = te.read %B[%i] : tensor<8xf32>
    te.yield %b : f32
  } : tensor<8xf32>
  return %C : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.compute_inline' op expected a stage without a reduction, got stage 'B': its reduction would be computed again at every read}}
  schedule.compute_inline %B
}

// -----

func.func @f(%A: tensor<8xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "C", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  %C = te.compute "C" (%i: 8) {
    %b = te.read %B[%i] : tensor<8xf32>
    te.yield %b : f32
  } : tensor<8xf32>
  return %C : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.split' op expected a stage with loops of its own, got 'B', which is inlined}}
  %io, %ii = schedule.split %i by 4
  schedule.compute_inline %B
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
  %X = schedule.stage "X"
  // expected-error @below {{'schedule.cache_read' op expected the name of a stage, got 'X'}}
  %AS = schedule.cache_read "A" in <shared> for %X as "A.shared"
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
  %X = schedule.stage "X"
  // expected-error @below {{'schedule.cache_write' op expected the name of a stage, got 'X'}}
  %XL = schedule.cache_write %X in <local> as "X.local"
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
  %X = schedule.stage "X"
  // expected-error @below {{'schedule.compute_inline' op expected the name of a stage, got 'X'}}
  schedule.compute_inline %X
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
  // expected-error @below {{'schedule.cache_read' op expected a name of its own, got 'B', which another tensor has}}
  %X = schedule.cache_read "A" in <shared> for %B as "B"
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
  // expected-error @below {{'schedule.cache_write' op expected a name of its own, got 'A', which another tensor has}}
  %X = schedule.cache_write %B in <local> as "A"
}

// -----

func.func @f(%A: tensor<8x64xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) sum (%k: 64) {
    %a = te.read %A[%i, %k] : tensor<8x64xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %k = schedule.reduce_axes %B ["k"] : !schedule.axis
  // expected-error @below {{'schedule.rfactor' op expected a name of its own, got 'A', which another tensor has}}
  %BF = schedule.rfactor %B, %k at 0 as "A"
}

// -----

func.func @f(%A: tensor<8x64xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) sum (%k: 64) {
    %a = te.read %A[%i, %k] : tensor<8x64xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %k = schedule.reduce_axes %B ["k"] : !schedule.axis
  // expected-error @below {{'schedule.rfactor' op expected a factor_axis from 0 to 1, got 2}}
  %BF = schedule.rfactor %B, %k at 2 as "B.rf"
}

// -----

func.func @f(%A: tensor<8x64xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) sum (%k: 64) {
    %a = te.read %A[%i, %k] : tensor<8x64xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %k = schedule.reduce_axes %B ["k"] : !schedule.axis
  // expected-error @below {{'schedule.split' op expected the axes of stage 'B' to be named anew after its rfactor, got a use of those that it had before}}
  %ko, %ki = schedule.split %k by 16
  %BF = schedule.rfactor %B, %ki at 0 as "B.rf"
  schedule.unroll %ko
}

// -----

func.func @f(%A: tensor<64xf32> {te.name = "A"}, %out: tensor<64xf32> {te.name = "B", te.output}) -> tensor<64xf32> {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  return %B : tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.split' op expected the axes of stage 'B' to be named anew after its cache_write, got a use of those that it had before}}
  %io, %ii = schedule.split %i by 16
  %BC = schedule.cache_write %B in <global> as "B.global"
  schedule.unroll %ii
}

// -----

// Reduction axes that the stage has not, and axes that are named again.
func.func @f(%A: tensor<8x64xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) sum (%k: 64) {
    %a = te.read %A[%i, %k] : tensor<8x64xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  // expected-error @below {{'schedule.reduce_axes' op expected 1 reduction axes of stage 'B', got 2}}
  %k, %l = schedule.reduce_axes %B ["k", "l"] : !schedule.axis, !schedule.axis
  %BF = schedule.rfactor %B, %l at 0 as "B.rf"
}

// -----

func.func @f(%A: tensor<8x64xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) sum (%k: 64) {
    %a = te.read %A[%i, %k] : tensor<8x64xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %k = schedule.reduce_axes %B ["k"] : !schedule.axis
  // expected-error @below {{'schedule.reduce_axes' op expected the axes of stage 'B' to be named once, got them named again}}
  %l = schedule.reduce_axes %B ["k"] : !schedule.axis
  %BF = schedule.rfactor %B, %l at 0 as "B.rf"
}
