// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(roll-reductions))' | FileCheck %s

// The sum of exponentials follows the maximum: one loop, in which the sum so far is rescaled. What both loops load and
// multiply is there once. The values follow, too; the sum of exponentials stands before their matmul.
// CHECK-LABEL: func.func @attention
// CHECK: %[[Q:.*]] = tile.load %arg0
// CHECK: %[[ALL:.*]]:3 = scf.for %[[J:.*]] = {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}})
// CHECK-NEXT: %[[K:.*]] = tile.load %arg1[%[[J]], %{{.*}}]
// CHECK-NEXT: %[[S:.*]] = tile.matmul %[[Q]], %[[K]] into
// CHECK-NEXT: %[[M1:.*]] = tile.row_reduce max %[[S]] into %[[M]]
// A row of which nothing is reduced yet has a finite number to subtract: masked elements become 0 and not NaN.
// CHECK-NEXT: %[[FINITE:.*]] = tile.map %[[M1]]
// CHECK-NEXT: ^bb0(%[[MAX:.*]]: f32,
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[MAX]], %{{.*}}
// CHECK: arith.select %[[NONE]], %{{.*}}, %[[MAX]]
// CHECK: %[[FACTOR:.*]] = tile.map %[[M]], %[[M1]]
// CHECK-NEXT: ^bb0(%[[FROM:.*]]: f32, %[[TO:.*]]: f32,
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpf oeq, %[[FROM]], %[[TO]]
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %[[FROM]], %[[TO]]
// CHECK-NEXT: %[[E:.*]] = math.exp2 %[[DIFFERENCE]] fastmath<afn>
// CHECK: arith.select %[[SAME]], %{{.*}}, %{{.*}}
// CHECK: %[[L0:.*]] = tile.map %[[L]], %[[FACTOR]]
// CHECK: %[[P:.*]] = tile.map %[[S]], %[[FINITE]]
// CHECK: %[[L1:.*]] = tile.row_reduce sum %[[P]] into %[[L0]]
// CHECK: %[[O0:.*]] = tile.map %[[O]], %{{.*}} : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>
// CHECK: %[[H:.*]] = tile.map %[[S]], %[[FINITE]]
// CHECK: %[[V:.*]] = tile.load %arg2
// CHECK: %[[O1:.*]] = tile.matmul %[[H]], %[[V]] mn_major into %[[O0]]
// CHECK-NEXT: scf.yield %[[M1]], %[[O1]], %[[L1]]
// CHECK-NOT: scf.for
// CHECK: tile.map %[[ALL]]#1, %[[ALL]]#2
func.func @attention(%Q: memref<64x64xbf16>, %K: memref<256x64xbf16>, %V: memref<256x64xbf16>, %out: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %q = tile.load %Q[%x, %c0] box [64, 64] : memref<64x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %lowest : f32 -> !tile.fragment<64x1xf32>
    %most = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] {te.stage = "K0"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %q, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %m1 = tile.row_reduce max %s into %m {te.stage = "M"} : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    %values = scf.for %j = %c0 to %c4 step %c1 iter_args(%o = %none) -> (!tile.fragment<64x64xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] {te.stage = "K1"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %q, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %m: f32, %row: index, %column: index):
        %d = arith.subf %e, %m : f32
        %f = math.exp2 %d : f32
        %g = arith.truncf %f : f32 to bf16
        tile.yield %g : bf16
      }
      %v = tile.load %V[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %o1 = tile.matmul %p, %v mn_major into %o : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %o1 : !tile.fragment<64x64xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "M">}
    %nothing = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %nothing) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] {te.stage = "K2"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %q, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %m: f32, %row: index, %column: index):
        %d = arith.subf %e, %m : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l {te.stage = "L"} : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "M">}
    %result = tile.map %values, %sum : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %row: index, %column: index):
      %d = arith.divf %e, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}

