// Round trip: what is printed reads back as the same.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s
// RUN: tilewright-opt %s --mlir-print-debuginfo | tilewright-opt | FileCheck %s

// CHECK-LABEL: func.func @several
func.func @several(%A: tensor<?x8xf32>, %N: tensor<4xi32>, %o0: tensor<?xf32> {te.output}, %o1: tensor<i32> {te.output}) -> (tensor<?xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %A, %c0 : tensor<?x8xf32>
  %i0 = tensor.empty(%n) : tensor<?xf32>
  %i1 = tensor.empty() : tensor<i32>
  // CHECK: %C:2 = te.extern "C" ins(%[[a:.*]] = %arg0 : tensor<?x8xf32>, %{{.*}} = %arg1 : tensor<4xi32>) outs(%[[c:.*]] = %{{.*}} : tensor<?xf32>, %[[d:.*]] = %{{.*}} : tensor<i32>) {
  // CHECK:   scf.for %[[i:.*]] = %c0 to %dim step %c1 {
  // CHECK:     memref.load %[[a]][%[[i]], %c0] : memref<?x8xf32>
  // CHECK:     memref.store %{{.*}}, %[[c]][%[[i]]] : memref<?xf32>
  // CHECK:   } {schedule.axis = #schedule.axis<"i">}
  // CHECK:   memref.store %{{.*}}, %[[d]][] : memref<i32>
  // CHECK: }
  %C:2 = te.extern "C" ins(%a = %A : tensor<?x8xf32>, %m = %N : tensor<4xi32>) outs(%c = %i0 : tensor<?xf32>, %d = %i1 : tensor<i32>) {
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %a[%i, %c0] : memref<?x8xf32>
      memref.store %x, %c[%i] : memref<?xf32>
    } {schedule.axis = #schedule.axis<"i">}
    %k = memref.load %m[%c1] : memref<4xi32>
    memref.store %k, %d[] : memref<i32>
  }
  return %C#0, %C#1 : tensor<?xf32>, tensor<i32>
}

// What reads nothing, with thread axes and memory of its own.
// CHECK-LABEL: func.func @threads
func.func @threads(%o: tensor<64xindex> {te.output}) -> tensor<64xindex> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %i0 = tensor.empty() : tensor<64xindex>
  // CHECK: %T = te.extern "T" outs(%{{.*}} = %{{.*}} : tensor<64xindex>) {
  // CHECK: memref.alloca() {te.stage = "t"} : memref<1xindex, #gpu.address_space<private>>
  %T = te.extern "T" outs(%c = %i0 : tensor<64xindex>) {
    scf.for %tx = %c0 to %c64 step %c1 {
      %t = memref.alloca() {te.stage = "t"} : memref<1xindex, #gpu.address_space<private>>
      memref.store %tx, %t[%c0] : memref<1xindex, #gpu.address_space<private>>
      %x = memref.load %t[%c0] : memref<1xindex, #gpu.address_space<private>>
      memref.store %x, %c[%tx] : memref<64xindex>
    } {schedule.axis = #schedule.axis<"threadIdx.x">, schedule.bind = #schedule.thread<threadIdx.x>}
  }
  return %T : tensor<64xindex>
}
