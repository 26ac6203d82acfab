// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(distribute-private-buffers))' --split-input-file --verify-diagnostics

func.func @others(%A: memref<8xf32>, %C: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %B = memref.alloca() {te.stage = "B"} : memref<8xf32, #gpu.address_space<private>>
  // expected-error @below {{bind: expected each thread to read what it stored itself of stage 'B', of which it keeps its part in local memory, got other elements in stage 'C'}}
  scf.for %t = %c0 to %c8 step %c1 {
    %x = memref.load %A[%t] : memref<8xf32>
    memref.store %x, %B[%t] : memref<8xf32, #gpu.address_space<private>>
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  scf.for %t = %c0 to %c8 step %c1 {
    %i = affine.apply affine_map<(t) -> (7 - t)>(%t)
    // expected-note @below {{stage 'C' is computed here}}
    %x = memref.load %B[%i] : memref<8xf32, #gpu.address_space<private>>
    memref.store %x, %C[%t] : memref<8xf32>
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

func.func @all(%A: memref<8xf32>, %C: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %B = memref.alloca() {te.stage = "B"} : memref<8xf32, #gpu.address_space<private>>
  // expected-error @below {{bind: expected each thread to read what it stored itself of stage 'B', of which it keeps its part in local memory, got other elements in stage 'C'}}
  scf.for %t = %c0 to %c8 step %c1 {
    %x = memref.load %A[%t] : memref<8xf32>
    memref.store %x, %B[%t] : memref<8xf32, #gpu.address_space<private>>
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-note @below {{stage 'C' is computed here}}
    %x = memref.load %B[%i] : memref<8xf32, #gpu.address_space<private>>
    memref.store %x, %C[%i] : memref<8xf32>
  } {schedule.axis = #schedule.axis<"i" of "C">}
  return
}

// -----

// Neighbouring threads' parts overlap.
func.func @overlap(%x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %B = memref.alloca() {te.stage = "B"} : memref<18xf32, #gpu.address_space<private>>
  // expected-error @below {{bind: expected the index of a thread to be a digit of an element's place in stage 'B', of which each thread keeps its part in local memory, got axis 'B.i' on threadIdx.x}}
  scf.for %t = %c0 to %c8 step %c1 {
    scf.for %v = %c0 to %c4 step %c1 {
      %i = affine.apply affine_map<(t, v) -> (t * 2 + v)>(%t, %v)
      memref.store %x, %B[%i] : memref<18xf32, #gpu.address_space<private>>
    }
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

func.func @quotient(%x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %B = memref.alloca() {te.stage = "B"} : memref<4xf32, #gpu.address_space<private>>
  // expected-error @below {{bind: expected the index of a thread to be a digit of an element's place in stage 'B', of which each thread keeps its part in local memory, got axis 'B.i' on threadIdx.x}}
  scf.for %t = %c0 to %c8 step %c1 {
    %i = affine.apply affine_map<(t) -> (t floordiv 2)>(%t)
    memref.store %x, %B[%i] : memref<4xf32, #gpu.address_space<private>>
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// No affine map has the index of a thread: a swizzle does.
func.func @swizzle(%x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %B = memref.alloca() {te.stage = "B"} : memref<8xf32, #gpu.address_space<private>>
  // expected-error @below {{bind: expected the index of a thread to be a digit of an element's place in stage 'B', of which each thread keeps its part in local memory, got axis 'B.i' on threadIdx.x}}
  scf.for %t = %c0 to %c8 step %c1 {
    %i = arith.xori %t, %c1 : index
    memref.store %x, %B[%i] : memref<8xf32, #gpu.address_space<private>>
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
