// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(elect-writer-threads)))' | FileCheck %s

gpu.module @kernels {

// What all threads would write alike, one writes; what only the store needs goes along.
// CHECK-LABEL: gpu.func @one_value
// CHECK: %[[TX:.*]] = gpu.thread_id x
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[TX]], %{{.*}} : index
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK-NEXT:   %[[BX:.*]] = gpu.block_id x
// CHECK-NEXT:   %[[N:.*]] = memref.load %arg0[%[[BX]]]
// CHECK-NEXT:   memref.store %[[N]], %arg1[%[[BX]]]
// CHECK-NEXT: }
// CHECK-NEXT: gpu.return
gpu.func @one_value(%A: memref<8xi32>, %B: memref<8xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %bx = gpu.block_id x
  %n = memref.load %A[%bx] : memref<8xi32>
  memref.store %n, %B[%bx] : memref<8xi32>
  gpu.return
}

// What all threads would add, one adds.
// CHECK-LABEL: gpu.func @one_addition
// CHECK: scf.if
// CHECK: memref.atomic_rmw addi
gpu.func @one_addition(%B: memref<8xi32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %bx = gpu.block_id x
  %before = memref.atomic_rmw addi %n, %B[%bx] : (i32, memref<8xi32>) -> i32
  gpu.return
}

// Each thread writes its own: nothing to elect.
// CHECK-LABEL: gpu.func @own_element
// CHECK-NOT: scf.if
// CHECK: gpu.return
gpu.func @own_element(%A: memref<32xi32>, %B: memref<32xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %tx = gpu.thread_id x
  %n = memref.load %A[%tx] : memref<32xi32>
  memref.store %n, %B[%tx] : memref<32xi32>
  gpu.return
}

// Along y alone, where the value depends on x; along no index that has one thread.
// CHECK-LABEL: gpu.func @along_one_index
// CHECK: %[[X:.*]] = gpu.thread_id x
// CHECK-NEXT: gpu.barrier
// CHECK: %[[Y:.*]] = gpu.thread_id y
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : index
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK-NEXT: memref.load %arg0[%[[X]]]
// CHECK-NEXT: memref.store %{{.*}}, %arg1[%[[X]]]
gpu.func @along_one_index(%A: memref<32xi32>, %B: memref<32xi32>) kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
  %tx = gpu.thread_id x
  gpu.barrier
  %n = memref.load %A[%tx] : memref<32xi32>
  memref.store %n, %B[%tx] : memref<32xi32>
  gpu.return
}

// Along both.
// CHECK-LABEL: gpu.func @along_two
// CHECK-DAG: %[[X:.*]] = gpu.thread_id x
// CHECK-DAG: %[[Y:.*]] = gpu.thread_id y
// CHECK-DAG: %[[IS_X:.*]] = arith.cmpi eq, %[[X]], %{{.*}} : index
// CHECK-DAG: %[[IS_Y:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : index
// CHECK: %[[BOTH:.*]] = arith.andi %[[IS_X]], %[[IS_Y]] : i1
// CHECK-NEXT: scf.if %[[BOTH]] {
// CHECK-NEXT: gpu.block_id x
// CHECK-NEXT: memref.store
gpu.func @along_two(%B: memref<8xi32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
  %bx = gpu.block_id x
  memref.store %n, %B[%bx] : memref<8xi32>
  gpu.return
}

// A whole loop; what a thread keeps in registers stays outside, in every thread.
// CHECK-LABEL: gpu.func @loop
// CHECK: %[[L:.*]] = memref.alloca()
// CHECK: memref.store %arg1, %[[L]]
// CHECK: scf.if
// CHECK-NEXT: scf.for
// CHECK: memref.store %{{.*}}, %arg0
// CHECK: gpu.return
gpu.func @loop(%B: memref<8xi32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %l = memref.alloca() : memref<1xi32, #gpu.address_space<private>>
  memref.store %n, %l[%c0] : memref<1xi32, #gpu.address_space<private>>
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %l[%c0] : memref<1xi32, #gpu.address_space<private>>
    memref.store %x, %B[%i] : memref<8xi32>
  }
  gpu.return
}

// Registers that hold what depends on the thread.
// CHECK-LABEL: gpu.func @registers
// CHECK-NOT: scf.if
// CHECK: gpu.return
gpu.func @registers(%A: memref<32xi32>, %B: memref<8xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %tx = gpu.thread_id x
  %l = memref.alloca() : memref<1xi32, #gpu.address_space<private>>
  %n = memref.load %A[%tx] : memref<32xi32>
  memref.store %n, %l[%c0] : memref<1xi32, #gpu.address_space<private>>
  %x = memref.load %l[%c0] : memref<1xi32, #gpu.address_space<private>>
  memref.store %x, %B[%c0] : memref<8xi32>
  gpu.return
}

