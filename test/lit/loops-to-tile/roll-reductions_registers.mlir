// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(roll-reductions))' | FileCheck %s

// Of weights that are rounded for one matmul and multiplied for another, 240 registers of a thread do not hold both
// and all sums. So they are rounded when the other map has read them. Behind it stands what warpgroups share, and the
// matmul of a warpgroup's part of that.
// CHECK-LABEL: func.func @late
// CHECK: scf.for
// CHECK: %[[W:.*]] = tile.map %{{.*}} : !tile.fragment<64x128xf32> {te.stage = "W0"}
// CHECK: %[[G:.*]] = tile.map %[[W]], %{{.*}} : !tile.fragment<64x128xf32>, !tile.fragment<64x128xf32>
// CHECK: %[[P:.*]] = tile.map %[[W]] : !tile.fragment<64x128xf32> {te.stage = "P"}
// CHECK: tile.matmul %[[P]], %{{.*}} mn_major into
// CHECK-NEXT: %[[ALL:.*]] = tile.share %[[G]]
// CHECK-NEXT: %[[PART:.*]] = tile.part %[[ALL]]
// CHECK-NEXT: %[[D:.*]] = tile.matmul %[[PART]] mn_major, %{{.*}} mn_major into
// CHECK: tile.matmul %[[G]], %{{.*}} mn_major into
// CHECK: tile.store %[[D]]

// Of tiles of 64 queries they hold both, and the first matmul is under way while the other map is computed.
// CHECK-LABEL: func.func @early
// CHECK: scf.for
// CHECK: %[[W:.*]] = tile.map %{{.*}} : !tile.fragment<64x64xf32> {te.stage = "W0"}
// CHECK: %[[P:.*]] = tile.map %[[W]] : !tile.fragment<64x64xf32> {te.stage = "P"}
// CHECK: tile.matmul %[[P]], %{{.*}} mn_major into
// CHECK: %[[G:.*]] = tile.map %[[W]], %{{.*}} : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32>
// CHECK: %[[ALL:.*]] = tile.share %[[G]]

func.func @late(%K: memref<128x64xbf16>, %Q: memref<512x64xbf16>, %H: memref<512x64xbf16>, %V: memref<128x64xf32>, %D: memref<512x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [24, 240] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %k = tile.load %K[%x, %c0] box [128, 64] : memref<128x64xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
    %mine = tile.part %k[%w, %c0] : <128x64xbf16, swizzle = 128> -> <64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %clear = tile.fill %zero : f32 -> !tile.fragment<64x128xf32>
    %values = scf.for %j = %c0 to %c4 step %c1 iter_args(%v = %none) -> (!tile.fragment<64x64xf32>) {
      %q = tile.load %Q[%j, %c0] box [128, 64] {te.stage = "Q0"} : memref<512x64xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
      %s = tile.matmul %mine, %q into %clear : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<128x64xbf16, swizzle = 128> -> !tile.fragment<64x128xf32>
      %weights = tile.map %s : !tile.fragment<64x128xf32> {te.stage = "W0"} -> !tile.fragment<64x128xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %f = math.exp2 %e : f32
        tile.yield %f : f32
      }
      %p = tile.map %weights : !tile.fragment<64x128xf32> {te.stage = "P"} -> !tile.fragment<64x128xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %f = arith.truncf %e : f32 to bf16
        tile.yield %f : bf16
      }
      %h = tile.load %H[%j, %c0] box [128, 64] {te.stage = "H0"} : memref<512x64xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
      %v1 = tile.matmul %p, %h mn_major into %v : !tile.fragment<64x128xbf16>, !tile.buffer<128x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %v1 : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"r.outer" of "dV">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    %keys = scf.for %j = %c0 to %c4 step %c1 iter_args(%d = %none) -> (!tile.fragment<64x64xf32>) {
      %q = tile.load %Q[%j, %c0] box [128, 64] {te.stage = "Q1"} : memref<512x64xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
      %s = tile.matmul %mine, %q into %clear : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<128x64xbf16, swizzle = 128> -> !tile.fragment<64x128xf32>
      %weights = tile.map %s : !tile.fragment<64x128xf32> {te.stage = "W1"} -> !tile.fragment<64x128xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %f = math.exp2 %e : f32
        tile.yield %f : f32
      }
      %h = tile.load %H[%j, %c0] box [128, 64] {te.stage = "H1"} : memref<512x64xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
      %e = tile.matmul %mine, %h into %clear : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<128x64xbf16, swizzle = 128> -> !tile.fragment<64x128xf32>
      %g = tile.map %weights, %e : !tile.fragment<64x128xf32>, !tile.fragment<64x128xf32> -> !tile.fragment<64x128xbf16> {
      ^bb0(%a: f32, %b: f32, %row: index, %column: index):
        %m = arith.mulf %a, %b : f32
        %t = arith.truncf %m : f32 to bf16
        tile.yield %t : bf16
      }
      %d1 = tile.matmul %g, %q mn_major into %d : !tile.fragment<64x128xbf16>, !tile.buffer<128x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %all = tile.share %g : !tile.fragment<64x128xbf16> -> !tile.buffer<128x128xbf16, swizzle = 128>
      %part = tile.part %all[%c0, %w] : <128x128xbf16, swizzle = 128> -> <128x64xbf16, swizzle = 128>
      %added = tile.matmul %part mn_major, %k mn_major into %none : !tile.buffer<128x64xbf16, swizzle = 128>, !tile.buffer<128x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      tile.store %added to %D[%j, %c0] box [64, 64] columns 64 swizzle 128 reduce_add : !tile.fragment<64x64xf32>, memref<512x64xf32>
      scf.yield %d1 : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"r.outer" of "dK">, schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "dV">}
    %result = tile.map %values, %keys : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%a: f32, %b: f32, %row: index, %column: index):
      %sum = arith.addf %a, %b : f32
      tile.yield %sum : f32
    }
    tile.store %result to %V[%w, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<128x64xf32>
  }
  return
}

