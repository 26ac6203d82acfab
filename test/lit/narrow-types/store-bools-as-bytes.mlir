// RUN: tilewright-opt %s --store-bools-as-bytes | FileCheck %s

// CHECK-LABEL: func.func @negate
// CHECK-SAME: (%[[A:.*]]: memref<8xi8> {te.dtype = "bool"}, %[[B:.*]]: memref<8xi8>)
// CHECK: %[[BYTE:.*]] = memref.load %[[A]]
// CHECK: %[[TRUE:.*]] = arith.cmpi ne, %[[BYTE]], %{{.*}} : i8
// CHECK: %[[NOT:.*]] = arith.xori %[[TRUE]], %{{.*}} : i1
// CHECK: %[[OUT:.*]] = arith.extui %[[NOT]] : i1 to i8
// CHECK: memref.store %[[OUT]], %[[B]]
func.func @negate(%a: memref<8xi1> {te.dtype = "bool"}, %b: memref<8xi1>) {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %x = memref.load %a[%c0] : memref<8xi1>
  %y = arith.xori %x, %true : i1
  memref.store %y, %b[%c0] : memref<8xi1>
  return
}

// CHECK-LABEL: func.func @temporaries
// CHECK: memref.alloc() : memref<4xi8, #gpu.address_space<workgroup>>
// CHECK: memref.alloca() : memref<1xi8, #gpu.address_space<private>>
func.func @temporaries(%b: i1) {
  %c0 = arith.constant 0 : index
  %s = memref.alloc() : memref<4xi1, #gpu.address_space<workgroup>>
  %l = memref.alloca() : memref<1xi1, #gpu.address_space<private>>
  memref.store %b, %s[%c0] : memref<4xi1, #gpu.address_space<workgroup>>
  memref.store %b, %l[%c0] : memref<1xi1, #gpu.address_space<private>>
  return
}
