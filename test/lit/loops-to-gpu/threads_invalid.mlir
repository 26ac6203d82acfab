// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(inject-virtual-threads),map-loops-to-gpu)' --split-input-file --verify-diagnostics

func.func @symbolic(%A: memref<?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{vthread: expected an axis of constant extent, got one that is symbolic}}
  scf.for %v = %c0 to %n step %c1 {
    memref.store %x, %A[%v] : memref<?xf32>
  } {schedule.bind = #schedule.thread<vthread>}
  return
}

// -----

func.func @many(%A: memref<65xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c65 = arith.constant 65 : index
  // expected-error @below {{vthread: expected an axis of extent at most 64, got 65}}
  scf.for %v = %c0 to %c65 step %c1 {
    memref.store %x, %A[%v] : memref<65xf32>
  } {schedule.bind = #schedule.thread<vthread>}
  return
}

// -----

func.func @parts(%A: memref<8xf32>, %B: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{expected a loop, bound to threadIdx.x, to carry what it reduces and then the parts of the latest iteration}}
  %sum = scf.for %t = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> f32 {
    %a = memref.load %A[%t] : memref<8xf32>
    %next = arith.addf %acc, %a : f32
    scf.yield %next : f32
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  memref.store %sum, %B[] : memref<f32>
  return
}

// -----

func.func @other_access(%A: memref<8xf32>, %B: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %v = %c0 to %c8 step %c1 {
    %own = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
    %a = memref.load %A[%v] : memref<8xf32>
    memref.store %a, %own[%c0] : memref<1xf32, #gpu.address_space<private>>
    // expected-error @below {{expected loads and stores of a buffer in a loop on vthread, got memref.copy}}
    memref.copy %own, %B : memref<1xf32, #gpu.address_space<private>> to memref<1xf32>
  } {schedule.bind = #schedule.thread<vthread>}
  return
}

// -----

func.func @outside(%A: memref<4x6xf32>, %B: memref<4x6xf32> {te.name = "B"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  scf.for %v = %c0 to %c4 step %c1 {
    // expected-error @below {{vthread: expected stage 'A.shared' to be computed inside of a loop of blocks or threads, which have memory of their own, got it in axis 'B.i' on vthread, outside of them: reorder the loops}}
    %tile = memref.alloc() {te.stage = "A.shared"} : memref<1x6xf32, #gpu.address_space<workgroup>>
    scf.for %j = %c0 to %c6 step %c1 {
      %a = memref.load %A[%v, %j] : memref<4x6xf32>
      memref.store %a, %tile[%c0, %j] : memref<1x6xf32, #gpu.address_space<workgroup>>
    }
    scf.for %j = %c0 to %c6 step %c1 {
      %a = memref.load %tile[%c0, %j] : memref<1x6xf32, #gpu.address_space<workgroup>>
      memref.store %a, %B[%v, %j] : memref<4x6xf32>
    } {schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<vthread>}
  return
}

// -----

func.func @none(%A: memref<65xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{vthread: expected an axis of extent at least 1, got 0}}
  scf.for %v = %c0 to %c0 step %c1 {
    memref.store %x, %A[%v] : memref<65xf32>
  } {schedule.bind = #schedule.thread<vthread>}
  return
}
