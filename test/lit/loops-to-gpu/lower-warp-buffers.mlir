// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(lower-warp-buffers)))' | FileCheck %s

gpu.module @kernels {

// Each lane keeps its element, and gets its neighbour's.
// CHECK-LABEL: gpu.func @neighbour
// CHECK: %[[OWN:.*]] = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
// CHECK: memref.store %{{.*}}, %[[OWN]][%c0{{.*}}]
// CHECK: %[[LANE:.*]] = affine.apply #{{.*}}()[%thread_id_x]
// CHECK: %[[GIVEN:.*]] = memref.load %[[OWN]][%c0{{.*}}] {tilewright.exchanged}
// CHECK: %[[FROM:.*]] = arith.index_cast %[[LANE]] : index to i32
// CHECK: gpu.shuffle idx %[[GIVEN]], %[[FROM]], %c32_i32 : f32
// CHECK-NOT: workgroup
gpu.func @neighbour(%A: memref<32xf32>, %B: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %tx = gpu.thread_id x
  %w = memref.alloc() {schedule.warp = 0 : i64} : memref<32xf32, #gpu.address_space<workgroup>>
  %x = memref.load %A[%tx] : memref<32xf32>
  memref.store %x, %w[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  %at = affine.apply affine_map<(t) -> ((t + 1) mod 32)>(%tx)
  %y = memref.load %w[%at] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<32xf32>
  gpu.return
}

// All lanes take part, whoever stores: the shuffle stands before the predicate.
// CHECK-LABEL: gpu.func @predicate
// CHECK: gpu.shuffle
// CHECK: scf.if
// CHECK-NOT: memref.load
// CHECK: memref.store
gpu.func @predicate(%A: memref<32xf32>, %B: memref<20xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %tx = gpu.thread_id x
  %c20 = arith.constant 20 : index
  %w = memref.alloc() {schedule.warp = 0 : i64} : memref<32xf32, #gpu.address_space<workgroup>>
  %x = memref.load %A[%tx] : memref<32xf32>
  memref.store %x, %w[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  %inside = arith.cmpi slt, %tx, %c20 : index
  scf.if %inside {
    %at = affine.apply affine_map<(t) -> (31 - t)>(%tx)
    %y = memref.load %w[%at] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %B[%tx] : memref<20xf32>
  }
  gpu.return
}

// Two registers a lane: which of them the other lane's is, is decided by all that it may be.
// CHECK-LABEL: gpu.func @registers
// CHECK: memref.alloca() : memref<2xf32, #gpu.address_space<private>>
// CHECK-COUNT-2: gpu.shuffle
// CHECK: arith.select
gpu.func @registers(%A: memref<64xf32>, %B: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %tx = gpu.thread_id x
  %w = memref.alloc() {schedule.warp = 0 : i64} : memref<64xf32, #gpu.address_space<workgroup>>
  %second = affine.apply affine_map<(t) -> (t + 32)>(%tx)
  %x = memref.load %A[%tx] : memref<64xf32>
  %x2 = memref.load %A[%second] : memref<64xf32>
  memref.store %x, %w[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
  memref.store %x2, %w[%second] : memref<64xf32, #gpu.address_space<workgroup>>
  %at = affine.apply affine_map<(t) -> (t * 2)>(%tx)
  %y = memref.load %w[%at] : memref<64xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<32xf32>
  gpu.return
}

// Rows of 8 lanes are in one warp: a row's first lane is where it begins.
// CHECK-LABEL: gpu.func @rows_in_a_warp
// CHECK: %[[LANE:.*]] = affine.apply #{{.*}}()[%thread_id_x, %thread_id_y]
// CHECK: gpu.shuffle idx
gpu.func @rows_in_a_warp(%A: memref<4x8xf32>, %B: memref<4x8xf32>) kernel attributes {known_block_size = array<i32: 8, 4, 1>} {
  %tx = gpu.thread_id x
  %ty = gpu.thread_id y
  %w = memref.alloc() {schedule.warp = 2 : i64} : memref<8xf32, #gpu.address_space<workgroup>>
  %x = memref.load %A[%ty, %tx] : memref<4x8xf32>
  memref.store %x, %w[%tx] : memref<8xf32, #gpu.address_space<workgroup>>
  %at = affine.apply affine_map<(t) -> (7 - t)>(%tx)
  %y = memref.load %w[%at] : memref<8xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%ty, %tx] : memref<4x8xf32>
  gpu.return
}

// An index that is data: shared memory, in which each row of threads has its own.
// CHECK-LABEL: gpu.func @data
// CHECK: %[[ROW:.*]] = gpu.thread_id y
// CHECK: %[[W:.*]] = memref.alloc() : memref<4x32xf32, #gpu.address_space<workgroup>>
// CHECK: memref.store %{{.*}}, %[[W]][%[[ROW]], %{{.*}}]
// CHECK: memref.load %[[W]][%[[ROW]], %{{.*}}]
// CHECK-NOT: shuffle
gpu.func @data(%A: memref<4x32xf32>, %I: memref<32xindex>, %B: memref<4x32xf32>) kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
  %tx = gpu.thread_id x
  %ty = gpu.thread_id y
  %w = memref.alloc() {schedule.warp = 2 : i64} : memref<32xf32, #gpu.address_space<workgroup>>
  %x = memref.load %A[%ty, %tx] : memref<4x32xf32>
  memref.store %x, %w[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
  %at = memref.load %I[%tx] : memref<32xindex>
  %y = memref.load %w[%at] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%ty, %tx] : memref<4x32xf32>
  gpu.return
}

// An element that two lanes store is no lane's own, and 48 threads are no warp.
// CHECK-LABEL: gpu.func @not_its_own
// CHECK-NOT: shuffle
// CHECK: gpu.return
gpu.func @not_its_own(%A: memref<32xf32>, %B: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %tx = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %w = memref.alloc() {schedule.warp = 0 : i64} : memref<32xf32, #gpu.address_space<workgroup>>
  %x = memref.load %A[%tx] : memref<32xf32>
  %half = affine.apply affine_map<(t) -> (t floordiv 2)>(%tx)
  memref.store %x, %w[%half] : memref<32xf32, #gpu.address_space<workgroup>>
  %y = memref.load %w[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<32xf32>
  gpu.return
}
// CHECK-LABEL: gpu.func @no_warp
// CHECK-NOT: shuffle
// CHECK: gpu.return
gpu.func @no_warp(%A: memref<48xf32>, %B: memref<48xf32>) kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
  %tx = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %w = memref.alloc() {schedule.warp = 0 : i64} : memref<48xf32, #gpu.address_space<workgroup>>
  %x = memref.load %A[%tx] : memref<48xf32>
  memref.store %x, %w[%tx] : memref<48xf32, #gpu.address_space<workgroup>>
  %y = memref.load %w[%c0] : memref<48xf32, #gpu.address_space<workgroup>>
  memref.store %y, %B[%tx] : memref<48xf32>
  gpu.return
}
// A load that only some lanes come by, after a store there.
// CHECK-LABEL: gpu.func @some_lanes
// CHECK-NOT: shuffle
// CHECK: gpu.return
gpu.func @some_lanes(%A: memref<32xf32>, %B: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %tx = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c20 = arith.constant 20 : index
  %w = memref.alloc() {schedule.warp = 0 : i64} : memref<32xf32, #gpu.address_space<workgroup>>
  %inside = arith.cmpi slt, %tx, %c20 : index
  scf.if %inside {
    %x = memref.load %A[%tx] : memref<32xf32>
    memref.store %x, %w[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    %y = memref.load %w[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %y, %B[%tx] : memref<32xf32>
  }
  gpu.return
}
}