// The condition depends on the thread: who writes is already said.
// CHECK-LABEL: gpu.func @condition
// CHECK: arith.cmpi ult
// CHECK-NEXT: scf.if
// CHECK-NOT: scf.if
// CHECK: gpu.return
gpu.func @condition(%B: memref<8xi32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %tx = gpu.thread_id x
  %low = arith.cmpi ult, %tx, %c4 : index
  scf.if %low {
    memref.store %n, %B[%c0] : memref<8xi32>
  }
  gpu.return
}

// Threads along x exchange values in shared memory. A single one along y does not do it as a whole, for it would take a
// barrier that all threads must reach.
// CHECK-LABEL: gpu.func @exchange
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: memref.store %arg1, %arg0
// CHECK-NEXT: }
// CHECK: scf.if
// CHECK-NEXT: memref.load %arg0
// CHECK-NEXT: memref.store {{.*}}, %arg2
// CHECK-NEXT: }
gpu.func @exchange(%S: memref<32xi32, #gpu.address_space<workgroup>>, %n: i32, %B: memref<32xi32>) kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %tx = gpu.thread_id x
  %other = affine.apply affine_map<(d0) -> (31 - d0)>(%tx)
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %n, %S[%tx] : memref<32xi32, #gpu.address_space<workgroup>>
    %x = memref.load %S[%other] : memref<32xi32, #gpu.address_space<workgroup>>
    memref.store %x, %B[%tx] : memref<32xi32>
  }
  gpu.return
}

// A sum in shared memory, each thread along x its own: one along y does all of it.
// CHECK-LABEL: gpu.func @own_sum
// CHECK: scf.if
// CHECK: memref.store
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load %arg0
// CHECK-NEXT: arith.addi
// CHECK-NEXT: memref.store
gpu.func @own_sum(%S: memref<32xi32, #gpu.address_space<workgroup>>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %tx = gpu.thread_id x
  memref.store %n, %S[%tx] : memref<32xi32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %S[%tx] : memref<32xi32, #gpu.address_space<workgroup>>
    %y = arith.addi %x, %n : i32
    memref.store %y, %S[%tx] : memref<32xi32, #gpu.address_space<workgroup>>
  }
  gpu.return
}

// From one buffer to another.
// CHECK-LABEL: gpu.func @from_one_to_another
// CHECK: scf.if
// CHECK-NEXT: gpu.thread_id x
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
gpu.func @from_one_to_another() kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
  %S = memref.alloc() : memref<32xi32, #gpu.address_space<workgroup>>
  %T = memref.alloc() : memref<32xi32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %x = memref.load %S[%tx] : memref<32xi32, #gpu.address_space<workgroup>>
  memref.store %x, %T[%tx] : memref<32xi32, #gpu.address_space<workgroup>>
  gpu.return
}

// One buffer and then another, which may be given the same place: a barrier must fit between.
// CHECK-LABEL: gpu.func @one_after_another
// CHECK: memref.load {{.*}}workgroup
// CHECK: scf.if
// CHECK-NOT: memref.load {{.*}}workgroup
// CHECK: memref.store {{.*}}workgroup
// CHECK-NEXT: }
gpu.func @one_after_another(%A: memref<32xi32>, %B: memref<32xi32>) kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
  %S = memref.alloc() : memref<32xi32, #gpu.address_space<workgroup>>
  %T = memref.alloc() : memref<32xi32, #gpu.address_space<workgroup>>
  %tx = gpu.thread_id x
  %x = memref.load %S[%tx] : memref<32xi32, #gpu.address_space<workgroup>>
  memref.store %x, %B[%tx] : memref<32xi32>
  %y = memref.load %A[%tx] : memref<32xi32>
  memref.store %y, %T[%tx] : memref<32xi32, #gpu.address_space<workgroup>>
  gpu.return
}

// An update happens once a block, not once a thread.
// CHECK-LABEL: gpu.func @update
// CHECK: scf.if
// CHECK-NEXT: gpu.block_id x
// CHECK-NEXT: memref.load %arg0
// CHECK-NEXT: arith.addi
// CHECK-NEXT: memref.store
gpu.func @update(%B: memref<8xi32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %bx = gpu.block_id x
  %x = memref.load %B[%bx] : memref<8xi32>
  %y = arith.addi %x, %n : i32
  memref.store %y, %B[%bx] : memref<8xi32>
  gpu.return
}
}
