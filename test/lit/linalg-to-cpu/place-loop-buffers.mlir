// RUN: tilewright-opt %s --pass-pipeline="builtin.module(func.func(place-loop-buffers))" | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[N:.*]]: index)
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<4xf32>
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<8xf32>
// A temporary of the whole program.
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<16xf32>
// CHECK: scf.for
// CHECK-NEXT: %[[Y:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<?xf32>
// CHECK-NEXT: %[[LARGE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<100000xf32>
// CHECK: memref.dealloc
// CHECK: memref.dealloc
// CHECK-NEXT: }
func.func @f(%n: index) attributes {tilewright.scheduled} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.alloca() : memref<4xf32>
    %s = memref.alloc() : memref<8xf32>
    %y = memref.alloc(%n) : memref<?xf32>
    %large = memref.alloca() : memref<100000xf32>
    memref.store %zero, %x[%c0] : memref<4xf32>
    memref.store %zero, %s[%c0] : memref<8xf32>
    memref.store %zero, %y[%c0] : memref<?xf32>
    memref.store %zero, %large[%c0] : memref<100000xf32>
    memref.store %zero, %t[%c0] : memref<16xf32>
  }
  return
}

// All buffers together fill the stack no further than 256 KiB.
// CHECK-LABEL: func.func @many
// CHECK-COUNT-4: memref.alloca() {alignment = 64 : i64} : memref<16384xf32>
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<16384xf32>
func.func @many() attributes {tilewright.scheduled} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %a = memref.alloca() : memref<16384xf32>
  %b = memref.alloca() : memref<16384xf32>
  %c = memref.alloca() : memref<16384xf32>
  %d = memref.alloca() : memref<16384xf32>
  %e = memref.alloca() : memref<16384xf32>
  memref.store %zero, %a[%c0] : memref<16384xf32>
  memref.store %zero, %b[%c0] : memref<16384xf32>
  memref.store %zero, %c[%c0] : memref<16384xf32>
  memref.store %zero, %d[%c0] : memref<16384xf32>
  memref.store %zero, %e[%c0] : memref<16384xf32>
  return
}
