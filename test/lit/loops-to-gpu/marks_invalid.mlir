// RUN: tilewright-opt %s --pipeline-loops -split-input-file -verify-diagnostics

// What a schedule left on loops is of the type that docs/stages.md says.
func.func @number(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{expected 'schedule.pipeline' to be a number of 32 bits, got unit}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.pipeline}
  return
}

// -----

func.func @large() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{expected 'schedule.min_blocks' to be a number of 32 bits, got 4294967296 : i64}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.min_blocks = 4294967296 : i64}
  return
}

// -----

func.func @unit() {
  // expected-error@+1 {{expected 'schedule.pipeline' to be no value, got 2 : i64}}
  %0 = memref.alloca() {schedule.pipeline = 2} : memref<8xf32>
  return
}

// -----

func.func @text() {
  // expected-error@+1 {{expected 'te.stage' to be a string, got 2 : i64}}
  %0 = memref.alloca() {te.stage = 2} : memref<8xf32>
  return
}

// -----

func.func @numbers() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{expected 'schedule.specialize' to be two or three numbers, array<i64: ...>, got array<i64: 40>}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.specialize = array<i64: 40>}
  return
}

// -----

func.func @thread() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{expected 'schedule.bind' to be #schedule.thread<...>, got "threadIdx.x"}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.bind = "threadIdx.x"}
  return
}

// -----

func.func @depth() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{software_pipeline: expected a depth of at least 2, got -1}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.pipeline = -1 : i64}
  return
}
