// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(insert-barriers)))' | FileCheck %s --implicit-check-not=gpu.barrier

// Every barrier is named below: there are no others.

gpu.module @kernels {
memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024}

// What other threads read, they read after a barrier.
// CHECK-LABEL: gpu.func @producer_consumer
// CHECK: memref.store {{.*}}#gpu.address_space<workgroup>>
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load {{.*}}#gpu.address_space<workgroup>>
// CHECK-NEXT: memref.store
gpu.func @producer_consumer(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  gpu.return
}

// As late as possible: what stands between needs no barrier.
// CHECK-LABEL: gpu.func @as_late_as_possible
// CHECK: arith.mulf
// CHECK-NEXT: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
gpu.func @as_late_as_possible(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  %w = arith.mulf %x, %x : f32
  memref.store %w, %A[%tx] : memref<64xf32>
  %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  gpu.return
}

// A thread that reads only what it wrote itself needs none.
// CHECK-LABEL: gpu.func @own_element
// CHECK: gpu.return
gpu.func @own_element(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  %y = memref.load %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  gpu.return
}

// Nor does memory of one thread alone; global memory that is written and read does.
// CHECK-LABEL: gpu.func @private_and_global
// CHECK: memref.store %{{.*}}, %arg1
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load %arg1
// CHECK: gpu.return
gpu.func @private_and_global(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %l = memref.alloca() : memref<32xf32, #gpu.address_space<private>>
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %l[%tx] : memref<32xf32, #gpu.address_space<private>>
  %y = memref.load %l[%other] : memref<32xf32, #gpu.address_space<private>>
  memref.store %y, %B[%tx] : memref<64xf32>
  %z = memref.load %B[%other] : memref<64xf32>
  memref.store %z, %A[%other] : memref<64xf32>
  gpu.return
}

// Threads that read what others read.
// CHECK-LABEL: gpu.func @only_reads
// CHECK: gpu.return
gpu.func @only_reads(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
  %z = memref.load %S[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  memref.store %z, %B[%tx] : memref<64xf32>
  gpu.return
}

// One thread a block.
// CHECK-LABEL: gpu.func @one_thread
// CHECK: gpu.return
gpu.func @one_thread(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  gpu.return
}

// A barrier that is there already serves.
// CHECK-LABEL: gpu.func @already_there
// CHECK: gpu.barrier
// CHECK-NEXT: memref.load
gpu.func @already_there(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  gpu.return
}

// A buffer that each iteration fills again: a second barrier keeps what is read from being overwritten.
// CHECK-LABEL: gpu.func @reused_in_loop
// CHECK: scf.for
// CHECK: memref.load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
// CHECK: gpu.return
gpu.func @reused_in_loop(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %A[%tx] : memref<64xf32>
    memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %B[%tx] : memref<64xf32>
  }
  gpu.return
}

// Filled once, read in a loop.
// CHECK-LABEL: gpu.func @read_in_loop
// CHECK: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.for
// CHECK: gpu.return
gpu.func @read_in_loop(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %c8 step %c1 {
    %y = memref.load %S[%i] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %B[%tx] : memref<64xf32>
  }
  gpu.return
}

// The barriers of an outer loop stand around the inner one, not in it.
// CHECK-LABEL: gpu.func @nested_loops
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK-NEXT: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK: gpu.return
gpu.func @nested_loops(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  scf.for %o = %c0 to %c8 step %c1 {
    %x = memref.load %A[%tx] : memref<64xf32>
    memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    scf.for %i = %c0 to %c8 step %c1 {
      %y = memref.load %S[%i] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %y, %B[%tx] : memref<64xf32>
    }
  }
  gpu.return
}

// Iterations that touch only a thread's own element: a barrier before the loop, none in it.
// CHECK-LABEL: gpu.func @own_element_in_loop
// CHECK: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK: gpu.return
gpu.func @own_element_in_loop(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %c8 step %c1 {
    %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
  }
  gpu.return
}

