// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(plan-workspace))' --split-input-file --allow-unregistered-dialect | FileCheck %s

// A temporary is gone when its last reader has run: T and V share a place, U lives with both. Each begins at a multiple
// of 256 bytes.
// CHECK-LABEL: func.func @liveness(
// CHECK-SAME: %[[A:.*]]: memref<100xf32> {te.name = "A"}, %[[W:.*]]: memref<?xi8>) attributes {tilewright.workspace_bytes = 912 : i64}
// CHECK: %[[T:.*]] = arith.constant 0 : index
// CHECK: %[[U:.*]] = arith.constant 512 : index
// CHECK: %[[V:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[W]][%[[T]]][] {te.stage = "T"} : memref<?xi8> to memref<100xf32>
// CHECK: memref.view %[[W]][%[[U]]][] {te.stage = "U"} : memref<?xi8> to memref<100xf32>
// CHECK: memref.view %[[W]][%[[V]]][] {te.stage = "V"} : memref<?xi8> to memref<100xf32>
// CHECK-NOT: memref.dealloc
func.func @liveness(%A: memref<100xf32> {te.name = "A"}) {
  %T = memref.alloc() {te.stage = "T"} : memref<100xf32>
  %U = memref.alloc() {te.stage = "U"} : memref<100xf32>
  %V = memref.alloc() {te.stage = "V"} : memref<100xf32>
  memref.copy %A, %T : memref<100xf32> to memref<100xf32>
  memref.copy %T, %U : memref<100xf32> to memref<100xf32>
  memref.copy %U, %V : memref<100xf32> to memref<100xf32>
  memref.copy %V, %A : memref<100xf32> to memref<100xf32>
  memref.dealloc %T : memref<100xf32>
  return
}

// -----

// Who has a tensor map reaches the tensor: T lives as long as its map is used.
// CHECK-LABEL: func.func @maps(
// CHECK-SAME: workspace_bytes = 16384
func.func @maps(%A: memref<64x64xbf16>) {
  %T = memref.alloc() {te.stage = "T"} : memref<64x64xbf16>
  %U = memref.alloc() {te.stage = "U"} : memref<64x64xbf16>
  memref.copy %A, %T : memref<64x64xbf16> to memref<64x64xbf16>
  %map = tile.encode %T : memref<64x64xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  memref.copy %A, %U : memref<64x64xbf16> to memref<64x64xbf16>
  "test.use"(%map) : (!tile.tensor_map<64x64xbf16, swizzle = 128>) -> ()
  memref.copy %U, %A : memref<64x64xbf16> to memref<64x64xbf16>
  return
}

// -----

// A temporary that is used in a loop lives as long as the loop, and through its views.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: workspace_bytes = 288
func.func @loop(%A: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %T = memref.alloc() {te.stage = "T"} : memref<8xf32>
  %U = memref.alloc() {te.stage = "U"} : memref<8xf32>
  %half = memref.reinterpret_cast %T to offset: [0], sizes: [8], strides: [1] : memref<8xf32> to memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %U, %A : memref<8xf32> to memref<8xf32>
    memref.copy %A, %half : memref<8xf32> to memref<8xf32>
    memref.copy %half, %U : memref<8xf32> to memref<8xf32>
  }
  return
}

// -----

// Sizes that depend on the arguments' extents: constant ones first, then slots one behind the other, each as large as
// the largest of the temporaries that take turns in it. The size is not known here.
// CHECK-DAG: #[[$NEXT:.*]] = affine_map<()[s0] -> ((s0 ceildiv 256) * 256 + 256)>
// CHECK-LABEL: func.func @symbolic(
// CHECK-SAME: %[[A:.*]]: memref<?x4xf32>, %[[W:.*]]: memref<?xi8>)
// CHECK-NOT: tilewright.workspace_bytes
// CHECK: %[[N:.*]] = memref.dim %[[A]], %{{.*}} : memref<?x4xf32>
// CHECK: %[[T_BYTES:.*]] = arith.muli %{{.*}}, %[[N]] : index
// CHECK: %[[U_BYTES:.*]] = arith.muli %{{.*}}, %[[N]] : index
// CHECK: %[[V_BYTES:.*]] = arith.muli %{{.*}}, %[[N]] : index
// CHECK: %[[FIXED:.*]] = arith.constant 0 : index
// CHECK: %[[FIRST:.*]] = arith.constant 256 : index
// CHECK: %[[LARGEST:.*]] = arith.maxsi %[[T_BYTES]], %[[V_BYTES]] : index
// CHECK: %[[SECOND:.*]] = affine.apply #[[$NEXT]]()[%[[LARGEST]]]
// CHECK: memref.view %[[W]][%[[FIRST]]][%[[N]]] {te.stage = "T"} : memref<?xi8> to memref<?xf32>
// CHECK: memref.view %[[W]][%[[SECOND]]][%[[N]]] {te.stage = "U"} : memref<?xi8> to memref<?x4xf16>
// CHECK: memref.view %[[W]][%[[FIRST]]][%[[N]]] {te.stage = "V"} : memref<?xi8> to memref<?xf64>
// CHECK: memref.view %[[W]][%[[FIXED]]][] {te.stage = "S"} : memref<?xi8> to memref<3xi1>
func.func @symbolic(%A: memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?x4xf32>
  %T = memref.alloc(%n) {te.stage = "T"} : memref<?xf32>
  %U = memref.alloc(%n) {te.stage = "U"} : memref<?x4xf16>
  %V = memref.alloc(%n) {te.stage = "V"} : memref<?xf64>
  %S = memref.alloc() {te.stage = "S"} : memref<3xi1>
  "test.use"(%T, %S) : (memref<?xf32>, memref<3xi1>) -> ()
  "test.use"(%T, %U) : (memref<?xf32>, memref<?x4xf16>) -> ()
  "test.use"(%U, %V, %S) : (memref<?x4xf16>, memref<?xf64>, memref<3xi1>) -> ()
  return
}

// -----

// Nothing to plan: no argument more.
// CHECK-LABEL: func.func @none(
// CHECK-NOT: memref<?xi8>
// CHECK: return
func.func @none(%A: memref<8xf32>) {
  return
}
