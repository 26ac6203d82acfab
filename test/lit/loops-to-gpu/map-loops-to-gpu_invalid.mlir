// RUN: tilewright-opt %s --map-loops-to-gpu --split-input-file --verify-diagnostics

func.func @from_one(%A: memref<8xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{expected axis 'A.i', bound to threadIdx.x, to run from 0 by 1}}
  scf.for %i = %c1 to %c8 step %c1 {
    memref.store %x, %A[%i] : memref<8xf32>
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

func.func @carries(%A: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{expected a loop, bound to blockIdx.z, to carry no values}}
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %x) -> f32 {
    %next = arith.addf %acc, %acc : f32
    scf.yield %next : f32
  } {schedule.bind = #schedule.thread<blockIdx.z>}
  memref.store %sum, %A[%c0] : memref<8xf32>
  return
}

// -----

func.func @symbolic_threads(%A: memref<?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{expected a constant extent of threadIdx.x in a kernel whose threads reduce together, got a symbolic one of axis 'A.k'}}
    %sum:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %x, %part = %x) -> (f32, f32) {
      %e = memref.load %A[%k] : memref<?xf32>
      %next = arith.addf %acc, %e : f32
      scf.yield %next, %e : f32, f32
    } {schedule.axis = #schedule.axis<"k" of "A">, schedule.bind = #schedule.thread<threadIdx.x>}
    memref.store %sum#0, %A[%i] : memref<?xf32>
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.bind = #schedule.thread<threadIdx.y>}
  return
}

// -----

