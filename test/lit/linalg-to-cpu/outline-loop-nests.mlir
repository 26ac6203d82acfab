// RUN: tilewright-opt %s --outline-loop-nests | FileCheck %s

// CHECK: llvm.func @tilewrightHostParallel(!llvm.ptr, !llvm.ptr, i64) -> i32

// A parallel nest is handed to the threads, with what it uses in memory.
// CHECK-LABEL: func.func @f
// CHECK: %[[CONTEXT:.*]] = llvm.alloca {{.*}} x !llvm.struct<(ptr, i64, ptr)>
// CHECK-COUNT-3: llvm.store
// CHECK: %[[TASK:.*]] = llvm.mlir.addressof @f_loops0_task
// CHECK: llvm.call @tilewrightHostParallel(%[[TASK]], %[[CONTEXT]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64) -> i32
// CHECK-LABEL: func.func private @f_loops0
// CHECK-SAME: (%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.noalias}, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK-SAME: no_inline
// CHECK: %[[FROM:.*]] = arith.index_cast %[[BEGIN]]
// CHECK: %[[TO:.*]] = arith.index_cast %[[END]]
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[TO]]
// What is parallel in it is serial.
// CHECK-NOT: schedule.parallel
// CHECK-LABEL: llvm.func internal @f_loops0_task
// CHECK-SAME: (%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) -> i32
// CHECK: call @f_loops0
func.func @f(%A: memref<?x4xf32>, %B: memref<8x4xf32>) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %a = memref.load %A[%i, %j] : memref<?x4xf32>
      memref.store %a, %B[%i, %j] : memref<8x4xf32>
    } {schedule.parallel}
  } {schedule.parallel}
  return
}

// A parallel loop in a serial nest.
// CHECK-LABEL: func.func @g
// CHECK: call @g_loops0
// CHECK-LABEL: func.func private @g_loops0
// CHECK: scf.for
// CHECK: llvm.call @tilewrightHostParallel
// CHECK-LABEL: func.func private @g_loops1
func.func @g(%A: memref<8x4xf32>, %B: memref<8x4xf32>) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %a = memref.load %A[%i, %j] : memref<8x4xf32>
      memref.store %a, %B[%i, %j] : memref<8x4xf32>
    } {schedule.parallel}
  }
  return
}

// A scan's order is serial; views of one buffer overlap.
// CHECK-LABEL: func.func @h
// CHECK: call @h_loops0
// CHECK-LABEL: func.func private @h_loops0
// CHECK-NOT: llvm.noalias
// CHECK-NOT: tilewrightHostParallel
func.func @h(%A: memref<8xf32>) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %part = memref.subview %A[0] [4] [1] : memref<8xf32> to memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %part[%i] : memref<4xf32>
    memref.store %a, %A[%i] : memref<8xf32>
  } {schedule.parallel, te.scan}
  return
}

// Without a schedule a function stays.
// CHECK-LABEL: func.func @unscheduled
// CHECK: scf.for
func.func @unscheduled(%A: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %A[%i] : memref<8xf32>
  } {schedule.parallel}
  return
}

// Without a schedule the loops for threads alone become functions. Their buffers may be parts of one: an offset that
// only the program knows is added to the address.
// CHECK-LABEL: func.func @of_the_compiler
// CHECK: scf.for
// CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: llvm.call @tilewrightHostParallel
// CHECK-LABEL: func.func private @of_the_compiler_loops0
// CHECK-NOT: llvm.noalias
// CHECK-NOT: tilewright.scheduled
// CHECK: return
func.func @of_the_compiler(%A: memref<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %row = memref.subview %A[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    scf.for %j = %c0 to %c4 step %c1 {
      memref.store %zero, %row[%j] : memref<4xf32, strided<[1], offset: ?>>
    } {schedule.parallel}
  }
  return
}

// A buffer on the stack is the task's, and each iteration frees one on the heap.
// CHECK-LABEL: func.func private @statements_loops0
// CHECK: memref.alloca() : memref<4xf32>
// CHECK: scf.for
// CHECK: %[[LARGE:.*]] = memref.alloc() : memref<1000xf32>
// CHECK: memref.dealloc %[[LARGE]]
// CHECK-NEXT: }
func.func @statements(%A: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %small = memref.alloca() : memref<4xf32>
    %large = memref.alloc() : memref<1000xf32>
    memref.store %zero, %small[%c0] : memref<4xf32>
    memref.store %zero, %large[%i] : memref<1000xf32>
    memref.store %zero, %A[%i] : memref<8xf32>
  } {schedule.parallel}
  return
}
