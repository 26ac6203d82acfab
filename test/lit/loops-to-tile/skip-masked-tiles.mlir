// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(skip-masked-tiles))' --split-input-file | FileCheck %s

// Keys 64 j + column up to query 128 x + 64 warpgroup + row: the last tile that the block sees begins at 128 x + 127. Tiles
// of the grid that see more come first.
// CHECK-LABEL: func.func @causal
// CHECK: ^bb0(%[[X:.*]]: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK: %[[PLACE:.*]] = arith.subi %{{.*}}, %[[X]]
// CHECK: %[[REACH:.*]] = affine.apply #{{.*}}(%[[PLACE]])
// CHECK: %[[LAST:.*]] = arith.divui %[[REACH]], %c64
// CHECK: %[[COUNT:.*]] = arith.addi %[[LAST]], %c1
// CHECK: %[[END:.*]] = arith.minui %[[COUNT]], %c4
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c1
func.func @causal(%K: memref<256x64xbf16>, %out: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %away = arith.constant 0xFF800000 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %lowest : f32 -> !tile.fragment<64x1xf32>
    %most, %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low, %l = %low) -> (!tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %masked = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %query = affine.apply affine_map<(x, w, r) -> (128 * x + 64 * w + r)>(%x, %w, %row)
        %sees = arith.cmpi sle, %key, %query : index
        %f = arith.select %sees, %e, %away : f32
        tile.yield %f : f32
      }
      %m1 = tile.row_reduce max %masked into %m : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      %p = tile.map %masked, %m1 : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %n: f32, %row: index, %column: index):
        %d = arith.subf %e, %n : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1, %l1 : !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    %result = tile.map %none, %most, %sum : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %m: f32, %l: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x64xf32>
  }
  return
}

// -----

// What is masked away is zero, which a maximum may be of: each tile counts.
// CHECK-LABEL: func.func @zeros
// CHECK-NOT: arith.minui
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
func.func @zeros(%K: memref<256x64xbf16>, %out: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %away = arith.constant 0.0 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %lowest : f32 -> !tile.fragment<64x1xf32>
    %most, %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low, %l = %low) -> (!tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %masked = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %query = affine.apply affine_map<(x, w, r) -> (128 * x + 64 * w + r)>(%x, %w, %row)
        %sees = arith.cmpi sle, %key, %query : index
        %f = arith.select %sees, %e, %away : f32
        tile.yield %f : f32
      }
      %m1 = tile.row_reduce max %masked into %m : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      %p = tile.map %masked, %m1 : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %n: f32, %row: index, %column: index):
        %d = arith.subf %e, %n : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1, %l1 : !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    %result = tile.map %none, %most, %sum : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %m: f32, %l: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x64xf32>
  }
  return
}

// -----

// Keys from the query on: the loop begins with the tile of the block's first query. At least one iteration is left.
// CHECK-LABEL: func.func @later
// CHECK: ^bb0(%[[X:.*]]: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK: %[[AHEAD:.*]] = affine.apply #{{.*}}(%[[X]])
// CHECK: %[[SOME:.*]] = arith.maxsi %[[AHEAD]], %c0
// CHECK: %[[TILE:.*]] = arith.divui %[[SOME]], %c64
// CHECK: %[[FIRST:.*]] = arith.minui %[[TILE]], %c3
// CHECK: %[[COUNT:.*]] = arith.subi %c4, %[[FIRST]]
// CHECK: scf.for %[[J:.*]] = %c0 to %[[COUNT]] step %c1
// CHECK: %[[AT:.*]] = arith.addi %[[J]], %[[FIRST]]
// CHECK: tile.load %{{.*}}[%[[AT]], %c0]
func.func @later(%K: memref<256x64xbf16>, %out: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %away = arith.constant 0xFF800000 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %lowest : f32 -> !tile.fragment<64x1xf32>
    %most, %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low, %l = %low) -> (!tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %masked = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %query = affine.apply affine_map<(x, w, r) -> (128 * x + 64 * w + r)>(%x, %w, %row)
        %sees = arith.cmpi sge, %key, %query : index
        %f = arith.select %sees, %e, %away : f32
        tile.yield %f : f32
      }
      %m1 = tile.row_reduce max %masked into %m : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      %p = tile.map %masked, %m1 : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %n: f32, %row: index, %column: index):
        %d = arith.subf %e, %n : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1, %l1 : !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    %result = tile.map %none, %most, %sum : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %m: f32, %l: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x64xf32>
  }
  return
}

// -----

