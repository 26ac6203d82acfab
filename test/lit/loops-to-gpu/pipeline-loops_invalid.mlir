// RUN: tilewright-opt %s --pipeline-loops --split-input-file --verify-diagnostics

func.func @carries(%A: memref<64xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{software_pipeline: expected a loop that carries no values}}
  %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %x) -> f32 {
    %tile = memref.alloc() {schedule.pipelined} : memref<1xf32, #gpu.address_space<workgroup>>
    %a = memref.load %A[%k] : memref<64xf32>
    memref.store %a, %tile[%c0] : memref<1xf32, #gpu.address_space<workgroup>>
    %b = memref.load %tile[%c0] : memref<1xf32, #gpu.address_space<workgroup>>
    %next = arith.addf %acc, %b : f32
    scf.yield %next : f32
  } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  memref.store %sum, %A[%c0] : memref<64xf32>
  return
}

// -----

func.func @reads_its_own(%A: memref<64xf32>, %B: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %k = %c0 to %c8 step %c1 {
    %first = memref.alloc() {schedule.pipelined} : memref<8xf32, #gpu.address_space<workgroup>>
    %second = memref.alloc() {schedule.pipelined} : memref<8xf32, #gpu.address_space<workgroup>>
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.load %A[%i] : memref<64xf32>
      memref.store %a, %first[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    }
    // expected-error @below {{software_pipeline: expected a stage that reads what is there before the loop, got one that reads what the same iteration computes}}
    scf.for %i = %c0 to %c8 step %c1 {
      %b = memref.load %first[%i] : memref<8xf32, #gpu.address_space<workgroup>>
      memref.store %b, %second[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    }
    %c = memref.load %second[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %c, %B[%k] : memref<64xf32>
  } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  return
}

// -----

func.func @symbolic(%A: memref<?xf32>, %B: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %k = %c0 to %c8 step %c1 {
    %tile = memref.alloc() {schedule.pipelined} : memref<8xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{software_pipeline: expected a loop of constant extent, as its elements are held in registers, got one that is symbolic}}
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %A[%i] : memref<?xf32>
      memref.store %a, %tile[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    }
    %c = memref.load %tile[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %c, %B[%k] : memref<64xf32>
  } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  return
}

// -----

func.func @fills_nothing(%A: memref<64xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{software_pipeline: expected a loop that fills shared buffers, got one that fills none}}
  scf.for %k = %c0 to %c8 step %c1 {
    memref.store %x, %A[%k] : memref<64xf32>
  } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  return
}
