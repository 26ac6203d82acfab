// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(load-within-bounds))' | FileCheck %s

// Both indices have bounds, and all that is loaded is at one of them, at what is computed of them, or at other places.
// CHECK-LABEL: func.func @cut
// CHECK: ^bb0(%[[X:.*]]: index, %{{.*}}: index, %[[Z:.*]]: index, %{{.*}}: index):
// CHECK: tile.map
// CHECK: ^bb0(%[[E:.*]]: f32, %[[R:.*]]: index, %[[C:.*]]: index):
// CHECK: %[[ROW:.*]] = affine.apply #{{.*}}(%[[X]], %[[R]])
// CHECK: %[[INSIDE:.*]] = arith.andi
// CHECK-DAG: %[[LASTROW:.*]] = arith.minsi %[[ROW]], %c143
// CHECK-DAG: %[[LASTCOLUMN:.*]] = arith.minsi %[[C]], %c99
// CHECK-NOT: scf.if
// CHECK: memref.load %{{.*}}[%[[LASTROW]]]
// CHECK: %[[HALF:.*]] = affine.apply #{{.*}}(%[[LASTCOLUMN]])
// CHECK: memref.load %{{.*}}[%[[Z]], %[[LASTROW]], %[[HALF]]]
// CHECK: %[[Y:.*]] = arith.addf %[[E]]
// CHECK: arith.select %[[INSIDE]], %[[Y]], %{{.*}} : f32
func.func @cut(%bias: memref<144xf32>, %half: memref<4x144x50xf32>, %data: memref<144xi1>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c100 = arith.constant 100 : index
  %c144 = arith.constant 144 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c2, %c1, %c4) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %s = tile.fill %zero : f32 -> !tile.fragment<64x128xf32>
    %m = tile.map %s : !tile.fragment<64x128xf32> {te.stage = "M"} -> <64x128xf32> {
    ^bb0(%e: f32, %r: index, %column: index):
      %row = affine.apply affine_map<(x, r) -> (96 * x + r)>(%x, %r)
      %rows = arith.cmpi slt, %row, %c144 : index
      %columns = arith.cmpi slt, %column, %c100 : index
      %inside = arith.andi %rows, %columns : i1
      %f = scf.if %inside -> (f32) {
        %b = memref.load %bias[%row] : memref<144xf32>
        %at = affine.apply affine_map<(c) -> (c floordiv 2)>(%column)
        %h = memref.load %half[%z, %row, %at] : memref<4x144x50xf32>
        %t = arith.addf %b, %h : f32
        %u = arith.addf %e, %t : f32
        scf.yield %u : f32
      } else {
        %none = arith.constant 0.0 : f32
        scf.yield %none : f32
      }
      tile.yield %f : f32
    }
    // A place that follows from one with a bound, but was computed outside; and a condition that is no bound.
    // CHECK: tile.map
    // CHECK: scf.if
    // CHECK: scf.if
    %n = tile.map %m : !tile.fragment<64x128xf32> {te.stage = "N"} -> <64x128xf32> {
    ^bb0(%e: f32, %r: index, %column: index):
      %row = affine.apply affine_map<(x, r) -> (96 * x + r)>(%x, %r)
      %rows = arith.cmpi slt, %row, %c144 : index
      %f = scf.if %rows -> (f32) {
        %b = memref.load %bias[%r] : memref<144xf32>
        scf.yield %b : f32
      } else {
        scf.yield %zero : f32
      }
      %chosen = memref.load %data[%r] : memref<144xi1>
      %g = scf.if %chosen -> (f32) {
        %b = memref.load %bias[%row] : memref<144xf32>
        scf.yield %b : f32
      } else {
        scf.yield %f : f32
      }
      tile.yield %g : f32
    }
  }
  return
}