// As many keys as a loop before the kernel has counted: the kernel reads the number once.
// CHECK-LABEL: func.func @listed
// CHECK: memref.store
// CHECK: ^bb0(%[[X:.*]]: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK: %[[READ:.*]] = memref.load %{{.*}}[%[[X]]] : memref<2xi32>
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[READ]] : i32 to index
// CHECK: %[[LAST:.*]] = affine.apply #{{.*}}(%[[COUNT]])
// CHECK: %[[SOME:.*]] = arith.maxsi %[[LAST]], %c0
// CHECK: %[[TILE:.*]] = arith.divui %[[SOME]], %c64
// CHECK: %[[TILES:.*]] = arith.addi %[[TILE]], %c1
// CHECK: %[[END:.*]] = arith.minui %[[TILES]], %c4
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c1
func.func @listed(%K: memref<256x64xbf16>, %counts: memref<2xi32>, %out: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %visited = memref.alloc() : memref<2xi32>
  %away = arith.constant 0xFF800000 : f32
  scf.for %i = %c0 to %c2 step %c1 {
    %count = memref.load %counts[%i] : memref<2xi32>
    memref.store %count, %visited[%i] : memref<2xi32>
  }
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %lowest : f32 -> !tile.fragment<64x1xf32>
    %most, %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low, %l = %low) -> (!tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %masked = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %number = arith.index_cast %key : index to i32
        %count = memref.load %visited[%x] : memref<2xi32>
        %sees = arith.cmpi slt, %number, %count : i32
        %f = arith.select %sees, %e, %away : f32
        tile.yield %f : f32
      }
      %m1 = tile.row_reduce max %masked into %m : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      %p = tile.map %masked, %m1 : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %n: f32, %row: index, %column: index):
        %d = arith.subf %e, %n : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1, %l1 : !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    %result = tile.map %none, %most, %sum : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %m: f32, %l: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x64xf32>
  }
  return
}

// -----

// Nothing is added of tiles that are masked away, though the masked scores are operand B: queries before a block's keys.
// CHECK-LABEL: func.func @added
// CHECK: ^bb0(%[[X:.*]]: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK: %[[FIRST:.*]] = arith.minui %{{.*}}, %c3
// CHECK: %[[END:.*]] = arith.subi %c4, %[[FIRST]]
// CHECK: scf.for %[[J:.*]] = %c0 to %[[END]] step %c1
// CHECK-NEXT: arith.addi %[[J]], %[[FIRST]]
func.func @added(%K: memref<256x64xbf16>, %Q: memref<256x64xbf16>, %D: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %k = tile.load %K[%x, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    scf.for %j = %c0 to %c4 step %c1 {
      %q = tile.load %Q[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %q into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(x, r) -> (64 * x + r)>(%x, %row)
        %query = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %sees = arith.cmpi sle, %key, %query : index
        %f = arith.select %sees, %e, %zero : f32
        %g = arith.truncf %f : f32 to bf16
        tile.yield %g : bf16
      }
      %all = tile.share %p : !tile.fragment<64x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %d = tile.matmul %k mn_major, %all mn_major into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      tile.store %d transposed to %D[%j, %c0] box [64, 64] columns 64 swizzle 128 reduce_add : !tile.fragment<64x64xf32>, memref<256x64xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  }
  return
}

// -----

// A masked score times a scale that is read stays minus infinity if the scale is positive: the larger of it and of a
// positive number is.
// CHECK-LABEL: func.func @scaled
// CHECK: %[[END:.*]] = arith.minui %{{.*}}, %c4
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c1
// CHECK-LABEL: func.func @scaled_by_any
// CHECK-NOT: arith.minui
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
func.func @scaled(%K: memref<256x64xbf16>, %scales: memref<1xf32>, %out: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 1.0e-30 : f32
  %away = arith.constant 0xFF800000 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %query = affine.apply affine_map<(x, w, r) -> (128 * x + 64 * w + r)>(%x, %w, %row)
        %sees = arith.cmpi sle, %key, %query : index
        %score = arith.select %sees, %e, %away : f32
        %read = memref.load %scales[%c0] : memref<1xf32>
        %scale = arith.maximumf %read, %least : f32
        %d = arith.mulf %score, %scale : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    %result = tile.map %none, %sum : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %row: index, %column: index):
      tile.yield %l : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x64xf32>
  }
  return
}
func.func @scaled_by_any(%K: memref<256x64xbf16>, %scales: memref<1xf32>, %out: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %away = arith.constant 0xFF800000 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %query = affine.apply affine_map<(x, w, r) -> (128 * x + 64 * w + r)>(%x, %w, %row)
        %sees = arith.cmpi sle, %key, %query : index
        %score = arith.select %sees, %e, %away : f32
        %scale = memref.load %scales[%c0] : memref<1xf32>
        %d = arith.mulf %score, %scale : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    %result = tile.map %none, %sum : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %row: index, %column: index):
      tile.yield %l : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x64xf32>
  }
  return
}
