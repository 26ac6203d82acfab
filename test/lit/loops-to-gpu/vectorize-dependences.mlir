// RUN: tilewright-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(vectorize-scheduled-loops))' | FileCheck %s

// A sum that goes through memory: each iteration needs what the one before stored. No vectors.
// CHECK-LABEL: func @sum
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NOT: schedule.vectorize
func.func @sum(%A: memref<4xf32>, %B: memref<4xf32>, %C: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %v = %c0 to %c4 step %c1 {
    %a = memref.load %A[%v] : memref<4xf32>
    %b = memref.load %B[%v] : memref<4xf32>
    %c = memref.load %C[%c0] : memref<1xf32>
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    memref.store %s, %C[%c0] : memref<1xf32>
  } {schedule.vectorize}
  return
}

// -----

// What one iteration stores the next loads.
// CHECK-LABEL: func @shifted
// CHECK: scf.for
func.func @shifted(%A: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %v = %c0 to %c4 step %c1 {
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%v)
    %a = memref.load %A[%v] : memref<8xf32>
    %s = arith.addf %a, %x : f32
    memref.store %s, %A[%next] : memref<8xf32>
  } {schedule.vectorize}
  return
}

// -----

// What one iteration stores those before it have loaded: as lanes they still have.
// CHECK-LABEL: func @loaded_before
// CHECK: vector.store
// CHECK-NOT: scf.for
func.func @loaded_before(%A: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %v = %c0 to %c4 step %c1 {
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%v)
    %a = memref.load %A[%next] : memref<8xf32>
    %s = arith.addf %a, %x : f32
    memref.store %s, %A[%v] : memref<8xf32>
  } {schedule.vectorize}
  return
}

// -----

// Four elements on: never of the same four lanes.
// CHECK-LABEL: func @far
// CHECK: vector.store
// CHECK-NOT: scf.for
func.func @far(%A: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %v = %c0 to %c4 step %c1 {
    %next = affine.apply affine_map<(d0) -> (d0 + 4)>(%v)
    %a = memref.load %A[%v] : memref<8xf32>
    %s = arith.addf %a, %x : f32
    memref.store %s, %A[%next] : memref<8xf32>
  } {schedule.vectorize}
  return
}

// -----

// A place that all iterations take in turn.
// CHECK-LABEL: func @scratch
// CHECK: scf.for
func.func @scratch(%A: memref<4xf32>, %B: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
  scf.for %v = %c0 to %c4 step %c1 {
    %a = memref.load %A[%v] : memref<4xf32>
    memref.store %a, %t[%c0] : memref<1xf32, #gpu.address_space<private>>
    %b = memref.load %t[%c0] : memref<1xf32, #gpu.address_space<private>>
    memref.store %b, %B[%v] : memref<4xf32>
  } {schedule.vectorize}
  return
}

// -----

// Two stores whose last is another one lane by lane.
// CHECK-LABEL: func @last_of_two
// CHECK: scf.for
func.func @last_of_two(%A: memref<8xf32>, %x: f32, %y: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %v = %c0 to %c4 step %c1 {
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%v)
    memref.store %x, %A[%v] : memref<8xf32>
    memref.store %y, %A[%next] : memref<8xf32>
    memref.store %x, %A[%v] : memref<8xf32>
  } {schedule.vectorize}
  return
}

// -----

// Elements that the data names may be one and the same.
// CHECK-LABEL: func @histogram
// CHECK: scf.for
func.func @histogram(%I: memref<4xindex>, %C: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %v = %c0 to %c4 step %c1 {
    %i = memref.load %I[%v] : memref<4xindex>
    %next = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %v)
    %c = memref.load %C[%next] : memref<8xf32>
    %s = arith.addf %c, %x : f32
    memref.store %s, %C[%next] : memref<8xf32>
  } {schedule.vectorize}
  return
}

// -----

// Pairs of iterations share an element.
// CHECK-LABEL: func @halves
// CHECK: scf.for
func.func @halves(%A: memref<4xf32>, %C: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %v = %c0 to %c4 step %c1 {
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%v)
    %a = memref.load %A[%v] : memref<4xf32>
    %c = memref.load %C[%half] : memref<2xf32>
    %s = arith.addf %c, %a : f32
    memref.store %s, %C[%half] : memref<2xf32>
  } {schedule.vectorize}
  return
}

// -----

// Sums of their own, at the lanes' places: as before.
// CHECK-LABEL: func @own
// CHECK: vector.store
// CHECK-NOT: scf.for
func.func @own(%A: memref<4xf32>, %C: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %v = %c0 to %c4 step %c1 {
    %a = memref.load %A[%v] : memref<4xf32>
    %c = memref.load %C[%v] : memref<4xf32>
    %s = arith.addf %c, %a : f32
    memref.store %s, %C[%v] : memref<4xf32>
  } {schedule.vectorize}
  return
}

// -----

// Values that a loop carries have no lanes.
// CHECK-LABEL: func @carried
// CHECK: scf.for
func.func @carried(%A: memref<4xf32>, %C: memref<1xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %sum = scf.for %v = %c0 to %c4 step %c1 iter_args(%c = %x) -> f32 {
    %a = memref.load %A[%v] : memref<4xf32>
    %s = arith.addf %c, %a : f32
    scf.yield %s : f32
  } {schedule.vectorize}
  memref.store %sum, %C[%c0] : memref<1xf32>
  return
}

// -----

// Two stores of elements that are 8 apart in row-major order, although no index of them differs by a constant.
// CHECK-LABEL: func @apart_in_rows
// CHECK-COUNT-2: vector.store
// CHECK-NOT: scf.for
func.func @apart_in_rows(%A: memref<8x12xf32>, %x: f32, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %v = %c0 to %c4 step %c1 {
    %row = affine.apply affine_map<(d0, d1) -> (d0 floordiv 3)>(%i, %v)
    %column = affine.apply affine_map<(d0, d1) -> ((d0 mod 3) * 4 + d1)>(%i, %v)
    %next_row = affine.apply affine_map<(d0, d1) -> ((d0 + 2) floordiv 3)>(%i, %v)
    %next_column = affine.apply affine_map<(d0, d1) -> (((d0 + 2) mod 3) * 4 + d1)>(%i, %v)
    memref.store %x, %A[%row, %column] : memref<8x12xf32>
    memref.store %x, %A[%next_row, %next_column] : memref<8x12xf32>
  } {schedule.vectorize}
  return
}
