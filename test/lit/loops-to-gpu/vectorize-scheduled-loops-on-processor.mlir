// RUN: tilewright-opt %s --pass-pipeline="builtin.module(func.func(vectorize-scheduled-loops{on-processor}))" | FileCheck %s

// A vector of any number of lanes, at any address.
// CHECK-LABEL: func.func @any_extent
// CHECK: %[[X:.*]] = vector.load %{{.*}} : memref<7x7xf32>, vector<7xf32>
// CHECK: vector.store %[[X]], %{{.*}} : memref<7x7xf32>, vector<7xf32>
func.func @any_extent(%A: memref<7x7xf32>, %B: memref<7x7xf32>, %i: index) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %j = %c0 to %c7 step %c1 {
    %x = memref.load %A[%i, %j] : memref<7x7xf32>
    memref.store %x, %B[%i, %j] : memref<7x7xf32>
  } {schedule.vectorize}
  return
}

// A longer loop is one over vectors, and the rest a vector of its own.
// CHECK-LABEL: func.func @long
// CHECK: scf.for
// CHECK: vector.load %{{.*}} : memref<100xf32>, vector<64xf32>
// CHECK: }
// CHECK: vector.load %{{.*}} : memref<100xf32>, vector<36xf32>
func.func @long(%A: memref<100xf32>, %B: memref<100xf32>) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %j = %c0 to %c100 step %c1 {
    %x = memref.load %A[%j] : memref<100xf32>
    memref.store %x, %B[%j] : memref<100xf32>
  } {schedule.vectorize}
  return
}

// The rest of a symbolic extent is a loop.
// CHECK-LABEL: func.func @symbolic
// CHECK: scf.for
// CHECK: vector.load %{{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: scf.for
// CHECK: memref.load
func.func @symbolic(%A: memref<?xf32>, %B: memref<?xf32>, %n: index) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %n step %c1 {
    %x = memref.load %A[%j] : memref<?xf32>
    memref.store %x, %B[%j] : memref<?xf32>
  } {schedule.vectorize}
  return
}

// What no vector access is made of stays as it is, for LLVM to look at.
// CHECK-LABEL: func.func @columns
// CHECK: scf.for
// CHECK-NOT: vector.
// CHECK-LABEL: func.func @unscheduled
func.func @columns(%A: memref<8x8xf32>, %B: memref<8x8xf32>) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %j = %c0 to %c8 step %c1 {
    %x = memref.load %A[%j, %c0] : memref<8x8xf32>
    memref.store %x, %B[%j, %c1] : memref<8x8xf32>
  } {schedule.vectorize}
  return
}

// CHECK-NOT: vector.
func.func @unscheduled(%A: memref<8xf32>, %B: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %j = %c0 to %c8 step %c1 {
    %x = memref.load %A[%j] : memref<8xf32>
    memref.store %x, %B[%j] : memref<8xf32>
  } {schedule.vectorize}
  return
}
