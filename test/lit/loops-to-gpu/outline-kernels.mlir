// RUN: tilewright-opt %s --outline-kernels | FileCheck %s

// Kernels in the order of their launches. They take the function's arguments in its order, with their names and alignments, then what
// else they use; constants and extents are computed inside. What is known of the grid and the block is said.
// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @f_kernels {
// CHECK: gpu.func @f_kernel0(%[[A:.*]]: memref<?xf32> {te.name = "A"}, %[[B:.*]]: memref<?xf32> {te.align = 4 : i64, te.name = "B"}, %[[T:.*]]: memref<8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
// CHECK-NOT: gpu.func
// CHECK: arith.constant 0 : index
// CHECK: memref.dim %[[A]]
// CHECK: gpu.return
// CHECK: gpu.func @f_kernel1(%{{.*}}: memref<8xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[A:.*]]: memref<?xf32> {te.name = "A"}, %{{.*}}: f32, %[[B:.*]]: memref<?xf32> {te.align = 4 : i64, te.name = "B"})
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[T:.*]] = memref.alloc
// CHECK: gpu.launch_func @f_kernels::@f_kernel0 blocks in (%[[N]], %{{.*}}, %{{.*}}) threads in (%{{.*}}, %{{.*}}, %{{.*}}) args(%[[A]] : memref<?xf32>, %[[B]] : memref<?xf32>, %[[T]] : memref<8xf32>) {tilewright.launch_origin = {grid.x = "i of stage B"}}
// CHECK: gpu.launch_func @f_kernels::@f_kernel1 {{.*}} args(%[[T]] : memref<8xf32>)
// CHECK-NOT: gpu.launch
func.func @f(%A: memref<?xf32> {te.name = "A"}, %x: f32, %B: memref<?xf32> {te.name = "B", te.align = 4 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  %T = memref.alloc() : memref<8xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %last = affine.apply affine_map<()[s0] -> (s0 - 1)>()[%n]
    %t = memref.load %T[%c0] : memref<8xf32>
    memref.store %t, %B[%last] : memref<?xf32>
    %a = memref.load %A[%bx] : memref<?xf32>
    memref.store %a, %B[%tx] : memref<?xf32>
    gpu.terminator
  } {tilewright.launch_origin = {grid.x = "i of stage B"}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %T[%bx] : memref<8xf32>
    gpu.terminator
  }
  return
}

// A function without launches gets no module.
// CHECK: func.func @g
// CHECK-NOT: @g_kernels
func.func @g() {
  return
}

// PTX has ASCII alone.
// CHECK: gpu.module @"{{.*}}_kernels"
// CHECK: gpu.func @caf$c3$a9_kernel0(
// CHECK: gpu.launch_func {{.*}}::@caf$c3$a9_kernel0
func.func @"café"(%A: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %A[%bx] : memref<4xf32>
    gpu.terminator
  }
  return
}
