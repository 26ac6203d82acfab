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

// An extent of what the kernel stores is a bound that is 1 at least where there are tiles. Any other may be 0, unless
// calls have more of it.
// CHECK-LABEL: func.func @symbolic
// CHECK: tile.map
// CHECK: arith.minsi
// CHECK-NOT: scf.if
// CHECK: tile.map
// CHECK: scf.if
// CHECK: tile.map
// CHECK: arith.minsi
// CHECK-NOT: scf.if
// CHECK: tile.map
// CHECK-NOT: arith.minsi
// CHECK: scf.if
func.func @symbolic(%a: memref<?xf32> {te.symbols = ["m"]}, %b: memref<?xf32> {te.symbols = ["n"]},
                    %c: memref<?xf32> {te.symbols = ["l"], te.minimum = array<i64: 1>},
                    %y: memref<?xf32> {te.output, te.symbols = ["m"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?xf32>
  %n = memref.dim %b, %c0 : memref<?xf32>
  %l = memref.dim %c, %c0 : memref<?xf32>
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%bx: index, %by: index, %bz: index, %w: index):
    %s = tile.fill %none : f32 -> !tile.fragment<64x128xf32>
    %of_result = tile.map %s : !tile.fragment<64x128xf32> {te.stage = "M"} -> <64x128xf32> {
    ^bb0(%e: f32, %r: index, %column: index):
      %inside = arith.cmpi slt, %r, %m : index
      %f = scf.if %inside -> (f32) {
        %x = memref.load %a[%r] : memref<?xf32>
        scf.yield %x : f32
      } else {
        scf.yield %none : f32
      }
      memref.store %f, %y[%r] : memref<?xf32>
      tile.yield %f : f32
    }
    %of_another = tile.map %of_result : !tile.fragment<64x128xf32> {te.stage = "N"} -> <64x128xf32> {
    ^bb0(%e: f32, %r: index, %column: index):
      %inside = arith.cmpi slt, %r, %n : index
      %f = scf.if %inside -> (f32) {
        %x = memref.load %b[%r] : memref<?xf32>
        scf.yield %x : f32
      } else {
        scf.yield %none : f32
      }
      tile.yield %f : f32
    }
    %with_minimum = tile.map %of_another : !tile.fragment<64x128xf32> {te.stage = "L"} -> <64x128xf32> {
    ^bb0(%e: f32, %r: index, %column: index):
      %inside = arith.cmpi slt, %r, %l : index
      %f = scf.if %inside -> (f32) {
        %x = memref.load %c[%r] : memref<?xf32>
        scf.yield %x : f32
      } else {
        scf.yield %none : f32
      }
      tile.yield %f : f32
    }
    %less = tile.map %with_minimum : !tile.fragment<64x128xf32> {te.stage = "K"} -> <64x128xf32> {
    ^bb0(%e: f32, %r: index, %column: index):
      %fewer = arith.subi %m, %c1 : index
      %inside = arith.cmpi slt, %r, %fewer : index
      %f = scf.if %inside -> (f32) {
        %x = memref.load %a[%r] : memref<?xf32>
        scf.yield %x : f32
      } else {
        scf.yield %none : f32
      }
      tile.yield %f : f32
    }
  }
  return
}
