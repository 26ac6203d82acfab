// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(inject-virtual-threads))' | FileCheck %s

// Each op is done for both virtual threads before the next op is. The buffer has a place for each, and what does not
// depend on the virtual thread is computed once.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[A:.*]]: memref<8x2xf32>, %[[C:.*]]: memref<2xf32>)
// CHECK: %[[ACC:.*]] = memref.alloca() {te.stage = "C.local"} : memref<2x1xf32, #gpu.address_space<private>>
// CHECK-NEXT: memref.store %{{.*}}, %[[ACC]][%[[FIRST:[a-z0-9_]+]], %{{.*}}]
// CHECK-NEXT: memref.store %{{.*}}, %[[ACC]][%[[SECOND:[a-z0-9_]+]], %{{.*}}]
// CHECK-NEXT: scf.for %[[K:.*]] =
// CHECK-NEXT: arith.index_cast
// CHECK-NEXT: %[[SCALE:.*]] = arith.sitofp
// CHECK-NEXT: %[[X0:.*]] = memref.load %[[A]][%[[K]], %[[FIRST]]]
// CHECK-NEXT: %[[X1:.*]] = memref.load %[[A]][%[[K]], %[[SECOND]]]
// CHECK-NEXT: %[[M0:.*]] = arith.mulf %[[X0]], %[[SCALE]]
// CHECK-NEXT: %[[M1:.*]] = arith.mulf %[[X1]], %[[SCALE]]
// CHECK-NEXT: %[[OLD0:.*]] = memref.load %[[ACC]][%[[FIRST]], %{{.*}}]
// CHECK-NEXT: %[[OLD1:.*]] = memref.load %[[ACC]][%[[SECOND]], %{{.*}}]
// CHECK-NEXT: %[[NEW0:.*]] = arith.addf %[[OLD0]], %[[M0]]
// CHECK-NEXT: %[[NEW1:.*]] = arith.addf %[[OLD1]], %[[M1]]
// CHECK-NEXT: memref.store %[[NEW0]], %[[ACC]][%[[FIRST]], %{{.*}}]
// CHECK-NEXT: memref.store %[[NEW1]], %[[ACC]][%[[SECOND]], %{{.*}}]
// CHECK-NEXT: }
// CHECK: memref.store %{{.*}}, %[[C]][%[[FIRST]]]
// CHECK-NEXT: memref.store %{{.*}}, %[[C]][%[[SECOND]]]
// CHECK-NOT: vthread
func.func @sums(%A: memref<8x2xf32>, %C: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %v = %c0 to %c2 step %c1 {
    %acc = memref.alloca() {te.stage = "C.local"} : memref<1xf32, #gpu.address_space<private>>
    memref.store %zero, %acc[%c0] : memref<1xf32, #gpu.address_space<private>>
    scf.for %k = %c0 to %c8 step %c1 {
      %scale = arith.index_cast %k : index to i32
      %s = arith.sitofp %scale : i32 to f32
      %x = memref.load %A[%k, %v] : memref<8x2xf32>
      %m = arith.mulf %x, %s : f32
      %old = memref.load %acc[%c0] : memref<1xf32, #gpu.address_space<private>>
      %new = arith.addf %old, %m : f32
      memref.store %new, %acc[%c0] : memref<1xf32, #gpu.address_space<private>>
    }
    %sum = memref.load %acc[%c0] : memref<1xf32, #gpu.address_space<private>>
    memref.store %sum, %C[%v] : memref<2xf32>
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<vthread>}
  return
}