// A loop that may run no time at all: the barriers in it do not serve what comes after it.
// CHECK-LABEL: gpu.func @may_not_run
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
gpu.func @may_not_run(%A: memref<64xf32>, %B: memref<64xf32>, %n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %n step %c1 {
    %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  }
  %z = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %z, %B[%tx] : memref<64xf32>
  gpu.return
}

// Two buffers at one place, and one beside them that needs none.
// CHECK-LABEL: gpu.func @one_place
// CHECK: memref.load
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: memref.store {{.*}} : memref<32xf32
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.store {{.*}} : memref<64xf16
// CHECK: gpu.return
gpu.func @one_place(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %T = memref.view %all[%c0][] {te.stage = "T"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<64xf16, #gpu.address_space<workgroup>>
  %U = memref.view %all[%c128][] {te.stage = "U"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %y = memref.load %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  %h = arith.truncf %y : f32 to f16
  memref.store %y, %U[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %h, %T[%tx] : memref<64xf16, #gpu.address_space<workgroup>>
  gpu.return
}

// Parts of one buffer that are proven apart.
// CHECK-LABEL: gpu.func @apart
// CHECK: gpu.return
gpu.func @apart(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %half = affine.apply affine_map<(d0) -> (d0 mod 16 + 16)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%half] : memref<32xf32, #gpu.address_space<workgroup>>
  %y = memref.load %S[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  gpu.return
}

// One thread writes, all read: the barrier stands after the branch.
// CHECK-LABEL: gpu.func @elected
// CHECK: scf.if
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
gpu.func @elected(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  %first = arith.cmpi eq, %tx, %c0 : index
  scf.if %first {
    memref.store %x, %S[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
  }
  %y = memref.load %S[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  gpu.return
}

// One thread writes and, later, reads.
// CHECK-LABEL: gpu.func @elected_alone
// CHECK: gpu.return
gpu.func @elected_alone(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  %first = arith.cmpi eq, %tx, %c0 : index
  scf.if %first {
    memref.store %x, %S[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
  }
  scf.if %first {
    %y = memref.load %S[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %B[%tx] : memref<64xf32>
  }
  gpu.return
}

// Not all threads enter the branch: the barrier stands before it.
// CHECK-LABEL: gpu.func @before_branch
// CHECK: arith.cmpi
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.if
gpu.func @before_branch(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  %low = arith.cmpi ult, %tx, %c8 : index
  scf.if %low {
    %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %B[%tx] : memref<64xf32>
  }
  gpu.return
}

// All threads of a block take the same branch: it may hold a barrier.
// CHECK-LABEL: gpu.func @uniform_branch
// CHECK: scf.if
// CHECK: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
gpu.func @uniform_branch(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %bx = gpu.block_id x
  %low = arith.cmpi ult, %bx, %c8 : index
  scf.if %low {
    %x = memref.load %A[%tx] : memref<64xf32>
    memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %B[%tx] : memref<64xf32>
  }
  gpu.return
}

// A barrier in one branch does not serve those who took the other.
// CHECK-LABEL: gpu.func @one_branch
// CHECK: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.if
// CHECK: gpu.return
gpu.func @one_branch(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %bx = gpu.block_id x
  %low = arith.cmpi ult, %bx, %c8 : index
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  scf.if %low {
    %y = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %B[%tx] : memref<64xf32>
  }
  %z = memref.load %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %z, %B[%tx] : memref<64xf32>
  gpu.return
}

// Threads along y own rows: those along x share them.
// CHECK-LABEL: gpu.func @rows
// CHECK: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
gpu.func @rows(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 4, 8, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %ty = gpu.thread_id y
  %R = memref.view %all[%c0][] {te.stage = "R"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<8x4xf32, #gpu.address_space<workgroup>>
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %R[%ty, %tx] : memref<8x4xf32, #gpu.address_space<workgroup>>
  %y = memref.load %R[%ty, %c0] : memref<8x4xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  gpu.return
}

// As above, with one thread along x.
// CHECK-LABEL: gpu.func @own_row
// CHECK: gpu.return
gpu.func @own_row(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 1, 8, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %ty = gpu.thread_id y
  %R = memref.view %all[%c0][] {te.stage = "R"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<8x4xf32, #gpu.address_space<workgroup>>
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %R[%ty, %tx] : memref<8x4xf32, #gpu.address_space<workgroup>>
  %y = memref.load %R[%ty, %c1] : memref<8x4xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  gpu.return
}

// Vectors: within a thread's own, and past their end.
// CHECK-LABEL: gpu.func @vectors
// CHECK: vector.store
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
gpu.func @vectors(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %V = memref.view %all[%c0][] {te.stage = "V"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<128xf32, #gpu.address_space<workgroup>>
  %four = affine.apply affine_map<(d0) -> (d0 * 4)>(%tx)
  %last = affine.apply affine_map<(d0) -> (d0 * 4 + 3)>(%tx)
  %next = affine.apply affine_map<(d0) -> (d0 * 4 + 4)>(%tx)
  %v = vector.load %A[%four] : memref<64xf32>, vector<4xf32>
  vector.store %v, %V[%four] : memref<128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
  %y = memref.load %V[%last] : memref<128xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<64xf32>
  %z = memref.load %V[%next] : memref<128xf32, #gpu.address_space<workgroup>>
  memref.store %z, %B[%tx] : memref<64xf32>
  gpu.return
}

// What a thread writes to its element, it may do again: no order but its own.
// CHECK-LABEL: gpu.func @twice
// CHECK: gpu.return
gpu.func @twice(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  gpu.return
}

// Different threads that write to one element.
// CHECK-LABEL: gpu.func @two_writers
// CHECK: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.store
gpu.func @two_writers(%A: memref<64xf32>, %B: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %x, %S[%other] : memref<32xf32, #gpu.address_space<workgroup>>
  gpu.return
}

// Two buffers at one place of which a thread touches the same bytes; with an element between, other bytes.
// CHECK-LABEL: gpu.func @own_place
// CHECK: memref.store %{{.*}}, %{{.*}} : memref<8x4xf32
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.store
// CHECK: gpu.return
gpu.func @own_place(%A: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
  %S = memref.view %all[%c0][] {te.stage = "S"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %T = memref.view %all[%c0][] {te.stage = "T"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<8x4xf32, #gpu.address_space<workgroup>>
  %U = memref.view %all[%c4][] {te.stage = "U"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %i = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
  %j = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %x, %T[%i, %j] : memref<8x4xf32, #gpu.address_space<workgroup>>
  memref.store %x, %U[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  gpu.return
}

// Elements that lie as far apart as the grid has blocks: what an iteration reads the same thread stored before.
// CHECK-LABEL: gpu.func @blocks_between
// CHECK: gpu.return
gpu.func @blocks_between(%A: memref<9x64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>,
                                                                known_grid_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %tx = gpu.thread_id x
  %bx = gpu.block_id x
  %i = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%tx, %bx)
  scf.for %k = %c0 to %c8 step %c1 {
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %x = memref.load %A[%k, %i] : memref<9x64xf32>
    memref.store %x, %A[%next, %i] : memref<9x64xf32>
  }
  gpu.return
}

// One more block would reach the next thread's elements.
// CHECK-LABEL: gpu.func @blocks_beyond
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: gpu.return
gpu.func @blocks_beyond(%A: memref<9x65xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>,
                                                                known_grid_size = array<i32: 3, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %tx = gpu.thread_id x
  %bx = gpu.block_id x
  %i = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%tx, %bx)
  scf.for %k = %c0 to %c8 step %c1 {
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %x = memref.load %A[%k, %i] : memref<9x65xf32>
    memref.store %x, %A[%next, %i] : memref<9x65xf32>
  }
  gpu.return
}
}
