// RUN: tilewright-opt %s --erase-address-spaces | FileCheck %s

// CHECK-LABEL: func.func @f(
// CHECK-SAME: memref<64xi8>) -> memref<4xf32>
// CHECK: %[[VIEW:.*]] = memref.view %{{.*}} : memref<64xi8> to memref<4xf32>
// CHECK-NEXT: %[[LOCAL:.*]] = memref.alloca() : memref<4xf32>
// CHECK-NEXT: memref.copy %[[VIEW]], %[[LOCAL]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT: return %[[VIEW]]
func.func @f(%shared: memref<64xi8, #gpu.address_space<workgroup>>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %view = memref.view %shared[%c0][] : memref<64xi8, #gpu.address_space<workgroup>> to memref<4xf32, #gpu.address_space<workgroup>>
  %local = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  memref.copy %view, %local : memref<4xf32, #gpu.address_space<workgroup>> to memref<4xf32, #gpu.address_space<private>>
  %plain = memref.memory_space_cast %view : memref<4xf32, #gpu.address_space<workgroup>> to memref<4xf32>
  return %plain : memref<4xf32>
}
