// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(insert-barriers)))' --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @in_branch(%S: memref<32xf32, #gpu.address_space<workgroup>>, %x: f32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %tx = gpu.thread_id x
    %low = arith.cmpi ult, %tx, %c4 : index
    // expected-note @below {{not all threads execute what is in here}}
    scf.if %low {
      // expected-note @below {{other threads access the same memory here}}
      memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
      // expected-error @below {{expected all threads of a block to reach this access of shared buffer 'a memref<32xf32, #gpu.address_space<workgroup>>': it needs a barrier before it, but stands in control flow that depends on thread indices}}
      %y = memref.load %S[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %y, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// A loop whose number of iterations differs between threads.
gpu.module @kernels {
  memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024}
  gpu.func @in_loop(%A: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
    %S = memref.view %all[%c0][] {te.stage = "A.shared"} : memref<0xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
    %tx = gpu.thread_id x
    // expected-note @below {{not all threads execute what is in here}}
    scf.for %i = %c0 to %tx step %c1 {
      // expected-note @below {{other threads access the same memory here}}
      %x = memref.load %S[%i] : memref<32xf32, #gpu.address_space<workgroup>>
      // expected-error @below {{expected all threads of a block to reach this access of shared buffer 'A.shared': it needs a barrier before it, but stands in control flow that depends on thread indices}}
      memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// Two regions that may follow one another in any order.
gpu.module @kernels {
  gpu.func @in_while(%S: memref<32xi32, #gpu.address_space<workgroup>>, %x: i32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %tx = gpu.thread_id x
    // expected-note @below {{not all threads execute what is in here}}
    scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi ult, %i, %tx : index
      // expected-error @below {{expected all threads of a block to reach this access of shared buffer 'a memref<32xi32, #gpu.address_space<workgroup>>': it needs a barrier before it, but stands in control flow that depends on thread indices}}
      %y = memref.load %S[%i] : memref<32xi32, #gpu.address_space<workgroup>>
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      // expected-note @below {{other threads access the same memory here}}
      memref.store %x, %S[%tx] : memref<32xi32, #gpu.address_space<workgroup>>
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}
