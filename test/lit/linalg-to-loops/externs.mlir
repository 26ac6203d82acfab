// Statements of te.extern stand where their stage is computed, on the buffers of its tensors.
// RUN: tilewright-opt %s --convert-te-to-linalg --apply-schedule | FileCheck %s

// CHECK-LABEL: func.func @between
// CHECK-SAME: (%[[A:.*]]: memref<64xf32> {{.*}}, %[[E:.*]]: memref<64xf32> {{.*}})
func.func @between(%A: tensor<64xf32> {te.name = "A"}, %out: tensor<64xf32> {te.name = "E", te.output}) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  // CHECK: %[[B:.*]] = memref.alloc() {te.stage = "B"} : memref<64xf32>
  // CHECK: scf.for
  // CHECK: } {schedule.axis = #schedule.axis<"i" of "B">}
  %B = te.compute "B" (%i: 64) {
    %x = te.read %A[%i] : tensor<64xf32>
    te.yield %x : f32
  } : tensor<64xf32>
  // CHECK: %[[C:.*]] = memref.alloc() {te.stage = "C"} : memref<64xf32>
  // What a block has of its own is allocated in all of its thread axes.
  // CHECK-NOT: memref.alloc
  // CHECK: scf.for %[[bx:.*]] = %c0 to %c2 step %c1 {
  // CHECK-NEXT: scf.for %[[tx:.*]] = %c0 to %c32 step %c1 {
  // CHECK-NEXT:   %[[S:.*]] = memref.alloc() {te.stage = "C.s"} : memref<32xf32, #gpu.address_space<workgroup>>
  // CHECK:        %[[x:.*]] = memref.load %[[B]][%{{.*}}] : memref<64xf32>
  // CHECK:        memref.store %[[x]], %[[S]][%[[tx]]]
  // CHECK:        memref.store %{{.*}}, %[[C]][%{{.*}}] : memref<64xf32>
  // CHECK: } {schedule.axis = #schedule.axis<"threadIdx.x" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  // CHECK: } {schedule.axis = #schedule.axis<"blockIdx.x" of "C">, schedule.bind = #schedule.thread<blockIdx.x>, te.extern = "C"}
  %init = tensor.empty() : tensor<64xf32>
  %C = te.extern "C" ins(%b = %B : tensor<64xf32>) outs(%c = %init : tensor<64xf32>) {
    %s = memref.alloc() {te.stage = "s"} : memref<32xf32, #gpu.address_space<workgroup>>
    scf.for %bx = %c0 to %c2 step %c1 {
      scf.for %tx = %c0 to %c32 step %c1 {
        %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%bx, %tx)
        %x = memref.load %b[%i] : memref<64xf32>
        memref.store %x, %s[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
        %y = memref.load %s[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
        memref.store %y, %c[%i] : memref<64xf32>
      } {schedule.axis = #schedule.axis<"threadIdx.x">, schedule.bind = #schedule.thread<threadIdx.x>}
    } {schedule.axis = #schedule.axis<"blockIdx.x">, schedule.bind = #schedule.thread<blockIdx.x>}
  }
  // CHECK: scf.for
  // CHECK:   memref.load %[[C]]
  // CHECK:   memref.store %{{.*}}, %[[E]]
  // CHECK: } {schedule.axis = #schedule.axis<"i" of "E">}
  %E = te.compute "E" (%i: 64) {
    %x = te.read %C[%i] : tensor<64xf32>
    te.yield %x : f32
  } : tensor<64xf32>
  return %E : tensor<64xf32>
}

// Results of different shapes, of which one is an output; extents that are symbols; a loop that goes on while it may.
// CHECK-LABEL: func.func @symbolic
// CHECK-SAME: (%[[A:.*]]: memref<?xf32>, %[[D:.*]]: memref<1xi32> {{.*}}, %[[E:.*]]: memref<?xf32> {{.*}})
func.func @symbolic(%A: tensor<?xf32>, %o0: tensor<1xi32> {te.output}, %o1: tensor<?xf32> {te.output}) -> (tensor<1xi32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %A, %c0 : tensor<?xf32>
  %i0 = tensor.empty(%n) : tensor<?xf32>
  %i1 = tensor.empty() : tensor<1xi32>
  // CHECK: memref.dim %[[A]], %c0
  // CHECK: %[[C:.*]] = memref.alloc(%{{.*}}) {te.stage = "C"} : memref<?xf32>
  // CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c1 {
  // CHECK:   memref.store %{{.*}}, %[[C]]
  // CHECK: } {schedule.axis = #schedule.axis<"i" of "C">, te.extern = "C"}
  // CHECK: memref.store %{{.*}}, %[[D]][%c0] {te.extern = "C"} : memref<1xi32>
  // CHECK: scf.while
  // CHECK: } do {
  // CHECK: } attributes {te.extern = "C"}
  %C:2 = te.extern "C" ins(%a = %A : tensor<?xf32>) outs(%c = %i0 : tensor<?xf32>, %d = %i1 : tensor<1xi32>) {
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %a[%i] : memref<?xf32>
      memref.store %x, %c[%i] : memref<?xf32>
    } {schedule.axis = #schedule.axis<"i">}
    %zero = arith.constant 0 : i32
    memref.store %zero, %d[%c0] : memref<1xi32>
    scf.while : () -> () {
      %x = memref.load %d[%c0] : memref<1xi32>
      %goes = arith.cmpi slt, %x, %zero : i32
      scf.condition(%goes)
    } do {
      memref.store %zero, %d[%c0] : memref<1xi32>
      scf.yield
    }
  }
  %E = te.compute "E" (%i: %n) {
    %x = te.read %C#0[%i] : tensor<?xf32>
    te.yield %x : f32
  } : tensor<?xf32>
  return %C#1, %E : tensor<1xi32>, tensor<?xf32>
}
