// RUN: tilewright-opt %s --store-bools-as-bytes | FileCheck %s

// Arguments, results and temporaries; what is loaded is true unless the byte is 0, what is stored is 0 or 1.
// CHECK-LABEL: func.func @access(
// CHECK-SAME: %[[M:.*]]: memref<8xi8>, %[[I:.*]]: index, %[[B:.*]]: i1) -> memref<?xi8>
// CHECK: %[[T:.*]] = memref.alloc(%[[I]]) : memref<?xi8>
// CHECK: %[[BYTE:.*]] = memref.load %[[M]][%[[I]]] : memref<8xi8>
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK: %[[BOOL:.*]] = arith.cmpi ne, %[[BYTE]], %[[ZERO]] : i8
// CHECK: %[[AND:.*]] = arith.andi %[[BOOL]], %[[B]] : i1
// CHECK: %[[STORED:.*]] = arith.extui %[[AND]] : i1 to i8
// CHECK: memref.store %[[STORED]], %[[T]][%[[I]]] : memref<?xi8>
// CHECK: return %[[T]] : memref<?xi8>
func.func @access(%m: memref<8xi1>, %i: index, %b: i1) -> memref<?xi1> {
  %t = memref.alloc(%i) : memref<?xi1>
  %x = memref.load %m[%i] : memref<8xi1>
  %y = arith.andi %x, %b : i1
  memref.store %y, %t[%i] : memref<?xi1>
  return %t : memref<?xi1>
}

// The elements of a linalg op are bytes; its body computes with bools. An output that is not read is not converted for
// nothing: its conversion has no use.
// CHECK-LABEL: func.func @generic(
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<8xi8>) outs(%{{.*}} : memref<8xi8>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i8, %{{.*}}: i8):
// CHECK: %[[A:.*]] = arith.cmpi ne, %[[IN]], %{{.*}} : i8
// CHECK: %[[NOT:.*]] = arith.xori %[[A]], %{{.*}} : i1
// CHECK: %[[OUT:.*]] = arith.extui %[[NOT]] : i1 to i8
// CHECK: linalg.yield %[[OUT]] : i8
func.func @generic(%m: memref<8xi1>, %o: memref<8xi1>) {
  %true = arith.constant true
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%m : memref<8xi1>) outs(%o : memref<8xi1>) {
  ^bb0(%a: i1, %old: i1):
    %b = arith.xori %a, %true : i1
    linalg.yield %b : i1
  }
  return
}

// CHECK-LABEL: func.func @fill(
// CHECK: %[[BYTE:.*]] = arith.extui %{{.*}} : i1 to i8
// CHECK: linalg.fill ins(%[[BYTE]] : i8) outs(%{{.*}} : memref<8xi8>)
func.func @fill(%o: memref<8xi1>, %x: i1) {
  linalg.fill ins(%x : i1) outs(%o : memref<8xi1>)
  return
}

// Other types stay as they are.
// CHECK-LABEL: func.func @others(
// CHECK-SAME: memref<8xi8>, %{{.*}}: vector<8xi1>, %{{.*}}: memref<8xf32>)
func.func @others(%a: memref<8xi8>, %b: vector<8xi1>, %c: memref<8xf32>) {
  return
}

// In a kernel too, whatever the memory.
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
