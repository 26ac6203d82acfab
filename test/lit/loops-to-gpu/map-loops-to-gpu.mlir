// RUN: tilewright-opt %s --map-loops-to-gpu --split-input-file | FileCheck %s

// Extents and where they came from; the loops are gone, their variables are the indices.
// CHECK-LABEL: func.func @elementwise
// CHECK: gpu.launch blocks(%[[BX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c4, %{{.*}} = %c1{{.*}}, %{{.*}} = %c1{{.*}}) threads(%[[TX:.*]], %[[TY:.*]], %{{.*}}) in (%{{.*}} = %c32, %{{.*}} = %c2, %{{.*}} = %c1{{.*}})
// CHECK-NEXT: %[[I:.*]] = affine.apply #{{.*}}(%[[BX]], %[[TY]])
// CHECK-NEXT: memref.store %arg1, %arg0[%[[I]], %[[TX]]]
// CHECK-NEXT: gpu.terminator
// CHECK-NEXT: } {tilewright.launch_origin = {block.x = "j of stage C, p.py:7", block.y = "i.inner of stage C", grid.x = "i.outer of stage C"}}
func.func @elementwise(%C: memref<8x32xf32> {te.name = "C"}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.for %io = %c0 to %c4 step %c1 {
    scf.for %ii = %c0 to %c2 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        %i = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%io, %ii)
        memref.store %x, %C[%i, %j] : memref<8x32xf32>
      } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<threadIdx.x>} loc("/home/user/p.py":7:0)
    } {schedule.axis = #schedule.axis<"i.inner" of "C">, schedule.bind = #schedule.thread<threadIdx.y>} loc(unknown)
  } {schedule.axis = #schedule.axis<"i.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.x>} loc(unknown)
  return
}

// -----

// A loop on an index inside another on the same index: threads share the work of the inner one. Loops that are not
// bound stay, as does one of a single iteration that is bound.
// CHECK-LABEL: func.func @shared_work
// CHECK: gpu.launch blocks(%[[BX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c1, {{.*}}) threads(%[[TX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c8, {{.*}})
// CHECK-NEXT: scf.for %[[K:.*]] =
// CHECK-NEXT: memref.store %arg2, %arg0[%[[K]], %[[TX]]]
// CHECK-NEXT: memref.store %arg2, %arg1[%[[BX]], %[[TX]]]
// CHECK-NEXT: }
// CHECK-NEXT: gpu.terminator
func.func @shared_work(%A: memref<8x8xf32>, %C: memref<1x8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c1 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c8 step %c1 {
        scf.for %l = %c0 to %c8 step %c1 {
          memref.store %x, %A[%k, %l] : memref<8x8xf32>
        } {schedule.axis = #schedule.axis<"l" of "A">, schedule.bind = #schedule.thread<threadIdx.x>}
        memref.store %x, %C[%i, %j] : memref<1x8xf32>
      } {schedule.axis = #schedule.axis<"k" of "C">}
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// One launch for each nest, in order, with the temporary between; an extent that is computed in the nest is computed
// before the launch, where another nest's same extent may be another value.
// CHECK-LABEL: func.func @two
// CHECK: %[[T:.*]] = memref.alloc
// CHECK: %[[BLOCKS:.*]] = affine.apply #{{.*}}()[%[[N:.*]]]
// CHECK: gpu.launch blocks(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %[[BLOCKS]],
// CHECK: memref.store %{{.*}}, %[[T]]
// CHECK: gpu.launch blocks(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %[[N]],
// CHECK: memref.load %[[T]]
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @two(%C: memref<?xf32> {te.name = "C"}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %C, %c0 : memref<?xf32>
  %T = memref.alloc(%n) {te.stage = "T"} : memref<?xf32>
  scf.for %r = %c0 to %c3 step %c1 {
    %blocks = affine.apply affine_map<()[s0] -> (s0 ceildiv 32)>()[%n]
    scf.for %i = %c0 to %blocks step %c1 {
      memref.store %x, %T[%i] : memref<?xf32>
    } {schedule.axis = #schedule.axis<"i" of "T">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.axis = #schedule.axis<"r" of "T">}
  scf.for %i = %c0 to %n step %c1 {
    %t = memref.load %T[%i] : memref<?xf32>
    memref.store %t, %C[%i] : memref<?xf32>
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// A grid whose least extent is known has blocks.
// CHECK-LABEL: func.func @never_empty
// CHECK: gpu.launch
// CHECK: } {tilewright.launch_origin = {grid.x = "i of stage A"}, tilewright.nonempty}
// CHECK: gpu.launch
// CHECK: } {tilewright.launch_origin = {grid.x = "i of stage B"}}
func.func @never_empty(%A: memref<?xf32> {te.name = "A", te.minimum = array<i64: 1>}, %B: memref<?xf32> {te.name = "B"}, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  %m = memref.dim %B, %c0 : memref<?xf32>
  %blocks = affine.apply affine_map<()[s0] -> (s0 ceildiv 32)>()[%n]
  scf.for %i = %c0 to %blocks step %c1 {
    memref.store %x, %A[%i] : memref<?xf32>
  } {schedule.axis = #schedule.axis<"i" of "A">, schedule.bind = #schedule.thread<blockIdx.x>} loc(unknown)
  scf.for %i = %c0 to %m step %c1 {
    memref.store %x, %B[%i] : memref<?xf32>
  } {schedule.axis = #schedule.axis<"i" of "B">, schedule.bind = #schedule.thread<blockIdx.x>} loc(unknown)
  return
}
