// RUN: tilewright-opt %s --verify-stage=stage=gpu -split-input-file -verify-diagnostics

// What may not stand at the stage gpu.
func.func @f() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{stage gpu: expected no 'schedule.bind', got it on 'scf.for': run map-loops-to-gpu before}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{stage gpu: expected no 'schedule.parallel', got it on 'scf.for': run map-loops-to-gpu before}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.parallel}
  return
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{stage gpu: expected no 'schedule.pipeline', got it on 'scf.for': run pipeline-loops before}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  return
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{stage gpu: expected no 'schedule.vectorize', got it on 'scf.for': run vectorize-scheduled-loops before}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.vectorize}
  return
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{stage gpu: expected no 'schedule.persistent', got it on 'scf.for': run raise-to-tile-ops before}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.persistent = #schedule.persistent<blocks = 132, raster = row>}
  return
}

// -----

func.func @f() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{stage gpu: expected no 'schedule.instruction', got it on 'scf.for': run distribute-fragments before}}
  scf.for %m = %c0 to %c16 step %c1 {
    scf.for %n = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c8 step %c1 {
      }
    }
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x8>}
  return
}

// -----

func.func @f() {
  // expected-error @below {{stage gpu: expected no 'schedule.pipelined', got it on 'memref.alloc': run pipeline-loops before}}
  %0 = memref.alloc() {schedule.pipelined} : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @f(%A: memref<1xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{stage gpu: expected no 'schedule.async', got it on 'memref.store': run convert-copies-to-async before}}
  memref.store %x, %A[%c0] {schedule.async} : memref<1xf32>
  return
}

// -----

func.func @f(%A: memref<1xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{stage gpu: expected no 'schedule.copy', got it on 'memref.store': run raise-to-tile-ops before}}
  memref.store %x, %A[%c0] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<1xf32>
  return
}

// -----

func.func @f(%A: memref<1xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{stage gpu: expected no 'schedule.reduce_add', got it on 'memref.store': run make-stores-atomic before}}
  memref.store %x, %A[%c0] {schedule.reduce_add} : memref<1xf32>
  return
}

// -----

// expected-error @below {{stage gpu: expected no 'schedule.bound', got it on 'func.func': run map-loops-to-gpu before}}
func.func @f(%A: memref<1xf32>) attributes {schedule.bound = [#schedule.thread<blockIdx.x>]} {
  return
}

// -----

func.func @f() {
  %c1 = arith.constant 1 : index
  // expected-error @below {{stage gpu: expected kernels in modules of their own, got 'gpu.launch': run outline-kernels before}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%x = %c1, %y = %c1, %z = %c1) {
    gpu.terminator
  }
  return
}

// -----

func.func @f() {
  // expected-error @below {{stage gpu: expected bools as bytes, got a buffer of type 'memref<8xi1>': run store-bools-as-bytes before}}
  %0 = memref.alloc() : memref<8xi1>
  return
}

// -----

gpu.module @kernels {
  // expected-error @below {{expected at most 524288 bytes of local memory a thread, got 524292: A.local (524288 bytes), B.local (4 bytes)}}
  gpu.func @f() kernel {
    %a = memref.alloca() {te.stage = "A.local"} : memref<131072xf32, #gpu.address_space<private>>
    %b = memref.alloca() {te.stage = "B.local"} : memref<f32, #gpu.address_space<private>>
    gpu.return
  }
}
