// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// What the loops stage says of loops, buffers and stores: each attribute as it is printed, defaults left out.
#shared = #gpu.address_space<workgroup>
func.func @f(%A: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %k = %c0 to %c8 step %c1 {
      // CHECK: memref.alloc() {schedule.pipelined, te.stage = "A.shared"}
      %a = memref.alloc() {schedule.pipelined, te.stage = "A.shared"} : memref<8xf32, #shared>
      %x = memref.load %A[%k] : memref<8xf32>
      // CHECK: memref.store {{.*}} {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64, deferred = true>}
      memref.store %x, %a[%k] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64, deferred = true>} : memref<8xf32, #shared>
      // CHECK: memref.store {{.*}} {schedule.reduce_add}
      memref.store %x, %A[%k] {schedule.reduce_add} : memref<8xf32>
      // CHECK: memref.store {{.*}} {schedule.async}
      memref.store %x, %a[%k] {schedule.async} : memref<8xf32, #shared>
      scf.for %m = %c0 to %c16 step %c1 {
        scf.for %n = %c0 to %c8 step %c1 {
          scf.for %r = %c0 to %c8 step %c1 {
          }
        }
      // CHECK: schedule.instruction = #schedule.instruction<mma_sync, 16x8x8>
      } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x8>}
    // CHECK: {schedule.axis = #schedule.axis<"k.outer" of "C.local">, schedule.pipeline = #schedule.pipeline<stages = 3, async = true>,
    // CHECK-SAME: schedule.specialize = #schedule.specialize<producer = 40, consumer = 232, consumers = 2>}
    } {schedule.axis = #schedule.axis<"k.outer" of "C.local">, schedule.pipeline = #schedule.pipeline<stages = 3, async = true>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 232, consumers = 2>}
  // CHECK: {schedule.axis = #schedule.axis<"i">, schedule.bind = #schedule.thread<blockIdx.x>, schedule.cluster = 2 : i64, schedule.min_blocks = 1 : i64,
  // CHECK-SAME: schedule.persistent = #schedule.persistent<blocks = 132, raster = grouped, group = 8, stream_k = true>}
  } {schedule.axis = #schedule.axis<"i">, schedule.bind = #schedule.thread<blockIdx.x>, schedule.cluster = 2 : i64, schedule.min_blocks = 1 : i64, schedule.persistent = #schedule.persistent<blocks = 132, raster = grouped, group = 8, stream_k = true>}
  // CHECK: {schedule.parallel, schedule.partition, schedule.unroll, schedule.vectorize, te.scan}
  scf.for %i = %c0 to %c8 step %c1 {
  } {schedule.parallel, schedule.partition, schedule.unroll, schedule.vectorize, te.scan}
  return
}

// CHECK: #schedule.persistent<blocks = 132, raster = hilbert, group = 4, narrower = 16, serpentine_k = true>
// CHECK: #schedule.instruction<wgmma, 64x256x128, promote = 2>
// CHECK: #schedule.instruction<wgmma, 64x64x32, tf32x3>
// CHECK: #schedule.instruction<wgmma, 64x64x32, tf32x3, promote = 2>
// CHECK: #schedule.axis<"a \22b\22" of "\\">
func.func private @values() attributes {
  test.persistent = #schedule.persistent<blocks = 132, raster = hilbert, group = 4, narrower = 16, serpentine_k = true>,
  test.promoted = #schedule.instruction<wgmma, 64x256x128, promote = 2>,
  test.promoted_splits = #schedule.instruction<wgmma, 64x64x32, tf32x3>,
  test.promoted_sums = #schedule.instruction<wgmma, 64x64x32, tf32x3, promote = 2>,
  test.quoted = #schedule.axis<"a \22b\22" of "\5C">
}