func.func @none(%A: memref<0xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{expected an extent of blockIdx.x of at least 1, got 0 of axis 'A.i'}}
  scf.for %i = %c0 to %c0 step %c1 {
    memref.store %x, %A[%i] : memref<0xf32>
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// The stage's name has a dot: the te.stage of its buffer says where it ends.
func.func @extents_differ(%A: memref<8xf32>, %C: memref<8xf32> {te.name = "C"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{axis 'C.i.inner' is bound here}}
  scf.for %i = %c0 to %c8 step %c1 {
    %S = memref.alloc() {te.stage = "A.shared"} : memref<8xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{expected extent 8 of threadIdx.x, as for axis 'C.i.inner', got 4 of axis 'A.shared.ax0'}}
    scf.for %j = %c0 to %c4 step %c1 {
      %a = memref.load %A[%j] : memref<8xf32>
      memref.store %a, %S[%j] : memref<8xf32, #gpu.address_space<workgroup>>
    } {schedule.axis = #schedule.axis<"ax0" of "A.shared">, schedule.bind = #schedule.thread<threadIdx.x>}
    %s = memref.load %S[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %s, %C[%i] : memref<8xf32>
  } {schedule.axis = #schedule.axis<"i.inner" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

func.func @blocks_differ(%C: memref<?xf32> {te.name = "C"}, %D: memref<?xf32> {te.name = "D"}, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %o = %c0 to %c2 step %c1 {
    // expected-note @below {{axis 'C.i' is bound here}}
    scf.for %i = %c0 to %n step %c1 {
      memref.store %x, %C[%i] : memref<?xf32>
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
    // expected-error @below {{expected a symbolic extent of blockIdx.x, as for axis 'C.i', got 2 of axis 'D.i'}}
    scf.for %i = %c0 to %c2 step %c1 {
      memref.store %x, %D[%i] : memref<?xf32>
    } {schedule.axis = #schedule.axis<"i" of "D">, schedule.bind = #schedule.thread<blockIdx.x>}
  }
  return
}

// -----

func.func @symbols_differ(%C: memref<?x?xf32> {te.name = "C"}, %m: index, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{axis 'C.i' is bound here}}
  scf.for %i = %c0 to %m step %c1 {
    // expected-error @below {{expected a symbolic extent of blockIdx.x, as for axis 'C.i', got another of axis 'C.j'}}
    scf.for %j = %c0 to %n step %c1 {
      memref.store %x, %C[%i, %j] : memref<?x?xf32>
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @one_symbolic(%C: memref<8x?xf32> {te.name = "C"}, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-note @below {{axis 'C.i' is bound here}}
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @below {{expected extent 8 of blockIdx.y, as for axis 'C.i', got a symbolic one of axis 'C.j'}}
    scf.for %j = %c0 to %n step %c1 {
      memref.store %x, %C[%i, %j] : memref<8x?xf32>
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

func.func @depth(%A: memref<65xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c65 = arith.constant 65 : index
  // expected-error @below {{expected at most 64 threads along threadIdx.z, got 65 of axis 'A.i'}}
  scf.for %i = %c0 to %c65 step %c1 {
    memref.store %x, %A[%i] : memref<65xf32>
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.bind = #schedule.thread<threadIdx.z>}
  return
}

// -----

func.func @threads(%A: memref<33x32x1xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c33 = arith.constant 33 : index
  scf.for %i = %c0 to %c33 step %c1 {
    // expected-error @below {{expected at most 1024 threads a block, got 32 along threadIdx.x of axis 'A.j' and 33 along threadIdx.y of axis 'A.i'}}
    scf.for %j = %c0 to %c32 step %c1 {
      memref.store %x, %A[%i, %j, %c0] : memref<33x32x1xf32>
    } {schedule.axis = #schedule.axis<"j" of "A">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.bind = #schedule.thread<threadIdx.y>}
  return
}

// -----

// The product of the extents would be 0 in 64 bits.
func.func @threads_wrap(%A: memref<?x?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 4294967296 : index
  scf.for %i = %c0 to %many step %c1 {
    // expected-error @below {{expected at most 1024 threads a block, got 4294967296 along threadIdx.x of axis 'A.j' and 4294967296 along threadIdx.y of axis 'A.i'}}
    scf.for %j = %c0 to %many step %c1 {
      memref.store %x, %A[%i, %j] : memref<?x?xf32>
    } {schedule.axis = #schedule.axis<"j" of "A">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.bind = #schedule.thread<threadIdx.y>}
  return
}

// -----

func.func @grid_y(%A: memref<65536xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 65536 : index
  // expected-error @below {{expected at most 65535 blocks along blockIdx.y, got 65536 of axis 'A.i'}}
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %A[%i] : memref<65536xf32>
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

func.func @grid_x(%A: memref<2147483648xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 2147483648 : index
  // expected-error @below {{expected at most 2147483647 blocks along blockIdx.x, got 2147483648 of axis 'A.i'}}
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %A[%i] : memref<2147483648xf32>
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @ragged(%A: memref<8x8xf32>, %ends: memref<8xindex>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %end = memref.load %ends[%i] : memref<8xindex>
    // expected-error @below {{expected the extent of axis 'A.j', bound to blockIdx.x, to be known when the kernel is launched}}
    scf.for %j = %c0 to %end step %c1 {
      memref.store %x, %A[%i, %j] : memref<8x8xf32>
    } {schedule.axis = #schedule.axis<"j" of "A">, schedule.bind = #schedule.thread<blockIdx.x>}
  }
  return
}

// -----

func.func @unbound(%A: memref<8x8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{stage 'A' is not bound to any block or thread: bind an axis, such as s[A].bind(i, te.thread_axis("blockIdx.x"))}}
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %x, %A[%i, %j] : memref<8x8xf32>
    } {schedule.axis = #schedule.axis<"j" of "A">}
  } {schedule.axis = #schedule.axis<"i" of "A">}
  return
}

// -----

func.func @scalar(%A: memref<f32> {te.name = "A"}, %B: memref<f32> {te.name = "B"}) {
  %a = memref.load %A[] : memref<f32>
  // expected-error @below {{stage 'B' is not bound to any block or thread: bind an axis of it, for which extent 1 is enough and which fuse() without axes makes, or compute it at a bound axis of its consumer}}
  memref.store %a, %B[] : memref<f32>
  return
}

// -----

// Of no stage that has a name.
func.func private @other()
func.func @call() {
  // expected-error @below {{expected all work to stand in loops bound to blocks or threads}}
  func.call @other() : () -> ()
  return
}

// -----

func.func @parallel(%A: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{parallel: expected a loop bound to a block or thread index, for a GPU has no threads of a CPU: use s[A].bind(i, te.thread_axis("blockIdx.x"))}}
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %A[%i] : memref<8xf32>
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.parallel}
  return
}

// -----

func.func @virtual_threads(%A: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{expected no loop on vthread: run inject-virtual-threads first}}
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %A[%i] : memref<8xf32>
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.bind = #schedule.thread<vthread>}
  return
}

// -----

func.func @extern_without_threads(%A: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{stage 'E' is not bound to any block or thread: let all of its statements stand in thread axes, such as ib.scope_attr(te.thread_axis("blockIdx.x"), "thread_extent", 1)}}
  memref.store %x, %A[%c0] {te.extern = "E"} : memref<8xf32>
  return
}

// -----

func.func @before_apply_schedule(%A: tensor<64xf32>, %c0: index, %c1: index, %c64: index, %x: f32) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<64xf32>
  // expected-error @below {{'te.extern' op expected no loop bound to a block or thread index inside, got that of axis 'C.t': run apply-schedule before}}
  %1 = te.extern "C" ins() outs(%C = %0 : tensor<64xf32>) {
    scf.for %t = %c0 to %c64 step %c1 {
      memref.store %x, %C[%t] : memref<64xf32>
    } {schedule.axis = #schedule.axis<"t" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  }
  return %1 : tensor<64xf32>
}
