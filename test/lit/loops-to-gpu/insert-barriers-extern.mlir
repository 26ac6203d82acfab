// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(insert-barriers)))' | FileCheck %s --implicit-check-not=gpu.barrier

// Statements of te.extern are those of a user, of which less is known than of a stage's loops. Every barrier is named below.

gpu.module @kernels {
memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024}

// A place that a thread adds to may be one that another has stored to.
// CHECK-LABEL: gpu.func @added_to
// CHECK: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
gpu.func @added_to(%A: memref<32xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, te.extern = "E"} {
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  memref.store %x, %A[%other] : memref<32xf32>
  %y = memref.load %A[%tx] : memref<32xf32>
  %z = arith.addf %x, %y : f32
  memref.store %z, %A[%tx] : memref<32xf32>
  gpu.return
}

// Loops of an extern store what they like to an element, each time.
// CHECK-LABEL: gpu.func @stored_twice
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: memref.store
// CHECK: gpu.barrier
// CHECK-NEXT: memref.store
gpu.func @stored_twice(%x: f32, %y: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, te.extern = "E"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "E"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
  } {schedule.axis = #schedule.axis<"i" of "E">}
  gpu.return
}

// A tree: the threads below 8 read above them.
// CHECK-LABEL: gpu.func @tree
// CHECK: memref.store
// CHECK: gpu.barrier
// CHECK-NEXT: scf.if
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: memref.store
gpu.func @tree(%x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>, te.extern = "E"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<16xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %above = affine.apply affine_map<(d0) -> (d0 + 8)>(%tx)
  memref.store %x, %S[%tx] : memref<16xf32, #gpu.address_space<workgroup>>
  %low = arith.cmpi slt, %tx, %c8 : index
  scf.if %low {
    %y = memref.load %S[%tx] : memref<16xf32, #gpu.address_space<workgroup>>
    %z = memref.load %S[%above] : memref<16xf32, #gpu.address_space<workgroup>>
    %sum = arith.addf %y, %z : f32
    memref.store %sum, %S[%tx] : memref<16xf32, #gpu.address_space<workgroup>>
  }
  gpu.return
}

// The same in what the threads from 8 on do: those below are no longer there.
// CHECK-LABEL: gpu.func @other_half
// CHECK: scf.if
// CHECK: } else {
gpu.func @other_half(%x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>, te.extern = "E"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<16xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %below = affine.apply affine_map<(d0) -> (d0 - 8)>(%tx)
  %low = arith.cmpi slt, %tx, %c8 : index
  scf.if %low {
  } else {
    memref.store %x, %S[%tx] : memref<16xf32, #gpu.address_space<workgroup>>
    memref.store %x, %S[%below] : memref<16xf32, #gpu.address_space<workgroup>>
  }
  gpu.return
}

// Pairs that begin at a place that is one for all threads in an iteration: no thread has an element of another's pair.
// CHECK-LABEL: gpu.func @pairs
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK-NEXT: memref.store
// CHECK-NEXT: memref.store
gpu.func @pairs(%x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>, te.extern = "E"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<33xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  scf.for %step = %c0 to %c31 step %c1 {
    %left = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1 mod 2)>(%tx, %step)
    %right = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1 mod 2 + 1)>(%tx, %step)
    memref.store %x, %S[%left] : memref<33xf32, #gpu.address_space<workgroup>>
    memref.store %x, %S[%right] : memref<33xf32, #gpu.address_space<workgroup>>
  }
  gpu.return
}
}
