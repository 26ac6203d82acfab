// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(unroll-scheduled-loops))' | FileCheck %s

// Marked loops are written out, also within one another; others stay.
// CHECK-LABEL: func.func @nest
// CHECK: scf.for
// CHECK-COUNT-6: memref.store
// CHECK-NOT: memref.store
// CHECK-NOT: scf.for
// CHECK-NOT: schedule.unroll
// CHECK: return
func.func @nest(%A: memref<8x2x3xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      scf.for %k = %c0 to %c3 step %c1 {
        memref.store %x, %A[%i, %j, %k] : memref<8x2x3xf32>
      } {schedule.unroll}
    } {schedule.unroll}
  }
  return
}

// CHECK-LABEL: func.func @once
// CHECK-NOT: scf.for
// CHECK: memref.store
// CHECK-NOT: memref.store
// CHECK: return
func.func @once(%A: memref<1xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    memref.store %x, %A[%i] : memref<1xf32>
  } {schedule.unroll}
  return
}

// A loop that picks elements of registers is written out without being asked; one that picks among few of many, too
// large to be code, is not.
// CHECK-LABEL: func.func @registers
// CHECK-COUNT-4: memref.store %{{.*}}#gpu.address_space<private>>
// CHECK: scf.for
// CHECK-NEXT: memref.store {{.*}}#gpu.address_space<private>>
// CHECK-NEXT: }
// CHECK: return
func.func @registers(%x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %many = arith.constant 8192 : index
  %l = memref.alloca() : memref<8192xf32, #gpu.address_space<private>>
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %x, %l[%i] : memref<8192xf32, #gpu.address_space<private>>
  }
  scf.for %i = %c0 to %many step %c1 {
    memref.store %x, %l[%i] : memref<8192xf32, #gpu.address_space<private>>
  }
  return
}
