// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(vectorize-scheduled-loops,convert-copies-to-async{arch=sm_80}),canonicalize,cse)' --split-input-file | FileCheck %s

// What a predicate leaves out in all lanes or in none is a choice between vectors, and a copy that may be of nothing.
#index = affine_map<(i, j) -> (i * 4 + j)>
// CHECK-LABEL: func.func @edges
// CHECK-SAME:    %[[A:.*]]: memref<30x24xf32>, %[[I:.*]]: index, %[[J:.*]]: index
// CHECK-DAG:     %[[NONE:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[ALL:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[ROW:.*]] = arith.cmpi slt, %[[I]], %{{.*}} : index
// CHECK-DAG:     %[[AT:.*]] = affine.apply #{{.*}}()[%[[J]]]
// CHECK-DAG:     %[[COLUMN:.*]] = arith.cmpi slt, %[[AT]], %{{.*}} : index
// CHECK:         %[[INSIDE:.*]] = arith.andi %[[ROW]], %[[COLUMN]]
// CHECK:         %[[COPIED:.*]] = arith.select %[[INSIDE]], %[[ALL]], %[[NONE]] : index
// CHECK:         nvgpu.device_async_copy %[[A]][%[[I]], %[[AT]]], %{{.*}}[%[[NONE]]], 4, %[[COPIED]] {bypassL1} : memref<30x24xf32> to memref<4xf32, #gpu.address_space<workgroup>>
// CHECK-NOT:     scf.if
func.func @edges(%A: memref<30x24xf32>, %i: index, %o: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c24 = arith.constant 24 : index
  %c30 = arith.constant 30 : index
  %shared = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
  scf.for %j = %c0 to %c4 step %c1 {
    %k = affine.apply #index(%o, %j)
    %row = arith.cmpi slt, %i, %c30 : index
    %column = arith.cmpi slt, %k, %c24 : index
    %inside = arith.andi %row, %column : i1
    %x = scf.if %inside -> f32 {
      %y = memref.load %A[%i, %k] : memref<30x24xf32>
      scf.yield %y : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    memref.store %x, %shared[%j] {schedule.async} : memref<4xf32, #gpu.address_space<workgroup>>
  } {schedule.vectorize}
  return
}

// -----

// Of a row whose elements end between the lanes, the copy reads as many as there are, and of other rows none.
#index = affine_map<(i, j) -> (i * 4 + j)>
// CHECK-LABEL: func.func @first_lanes
// CHECK-SAME:    %[[A:.*]]: memref<30x24xf32>, %[[I:.*]]: index, %[[J:.*]]: index
// CHECK-DAG:     %[[NONE:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[ALL:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[END:.*]] = arith.constant 22 : index
// CHECK:         %[[ROW:.*]] = arith.cmpi slt, %[[I]], %{{.*}} : index
// CHECK:         %[[OFROW:.*]] = arith.select %[[ROW]], %[[ALL]], %[[NONE]] : index
// CHECK:         %[[AT:.*]] = affine.apply #{{.*}}()[%[[J]]]
// CHECK:         %[[THERE:.*]] = arith.subi %[[END]], %[[AT]] : index
// CHECK:         %[[ATMOST:.*]] = arith.minsi %[[THERE]], %[[ALL]] : index
// CHECK:         %[[ATLEAST:.*]] = arith.maxsi %[[ATMOST]], %[[NONE]] : index
// CHECK:         %[[COPIED:.*]] = arith.minsi %[[OFROW]], %[[ATLEAST]] : index
// CHECK:         nvgpu.device_async_copy %[[A]][%[[I]], %{{.*}}], %{{.*}}[%[[NONE]]], 4, %[[COPIED]] {bypassL1} : memref<30x24xf32> to memref<4xf32, #gpu.address_space<workgroup>>
// CHECK-NOT:     scf.for
func.func @first_lanes(%A: memref<30x24xf32>, %i: index, %o: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c22 = arith.constant 22 : index
  %c30 = arith.constant 30 : index
  %shared = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
  scf.for %j = %c0 to %c4 step %c1 {
    %k = affine.apply #index(%o, %j)
    %row = arith.cmpi slt, %i, %c30 : index
    %column = arith.cmpi slt, %k, %c22 : index
    %inside = arith.andi %row, %column : i1
    %x = scf.if %inside -> f32 {
      %y = memref.load %A[%i, %k] : memref<30x24xf32>
      scf.yield %y : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    memref.store %x, %shared[%j] {schedule.async} : memref<4xf32, #gpu.address_space<workgroup>>
  } {schedule.vectorize}
  return
}

// -----

// Lanes that may differ have no such choice: outside of the copy the loop stays.
#index = affine_map<(i, j) -> (i * 4 + j)>
// CHECK-LABEL: func.func @between_lanes
// CHECK:         scf.if
// CHECK:           vector.load
// CHECK:         else
// CHECK:           scf.for
func.func @between_lanes(%A: memref<32xf32>, %B: memref<32xf32>, %o: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c30 = arith.constant 30 : index
  scf.for %j = %c0 to %c4 step %c1 {
    %k = affine.apply #index(%o, %j)
    %inside = arith.cmpi slt, %k, %c30 : index
    %x = scf.if %inside -> f32 {
      %y = memref.load %A[%k] : memref<32xf32>
      scf.yield %y : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    memref.store %x, %B[%k] : memref<32xf32>
  } {schedule.vectorize}
  return
}

// -----

// Threads that have nothing to copy are no reason for copies of single elements.
#index = affine_map<(i, j) -> (i * 4 + j)>
// CHECK-LABEL: func.func @some_threads
// CHECK:         %[[SOME:.*]] = arith.cmpi slt, %arg2
// CHECK:         scf.if %[[SOME]] {
// CHECK:           %[[COPIED:.*]] = arith.select
// CHECK:           nvgpu.device_async_copy %arg0[%arg1, %{{.*}}], %{{.*}}, 4, %[[COPIED]]
// CHECK-NOT:     scf.for
func.func @some_threads(%A: memref<30x24xf32>, %i: index, %o: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c30 = arith.constant 30 : index
  %shared = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
  scf.for %j = %c0 to %c4 step %c1 {
    %k = affine.apply #index(%o, %j)
    %some = arith.cmpi slt, %o, %c6 : index
    scf.if %some {
      %row = arith.cmpi slt, %i, %c30 : index
      %x = scf.if %row -> f32 {
        %y = memref.load %A[%i, %k] : memref<30x24xf32>
        scf.yield %y : f32
      } else {
        %zero = arith.constant 0.0 : f32
        scf.yield %zero : f32
      }
      memref.store %x, %shared[%j] {schedule.async} : memref<4xf32, #gpu.address_space<workgroup>>
    }
  } {schedule.vectorize}
  return
}