func.func @early(%K: memref<128x64xbf16>, %Q: memref<256x64xbf16>, %H: memref<256x64xbf16>, %V: memref<128x64xf32>, %D: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [24, 240] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %k = tile.load %K[%x, %c0] box [128, 64] : memref<128x64xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
    %mine = tile.part %k[%w, %c0] : <128x64xbf16, swizzle = 128> -> <64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %clear = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %values = scf.for %j = %c0 to %c4 step %c1 iter_args(%v = %none) -> (!tile.fragment<64x64xf32>) {
      %q = tile.load %Q[%j, %c0] box [64, 64] {te.stage = "Q0"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %mine, %q into %clear : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %weights = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "W0"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %f = math.exp2 %e : f32
        tile.yield %f : f32
      }
      %p = tile.map %weights : !tile.fragment<64x64xf32> {te.stage = "P"} -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %f = arith.truncf %e : f32 to bf16
        tile.yield %f : bf16
      }
      %h = tile.load %H[%j, %c0] box [64, 64] {te.stage = "H0"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %v1 = tile.matmul %p, %h mn_major into %v : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %v1 : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"r.outer" of "dV">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    %keys = scf.for %j = %c0 to %c4 step %c1 iter_args(%d = %none) -> (!tile.fragment<64x64xf32>) {
      %q = tile.load %Q[%j, %c0] box [64, 64] {te.stage = "Q1"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %mine, %q into %clear : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %weights = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "W1"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %f = math.exp2 %e : f32
        tile.yield %f : f32
      }
      %h = tile.load %H[%j, %c0] box [64, 64] {te.stage = "H1"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %e = tile.matmul %mine, %h into %clear : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %g = tile.map %weights, %e : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32> -> !tile.fragment<64x64xbf16> {
      ^bb0(%a: f32, %b: f32, %row: index, %column: index):
        %m = arith.mulf %a, %b : f32
        %t = arith.truncf %m : f32 to bf16
        tile.yield %t : bf16
      }
      %d1 = tile.matmul %g, %q mn_major into %d : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %all = tile.share %g : !tile.fragment<64x64xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
      %added = tile.matmul %all mn_major, %k mn_major into %none : !tile.buffer<128x64xbf16, swizzle = 128>, !tile.buffer<128x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      tile.store %added to %D[%j, %c0] box [64, 64] columns 64 swizzle 128 reduce_add : !tile.fragment<64x64xf32>, memref<256x64xf32>
      scf.yield %d1 : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"r.outer" of "dK">, schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "dV">}
    %result = tile.map %values, %keys : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%a: f32, %b: f32, %row: index, %column: index):
      %sum = arith.addf %a, %b : f32
      tile.yield %sum : f32
    }
    tile.store %result to %V[%w, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<128x64xf32>
  }
  return
}
