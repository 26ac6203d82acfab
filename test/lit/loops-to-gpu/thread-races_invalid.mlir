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

// A count of the iterations.
func.func @count(%B: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %sum = memref.load %B[%c1] : memref<8xf32>
    %next = arith.addf %sum, %x : f32
    // expected-error @below {{expected one value for each element, got a store to one place of other values in each iteration of axis 'B.i', which is bound to threadIdx.x: the iteration that runs last would decide; a reduction carries what it reduces}}
    memref.store %next, %B[%c1] : memref<8xf32>
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// Two threads for each place.
func.func @halves(%A: memref<8xf32>, %B: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%i)
    %x = memref.load %A[%i] : memref<8xf32>
    // expected-error @below {{expected one value for each element, got a store to one place of other values in iterations 0 and 1 of axis 'B.i', which is bound to threadIdx.x: the iteration that runs last would decide; a reduction carries what it reduces}}
    memref.store %x, %B[%half] : memref<4xf32>
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// The rows overlap, in a buffer that nobody reads; 'n' rows of two blocks.
func.func @overlap(%A: memref<?x8xf32>, %B: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %b = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c8 step %c1 {
      %place = arith.muli %b, %c1 : index
      %next = arith.addi %place, %i : index
      %x = memref.load %A[%b, %i] : memref<?x8xf32>
      // expected-error @below {{expected one value for each element, got a store to one place of other values in iterations 0 and 1 of axis 'B.b', which is bound to blockIdx.x: the iteration that runs last would decide; a reduction carries what it reduces}}
      memref.store %x, %B[%next] : memref<?xf32>
    } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"b" of "B">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// Two stores, each with places of its own.
func.func @two(%A: memref<8xf32>, %B: memref<9xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    %y = memref.load %A[%i] : memref<8xf32>
    memref.store %y, %B[%i] : memref<9xf32>
    // expected-error @below {{expected one value for each element, got a store to one place of other values in iterations 1 and 0 of axis 'B.i', which is bound to threadIdx.x: the iteration that runs last would decide; a reduction carries what it reduces}}
    memref.store %x, %B[%next] : memref<9xf32>
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// Right: digits of one number, what two threads compute alike, a condition that leaves one of two threads, and other
// threads' places in turn, with reads between.
func.func @digits(%A: memref<128xf32>, %B: memref<16x8xf32>, %C: memref<64xf32>, %D: memref<64xf32>, %E: memref<64x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %c128 step %c1 {
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%i)
    %column = affine.apply affine_map<(d0) -> (d0 mod 8)>(%i)
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%i)
    %x = memref.load %A[%i] : memref<128xf32>
    memref.store %x, %B[%row, %column] : memref<16x8xf32>
    %y = memref.load %A[%half] : memref<128xf32>
    memref.store %y, %C[%half] : memref<64xf32>
    %odd = arith.remui %i, %c2 : index
    %is_odd = arith.cmpi eq, %odd, %c1 : index
    scf.if %is_odd {
      memref.store %x, %D[%half] : memref<64xf32>
    }
    scf.for %k = %c0 to %c4 step %c1 {
      %turned = affine.apply affine_map<(d0, d1) -> ((d0 + d1) mod 64)>(%i, %k)
      scf.if %is_odd {
        %z = memref.load %E[%turned, %k] : memref<64x4xf32>
        %sum = arith.addf %x, %z : f32
        memref.store %z, %E[%half, %k] : memref<64x4xf32>
      }
    }
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
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
