// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// Attributes of the dialect schedule on ops of others: one that is not known, on another op, or of another type.
func.func @unknown() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected an attribute that the dialect schedule has for other dialects' ops, got "schedule.axes"}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.axes = 1}
  return
}

// -----

func.func @on_no_loop() {
  // expected-error @below {{'arith.constant' op expected "schedule.unroll" on a loop (scf.for)}}
  %x = arith.constant {schedule.unroll} 1.0 : f32
  return
}

// -----

func.func @axis() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.axis" to be #schedule.axis<...>, got "C.i"}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.axis = "C.i"}
  return
}

// -----

func.func @thread() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.bind" to be #schedule.thread<...>, got "threadIdx.x"}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.bind = "threadIdx.x"}
  return
}

// -----

func.func @unit_vectorize() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.vectorize" to be no value, got 2 : i64}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.vectorize = 2 : i64}
  return
}

// -----

func.func @unit_unroll() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.unroll" to be no value, got 2 : i64}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.unroll = 2 : i64}
  return
}

// -----

func.func @unit_parallel() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.parallel" to be no value, got 2 : i64}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.parallel = 2 : i64}
  return
}

// -----

func.func @unit_partition() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.partition" to be no value, got 2 : i64}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.partition = 2 : i64}
  return
}

// -----

func.func @min_blocks() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.min_blocks" to be an i64 from 1 to 2147483647, got 4294967296 : i64}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.min_blocks = 4294967296 : i64}
  return
}

// -----

func.func @pipeline() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.pipeline" to be #schedule.pipeline<...>, got 3 : i64}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.pipeline = 3 : i64}
  return
}

// -----

func.func @pipelined() {
  // expected-error @below {{'memref.alloca' op expected "schedule.pipelined" on the allocation of a buffer in shared memory}}
  %0 = memref.alloca() {schedule.pipelined} : memref<8xf32>
  return
}

// -----

func.func @pipelined_global() {
  // expected-error @below {{'memref.alloc' op expected "schedule.pipelined" on the allocation of a buffer in shared memory}}
  %0 = memref.alloc() {schedule.pipelined} : memref<8xf32>
  return
}

// -----

func.func @pipelined_value() {
  // expected-error @below {{'memref.alloc' op expected "schedule.pipelined" to be no value, got 3 : i64}}
  %0 = memref.alloc() {schedule.pipelined = 3} : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @async() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.async" on a store}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.async}
  return
}

// -----

func.func @instruction() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.instruction" to be #schedule.instruction<...>, got "wgmma"}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.instruction = "wgmma"}
  return
}

// -----

func.func @copy() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.copy" on a store of an element (memref.store)}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.copy = #schedule.copy<by = tma, swizzle = 128>}
  return
}

// -----

func.func @specialize() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.specialize" on a loop with schedule.pipeline}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.specialize = #schedule.specialize<producer = 40, consumer = 232>}
  return
}

// -----

func.func @roles() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.specialize" to be #schedule.specialize<...>, got array<i64: 40, 232>}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = array<i64: 40, 232>}
  return
}

// -----

func.func @cluster() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.cluster" on a loop bound to blockIdx.x or blockIdx.y}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.cluster = 2 : i64, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

func.func @cluster_size() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.cluster" to be an i64 from 1 to 8, got 9 : i64}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.cluster = 9 : i64, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @persistent() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.persistent" to be #schedule.persistent<...>, got 132 : i64}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.persistent = 132 : i64}
  return
}

// -----

func.func @inner() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @below {{'scf.for' op expected "schedule.persistent" on the outermost loop of a kernel}}
    scf.for %j = %c0 to %c8 step %c1 {
    } {schedule.persistent = #schedule.persistent<blocks = 132, raster = row>}
  }
  return
}

// -----

func.func @min_blocks_inside() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // expected-error @below {{'scf.for' op expected "schedule.min_blocks" on a kernel or its outermost loop}}
    scf.for %j = %c0 to %c8 step %c1 {
    } {schedule.min_blocks = 2 : i64}
  }
  return
}

// -----

func.func @rolling() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.rolling" on a loop with schedule.pipeline}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.rolling = #schedule.rolling<of = "M">}
  return
}

// -----

func.func @rolling_number() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{'scf.for' op expected "schedule.rolling" to be #schedule.rolling<...>, got 1 : i64}}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = 1}
  return
}

// -----

func.func @warp() {
  // expected-error @below {{'memref.alloca' op expected "schedule.warp" on the allocation of a buffer in shared memory}}
  %0 = memref.alloca() {schedule.warp = 0} : memref<8xf32, #gpu.address_space<private>>
  return
}

// -----

func.func @input_layouts() {
  // expected-error @below {{'memref.alloca' op expected "schedule.input_layouts" on a schedule (schedule.of)}}
  %0 = memref.alloca() {schedule.input_layouts = {}} : memref<8xf32>
  return
}

// -----

func.func @fragment() {
  // expected-error @below {{'memref.alloca' op expected "schedule.fragment" on a primitive that says a scope}}
  %0 = memref.alloca() {schedule.fragment = #schedule.fragment<matrix_a>} : memref<8xf32>
  return
}

// -----

func.func @matrix_axis() {
  // expected-error @below {{'memref.alloca' op expected "schedule.matrix_axis" on a loop (scf.for)}}
  %0 = memref.alloca() {schedule.matrix_axis = #schedule.matrix_axis<m>} : memref<8xf32>
  return
}

// -----

func.func @operand() {
  // expected-error @below {{'memref.alloca' op expected "schedule.operand" on a load or a store of an element (memref.load, memref.store)}}
  %0 = memref.alloca() {schedule.operand = #schedule.operand<a>} : memref<8xf32>
  return
}

// -----

func.func @rolling_nothing() {
  // expected-error @below {{expected the name of a stage, got an empty one}}
  %0 = memref.alloca() {schedule.rolling = #schedule.rolling<of = "">} : memref<8xf32>
  return
}
