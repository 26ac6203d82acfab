// RUN: tilewright-opt %s --legalize-externs --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s

// The statements stand where the op was; memory of their own is allocated once.
// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[A:.*]]: memref<64xf32>, %[[out:.*]]: memref<64xf32>)
func.func @f(%A: tensor<64xf32>, %out: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // CHECK: %[[T:.*]] = memref.alloca() : memref<1xf32>
  // CHECK-NOT: te.extern
  // CHECK: scf.for %[[i:.*]] = %c0 to %c64 step %c1 {
  // CHECK-NEXT: %[[x:.*]] = memref.load %[[A]][%[[i]]]
  // CHECK-NEXT: memref.store %[[x]], %[[T]][%c0] : memref<1xf32>
  // CHECK-NEXT: %[[y:.*]] = memref.load %[[T]][%c0] : memref<1xf32>
  // CHECK-NEXT: memref.store %[[y]], %[[out]][%[[i]]]
  // CHECK: return %[[out]]
  %C = te.extern "C" ins(%a = %A : tensor<64xf32>) outs(%c = %out : tensor<64xf32>) {
    scf.for %i = %c0 to %c64 step %c1 {
      %t = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
      %x = memref.load %a[%i] : memref<64xf32>
      memref.store %x, %t[%c0] : memref<1xf32, #gpu.address_space<private>>
      %y = memref.load %t[%c0] : memref<1xf32, #gpu.address_space<private>>
      memref.store %y, %c[%i] : memref<64xf32>
    }
  }
  return %C : tensor<64xf32>
}

// Each iteration of a loop for threads has its own, on the heap where it is large or its extent is not known.
// CHECK-LABEL: func.func @g
func.func @g(%A: tensor<64xf32>, %out: tensor<64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // CHECK-NOT: memref.alloc
  // CHECK: scf.for
  // CHECK: %[[SYMBOLIC:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
  // CHECK: %[[LARGE:.*]] = memref.alloc() : memref<1000xf32>
  // CHECK: memref.alloca() : memref<1xf32>
  // CHECK: } {schedule.parallel}
  %C = te.extern "C" ins(%a = %A : tensor<64xf32>) outs(%c = %out : tensor<64xf32>) {
    scf.for %i = %c0 to %c64 step %c1 {
      %t = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
      %large = memref.alloca() : memref<1000xf32, #gpu.address_space<private>>
      %symbolic = memref.alloc(%n) : memref<?xf32>
      %x = memref.load %a[%i] : memref<64xf32>
      memref.store %x, %t[%c0] : memref<1xf32, #gpu.address_space<private>>
      memref.store %x, %large[%c0] : memref<1000xf32, #gpu.address_space<private>>
      memref.store %x, %symbolic[%c0] : memref<?xf32>
      %y = memref.load %t[%c0] : memref<1xf32, #gpu.address_space<private>>
      memref.store %y, %c[%i] : memref<64xf32>
    } {schedule.parallel}
  }
  return %C : tensor<64xf32>
}
