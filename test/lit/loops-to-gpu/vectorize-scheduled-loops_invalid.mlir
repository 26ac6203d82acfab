// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(vectorize-scheduled-loops))' --split-input-file --verify-diagnostics

func.func @odd(%A: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // expected-error @below {{vectorize: expected an axis of extent 1, 2, 4, 8 or 16, got 3}}
  scf.for %j = %c0 to %c3 step %c1 {
    %x = memref.load %A[%j] : memref<3xf32>
  } {schedule.vectorize}
  return
}

// -----

func.func @symbolic_vector(%A: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{vectorize: expected an axis of extent 1, 2, 4, 8 or 16, got one that is symbolic}}
  scf.for %j = %c0 to %n step %c1 {
    %x = memref.load %A[%j] : memref<?xf32>
  } {schedule.vectorize}
  return
}

// -----

func.func @wide(%A: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  // expected-error @below {{vectorize: expected an axis of extent 1, 2, 4, 8 or 16, got 32}}
  scf.for %j = %c0 to %c32 step %c1 {
    %x = memref.load %A[%j] : memref<32xf32>
  } {schedule.vectorize}
  return
}

// -----

func.func @from_one(%A: memref<8xf32>, %B: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error @below {{vectorize: expected a loop from 0 by 1}}
  scf.for %j = %c1 to %c4 step %c1 {
    %x = memref.load %A[%j] : memref<8xf32>
    memref.store %x, %B[%j] : memref<8xf32>
  } {schedule.vectorize}
  return
}