// Sums of products follow one another as they are: nothing is read of the first. All products of loaded tiles begin
// before anything is computed of them.
// CHECK-LABEL: func.func @gradients
// CHECK: %[[K:.*]] = tile.load %arg0
// CHECK: %[[BOTH:.*]]:2 = scf.for %[[J:.*]] = {{.*}} iter_args(%[[V:.*]] = %{{.*}}, %[[D:.*]] = %{{.*}})
// CHECK-NEXT: %[[Q:.*]] = tile.load %arg1[%[[J]], %{{.*}}]
// CHECK-NEXT: %[[S:.*]] = tile.matmul %[[K]], %[[Q]] into
// CHECK-NEXT: %[[H:.*]] = tile.load %arg2[%[[J]], %{{.*}}]
// CHECK-NEXT: %[[E:.*]] = tile.matmul %[[K]], %[[H]] into
// CHECK-NEXT: %[[P:.*]] = tile.map %[[S]]
// CHECK: %[[V1:.*]] = tile.matmul %[[P]], %[[Q]] mn_major into %[[V]]
// CHECK: %[[G:.*]] = tile.map %[[S]], %[[E]]
// CHECK: %[[D1:.*]] = tile.matmul %[[G]], %[[H]] mn_major into %[[D]]
// CHECK-NEXT: scf.yield %[[V1]], %[[D1]]
// CHECK-NOT: scf.for
func.func @gradients(%K: memref<64x64xbf16>, %Q: memref<256x64xbf16>, %H: memref<256x64xbf16>, %out: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %k = tile.load %K[%x, %c0] box [64, 64] : memref<64x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %values = scf.for %j = %c0 to %c4 step %c1 iter_args(%v = %none) -> (!tile.fragment<64x64xf32>) {
      %q = tile.load %Q[%j, %c0] box [64, 64] {te.stage = "Q0"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %q into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %g = arith.truncf %e : f32 to bf16
        tile.yield %g : bf16
      }
      %v1 = tile.matmul %p, %q mn_major into %v : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %v1 : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"r.outer" of "dV">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    %keys = scf.for %j = %c0 to %c4 step %c1 iter_args(%d = %none) -> (!tile.fragment<64x64xf32>) {
      %q = tile.load %Q[%j, %c0] box [64, 64] {te.stage = "Q1"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %q into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %h = tile.load %H[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %e = tile.matmul %k, %h into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %g = tile.map %s, %e : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32> -> !tile.fragment<64x64xbf16> {
      ^bb0(%a: f32, %b: f32, %row: index, %column: index):
        %m = arith.mulf %a, %b : f32
        %t = arith.truncf %m : f32 to bf16
        tile.yield %t : bf16
      }
      %d1 = tile.matmul %g, %h mn_major into %d : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %d1 : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"r.outer" of "dK">, schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "dV">}
    %result = tile.map %values, %keys : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%a: f32, %b: f32, %row: index, %column: index):
      %d = arith.addf %a, %b : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}

// A loop of another kernel over the same tiles: both kernels become one. What warpgroups share is multiplied first.
// Powers may be approximate, as what is summed of them is rounded.
// What only reads results of the first kernel comes behind both.
// CHECK-LABEL: func.func @joined
// CHECK: tile.kernel{{.*}} axes ["V.x", "", ""]
// CHECK: %[[K:.*]] = tile.load %arg0
// CHECK-NOT: tile.load %arg0
// CHECK: %[[V:.*]] = scf.for %[[J:.*]] = {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK-NEXT: %[[Q:.*]] = tile.load %arg1
// CHECK-NEXT: %[[S:.*]] = tile.matmul %[[K]], %[[Q]] into
// CHECK-NEXT: %[[P:.*]] = tile.map %[[S]]
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: %[[ALL:.*]] = tile.share %[[P]]
// CHECK-NEXT: %[[D:.*]] = tile.matmul %[[ALL]] mn_major, %[[K]] mn_major into
// CHECK-NEXT: %[[NEXT:.*]] = tile.matmul %[[P]], %[[Q]] mn_major into %[[SUM]]
// CHECK-NEXT: tile.store %[[D]] to %arg3
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: tile.store %[[V]] to %arg2
// CHECK: memref.copy %arg2, %arg4
// CHECK-NOT: tile.kernel
func.func @joined(%K: memref<128x64xbf16>, %Q: memref<256x64xbf16>, %V: memref<128x64xf32>, %D: memref<256x64xf32>, %W: memref<128x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["V.x", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %k = tile.load %K[%x, %c0] box [64, 64] : memref<128x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %values = scf.for %j = %c0 to %c4 step %c1 iter_args(%v = %none) -> (!tile.fragment<64x64xf32>) {
      %q = tile.load %Q[%j, %c0] box [64, 64] {te.stage = "Q0"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %q into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "P0"} -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %f = math.exp2 %e : f32
        %g = arith.truncf %f : f32 to bf16
        tile.yield %g : bf16
      }
      %v1 = tile.matmul %p, %q mn_major into %v : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %v1 : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"r.outer" of "dV">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    tile.store %values to %V[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<128x64xf32>
  }
  memref.copy %V, %W : memref<128x64xf32> to memref<128x64xf32>
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["D.x", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %k = tile.load %K[%x, %c0] box [64, 64] {te.stage = "K1"} : memref<128x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    scf.for %j = %c0 to %c4 step %c1 {
      %q = tile.load %Q[%j, %c0] box [64, 64] {te.stage = "Q1"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %q into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "P1"} -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %f = math.exp2 %e : f32
        %g = arith.truncf %f : f32 to bf16
        tile.yield %g : bf16
      }
      %all = tile.share %p : !tile.fragment<64x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %d = tile.matmul %all mn_major, %k mn_major into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      tile.store %d to %D[%j, %c0] box [64, 64] columns 64 swizzle 128 reduce_add : !tile.fragment<64x64xf32>, memref<256x64xf32>
    } {schedule.axis = #schedule.axis<"i.outer" of "dQ">, schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "dV">}
  }
  return
}
