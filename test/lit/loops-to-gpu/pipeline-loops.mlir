// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(pipeline-loops))' --split-input-file | FileCheck %s

// Three rows are there at a time. The first two are filled before the loop. In it, a row is fetched to a register two
// iterations ahead, and stored behind the computation.
// CHECK-DAG: #[[AHEAD:.*]] = affine_map<(d0) -> (d0 + 2)>
// CHECK-DAG: #[[PLACE:.*]] = affine_map<(d0) -> (d0 mod 3)>
// CHECK-DAG: #[[PLACE_AHEAD:.*]] = affine_map<(d0) -> (d0 - ((d0 + 2) floordiv 3) * 3 + 2)>
// CHECK-LABEL: func.func @through_registers
// CHECK-SAME: (%[[A:.*]]: memref<8x32xf32>, %[[B:.*]]: memref<8x32xf32>)
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: threads(%[[T:[a-z0-9]+]], %{{.*}}, %{{.*}}) in
// CHECK-NEXT: %[[S:.*]] = memref.alloc() {te.stage = "A.shared"} : memref<3x32xf32, #gpu.address_space<workgroup>>
// CHECK-NEXT: %[[K0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[X0:.*]] = memref.load %[[A]][%[[K0]], %[[T]]]
// CHECK-NEXT: %[[P0:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.store %[[X0]], %[[S]][%[[P0]], %[[T]]]
// CHECK-NEXT: %[[K1:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[X1:.*]] = memref.load %[[A]][%[[K1]], %[[T]]]
// CHECK-NEXT: %[[P1:.*]] = arith.constant 1 : index
// CHECK-NEXT: memref.store %[[X1]], %[[S]][%[[P1]], %[[T]]]
// CHECK-NEXT: %[[FETCHED:.*]] = memref.alloca() {te.stage = "A.shared"} : memref<f32, #gpu.address_space<private>>
// CHECK-NEXT: scf.for %[[K:.*]] = %{{.*}} to %[[C8]]
// CHECK-NEXT: %[[LATER:.*]] = affine.apply #[[AHEAD]](%[[K]])
// CHECK-NEXT: %[[IS_ONE:.*]] = arith.cmpi slt, %[[LATER]], %[[C8]]
// CHECK-NEXT: scf.if %[[IS_ONE]] {
// CHECK-NEXT: %[[X:.*]] = memref.load %[[A]][%[[LATER]], %[[T]]]
// CHECK-NEXT: memref.store %[[X]], %[[FETCHED]][]
// CHECK-NEXT: }
// CHECK: %[[P:.*]] = affine.apply #[[PLACE]](%[[K]])
// CHECK-NEXT: memref.load %[[S]][%[[P]], %{{.*}}]
// CHECK-NEXT: memref.store %{{.*}}, %[[B]][%[[K]], %[[T]]]
// CHECK: scf.if
// CHECK-NEXT: %[[Y:.*]] = memref.load %[[FETCHED]][]
// CHECK-NEXT: %[[Q:.*]] = affine.apply #[[PLACE_AHEAD]](%[[K]])
// CHECK-NEXT: memref.store %[[Y]], %[[S]][%[[Q]], %[[T]]]
// CHECK: {schedule.axis = #schedule.axis<"k" of "B">}
func.func @through_registers(%A: memref<8x32xf32>, %B: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    scf.for %k = %c0 to %c8 step %c1 {
      %s = memref.alloc() {schedule.pipelined, te.stage = "A.shared"} : memref<32xf32, #gpu.address_space<workgroup>>
      %x = memref.load %A[%k, %t] : memref<8x32xf32>
      memref.store %x, %s[%t] : memref<32xf32, #gpu.address_space<workgroup>>
      %at = affine.apply affine_map<(d0) -> (31 - d0)>(%t)
      %y = memref.load %s[%at] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %y, %B[%k, %t] : memref<8x32xf32>
    } {schedule.axis = #schedule.axis<"k" of "B">, schedule.pipeline = #schedule.pipeline<stages = 3>}
    gpu.terminator
  }
  return
}

// -----

// cp.async fills the rows: the stores are marked, and a group of copies is waited for before its row is read.
// CHECK-LABEL: func.func @past_registers
// CHECK: %[[S:.*]] = memref.alloc() {te.stage = "A.shared"} : memref<3x32xf32, #gpu.address_space<workgroup>>
// CHECK-NOT: memref.alloca
// CHECK-COUNT-2: memref.store %{{.*}}, %[[S]][%{{.*}}, %{{.*}}] {schedule.async} : memref<3x32xf32, #gpu.address_space<workgroup>>{{[[:space:]]+}}nvvm.cp.async.commit.group
// CHECK: scf.for %[[K:.*]] = %
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[S]][%{{.*}}, %{{.*}}] {schedule.async}
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK: memref.load %[[S]]
func.func @past_registers(%A: memref<8x32xf32>, %B: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    scf.for %k = %c0 to %c8 step %c1 {
      %s = memref.alloc() {schedule.pipelined, te.stage = "A.shared"} : memref<32xf32, #gpu.address_space<workgroup>>
      %x = memref.load %A[%k, %t] : memref<8x32xf32>
      memref.store %x, %s[%t] : memref<32xf32, #gpu.address_space<workgroup>>
      %at = affine.apply affine_map<(d0) -> (31 - d0)>(%t)
      %y = memref.load %s[%at] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %y, %B[%k, %t] : memref<8x32xf32>
    } {schedule.axis = #schedule.axis<"k" of "B">, schedule.pipeline = #schedule.pipeline<stages = 3, async = true>}
    gpu.terminator
  }
  return
}
