// Threads that leave different values in one place: run in sequence the last one counts.
// RUN: tilewright-opt %s --map-loops-to-gpu --split-input-file --verify-diagnostics

func.func @last_wins(%A: memref<8xf32>, %B: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %A[%i] : memref<8xf32>
    // expected-error @below {{expected one value for each element, got a store to one place of other values in each iteration of axis 'B.i', which is bound to threadIdx.x: the iteration that runs last would decide; a reduction carries what it reduces}}
    memref.store %x, %B[%c0] : memref<8xf32>
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// A sum that is no reduction of the threads, of blocks along a row.
func.func @sum(%A: memref<8x4xf32>, %B: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %x = memref.load %A[%i, %j] : memref<8x4xf32>
      %sum = memref.load %B[%j] : memref<4xf32>
      %next = arith.addf %sum, %x : f32
      // expected-error @below {{expected one value for each element, got a store to one place of other values in each iteration of axis 'B.i', which is bound to blockIdx.x: the iteration that runs last would decide; a reduction carries what it reduces}}
      memref.store %next, %B[%j] : memref<4xf32>
    } {schedule.axis = #schedule.axis<"j" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// The same value, one thread's alone, and a loop of one iteration.
func.func @right(%A: memref<8xf32>, %B: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %y = memref.load %A[%i] : memref<8xf32>
    memref.store %x, %B[%c1] : memref<8xf32>
    %is_first = arith.cmpi eq, %i, %c0 : index
    scf.if %is_first {
      memref.store %y, %B[%c0] : memref<8xf32>
    }
    scf.for %j = %c0 to %c1 step %c1 {
      %z = memref.load %A[%j] : memref<8xf32>
      memref.store %z, %B[%c0] : memref<8xf32>
    } {schedule.axis = #schedule.axis<"j" of "B">, schedule.bind = #schedule.thread<threadIdx.y>}
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
