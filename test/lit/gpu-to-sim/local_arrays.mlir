// RUN: tilewright-opt %s --hoist-local-arrays | FileCheck %s

// In a kernel's function, and in no other.
// CHECK-LABEL: func.func @k(
// CHECK-NEXT: memref.alloca() : memref<4xf32, #gpu.address_space<private>>
// CHECK-NEXT: memref.alloca() : memref<2xf32, #gpu.address_space<private>>
// CHECK: scf.for
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @k(%n: index, %x: f32) attributes {tilewright.sim_kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
    memref.store %x, %a[%c0] : memref<4xf32, #gpu.address_space<private>>
    %b = memref.alloca() : memref<2xf32, #gpu.address_space<private>>
    memref.store %x, %b[%c0] : memref<2xf32, #gpu.address_space<private>>
  }
  return
}

// CHECK-LABEL: func.func @other(
// CHECK: scf.for
// CHECK-NEXT: memref.alloca
func.func @other(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloca() : memref<4xf32>
  }
  return
}
