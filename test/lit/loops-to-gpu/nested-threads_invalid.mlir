// RUN: tilewright-opt %s --map-loops-to-gpu --split-input-file --verify-diagnostics

// Run in sequence the loops store 64 elements, as threads 8.
func.func @both(%C: memref<8x8xf32> {te.name = "C"}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{axis 'C.i' is bound here}}
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @below {{expected one loop on threadIdx.x, or an inner one that does the same in each iteration of the outer, got axis 'C.j' inside of axis 'C.i'}}
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %x, %C[%i, %j] : memref<8x8xf32>
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// The index goes through an index of its own and a loop between.
func.func @through_loop(%C: memref<8x8x8xf32> {te.name = "C"}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{axis 'C.i' is bound here}}
  scf.for %i = %c0 to %c8 step %c1 {
    %row = affine.apply affine_map<(d0) -> (7 - d0)>(%i)
    scf.for %k = %c0 to %c8 step %c1 {
      // expected-error @below {{expected one loop on threadIdx.y, or an inner one that does the same in each iteration of the outer, got axis 'C.j' inside of axis 'C.i'}}
      scf.for %j = %c0 to %c8 step %c1 {
        memref.store %x, %C[%row, %k, %j] : memref<8x8x8xf32>
      } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<threadIdx.y>}
    } {schedule.axis = #schedule.axis<"k" of "C">}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<threadIdx.y>}
  return
}

// -----

// Each thread has sums of its own.
func.func @through_memory(%A: memref<8xf32>, %C: memref<8xf32> {te.name = "C"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{axis 'C.i' is bound here}}
  scf.for %i = %c0 to %c8 step %c1 {
    %own = memref.alloca() {te.stage = "C.local"} : memref<1xf32, #gpu.address_space<private>>
    %a = memref.load %A[%i] : memref<8xf32>
    memref.store %a, %own[%c0] : memref<1xf32, #gpu.address_space<private>>
    // expected-error @below {{expected one loop on threadIdx.x, or an inner one that does the same in each iteration of the outer, got axis 'C.j' inside of axis 'C.i'}}
    scf.for %j = %c0 to %c8 step %c1 {
      %b = memref.load %own[%c0] : memref<1xf32, #gpu.address_space<private>>
      memref.store %b, %C[%j] : memref<8xf32>
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// The threads whose condition does not hold fill nothing.
func.func @through_condition(%A: memref<8xf32>, %C: memref<8xf32> {te.name = "C"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{axis 'C.i' is bound here}}
  scf.for %i = %c0 to %c8 step %c1 {
    %S = memref.alloc() {te.stage = "A.shared"} : memref<8xf32, #gpu.address_space<workgroup>>
    %some = arith.cmpi slt, %i, %c3 : index
    scf.if %some {
      // expected-error @below {{expected one loop on threadIdx.x, or an inner one that does the same in each iteration of the outer, got axis 'A.shared.ax0' inside of axis 'C.i'}}
      scf.for %j = %c0 to %c8 step %c1 {
        %a = memref.load %A[%j] : memref<8xf32>
        memref.store %a, %S[%j] : memref<8xf32, #gpu.address_space<workgroup>>
      } {schedule.axis = #schedule.axis<"ax0" of "A.shared">, schedule.bind = #schedule.thread<threadIdx.x>}
    }
    %s = memref.load %S[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %s, %C[%i] : memref<8xf32>
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// A value that a loop carries, from the second iteration on.
func.func @through_carried(%C: memref<8xf32> {te.name = "C"}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{axis 'C.i' is bound here}}
  scf.for %i = %c0 to %c8 step %c1 {
    %at:2 = scf.for %k = %c0 to %c8 step %c1 iter_args(%p = %c0, %q = %c0) -> (index, index) {
      %next = arith.addi %q, %c1 : index
      %other = arith.addi %next, %i : index
      scf.yield %next, %other : index, index
    }
    // expected-error @below {{expected one loop on threadIdx.x, or an inner one that does the same in each iteration of the outer, got axis 'C.j' inside of axis 'C.i'}}
    scf.for %j = %c0 to %c8 step %c1 {
      %place = arith.remui %at#0, %c8 : index
      memref.store %x, %C[%place] : memref<8xf32>
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// Blocks have no memory that they fill together.
func.func @blocks(%C: memref<8xf32> {te.name = "C"}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{axis 'C.i' is bound here}}
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @below {{expected one loop on blockIdx.x, or an inner one that does the same in each iteration of the outer, got axis 'C.j' inside of axis 'C.i'}}
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %x, %C[%j] : memref<8xf32>
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// In sequence each element is increased 8 times.
func.func @changes_again(%C: memref<8xf32> {te.name = "C"}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{axis 'C.i' is bound here}}
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @below {{expected one loop on threadIdx.x, or an inner one that does the same in each iteration of the outer, got axis 'C.j' inside of axis 'C.i'}}
    scf.for %j = %c0 to %c8 step %c1 {
      %c = memref.load %C[%j] : memref<8xf32>
      %more = arith.addf %c, %x : f32
      memref.store %more, %C[%j] : memref<8xf32>
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
