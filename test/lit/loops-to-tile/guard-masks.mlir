// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(guard-masks))' --split-input-file | FileCheck %s

// Keys 64 j + column up to query 128 x + 64 warpgroup + row: a warpgroup sees all of a tile whose last key its first query
// sees. Two equal maps of the scores become one.
// CHECK: #[[LEAST:.*]] = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 * 64 - d2 * 64 - 63)>
// CHECK-LABEL: func.func @causal
// CHECK: ^bb0(%[[X:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[W:.*]]: index):
// CHECK: scf.for %[[J:.*]] = %c0 to %c4
// CHECK: %[[MARGIN:.*]] = affine.apply #[[LEAST]](%[[X]], %[[W]], %[[J]])
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %[[MARGIN]], %{{.*}} : index
// CHECK: %[[MASKED:.*]] = scf.if %[[WHOLE]] -> (!tile.fragment<64x64xf32>) {
// CHECK-NEXT: scf.yield %[[S:.*]] : !tile.fragment<64x64xf32>
// CHECK: } else {
// CHECK: %[[CUT:.*]] = tile.map %[[S]]
// CHECK: arith.cmpi sle
// CHECK: arith.select
// CHECK: scf.yield %[[CUT]] : !tile.fragment<64x64xf32>
// CHECK-NOT: arith.cmpi
// CHECK: tile.row_reduce max %[[MASKED]]
// CHECK: tile.row_reduce sum %[[MASKED]]
func.func @causal(%S: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %lowest = arith.constant 0xFF800000 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %s = tile.fill %lowest : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %lowest : f32 -> !tile.fragment<64x1xf32>
    %most, %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low, %l = %low) -> (!tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>) {
      %masked = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "M"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %query = affine.apply affine_map<(x, w, r) -> (128 * x + 64 * w + r)>(%x, %w, %row)
        %sees = arith.cmpi sle, %key, %query : index
        %f = arith.select %sees, %e, %lowest : f32
        tile.yield %f : f32
      }
      %m1 = tile.row_reduce max %masked into %m : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      %again = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "L"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %query = affine.apply affine_map<(x, w, r) -> (128 * x + 64 * w + r)>(%x, %w, %row)
        %sees = arith.cmpi sle, %key, %query : index
        %f = arith.select %sees, %e, %lowest : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %again into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1, %l1 : !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>
    }
  }
  return
}

// -----

// A window from 128 keys before the query, up to as many keys as memory says: both have to hold, and what is computed
// with the chosen element stays.
// CHECK-LABEL: func.func @window
// CHECK: scf.for %[[J:.*]] = %c0 to %c4
// CHECK: %[[LOADED:.*]] = memref.load %{{.*}}[%{{.*}}] : memref<2xi32>
// CHECK: %[[LENGTH:.*]] = arith.index_cast %[[LOADED]] : i32 to index
// CHECK: %[[FIRST:.*]] = affine.apply
// CHECK: %[[IS_IN:.*]] = arith.cmpi sge, %[[FIRST]]
// CHECK: %[[LAST:.*]] = affine.apply #{{.*}}({{.*}}%[[LENGTH]]
// CHECK: %[[IS_THERE:.*]] = arith.cmpi sge, %[[LAST]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[IS_IN]], %[[IS_THERE]]
// CHECK: scf.if %[[BOTH]]
// CHECK: tile.map
// CHECK: %[[KNOWN:.*]] = arith.andi %true, %true : i1
// CHECK: arith.select %[[KNOWN]], %{{.*}}, %{{.*}} : f32
// CHECK: math.exp2
// CHECK: } else {
// CHECK: tile.map
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: math.exp2
func.func @window(%lengths: memref<2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %lowest = arith.constant 0xFF800000 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %s = tile.fill %lowest : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %lowest : f32 -> !tile.fragment<64x1xf32>
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %low) -> (!tile.fragment<64x1xf32>) {
      %p = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %from = affine.apply affine_map<(x, r) -> (64 * x + r - 128)>(%x, %row)
        %in = arith.cmpi sge, %key, %from : index
        %length = memref.load %lengths[%y] : memref<2xi32>
        %number = arith.index_cast %key : index to i32
        %there = arith.cmpi slt, %number, %length : i32
        %sees = arith.andi %in, %there : i1
        %chosen = arith.select %sees, %e, %lowest : f32
        %f = math.exp2 %chosen : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %l1 : !tile.fragment<64x1xf32>
    }
  }
  return
}

// -----

// A persistent kernel whose 4 clusters have one tile of 256 columns each keeps one copy of the map.
// CHECK-LABEL: func.func @one_tile
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: return
func.func @one_tile() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %count = arith.constant 4 : index
  %rows = arith.constant 250 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %first = gpu.cluster_id x
    scf.for %tile = %first to %count step %c4 {
      %s = tile.fill %zero : f32 -> !tile.fragment<64x256xf32>
      %p = tile.map %s : !tile.fragment<64x256xf32> -> !tile.fragment<64x256xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %i = affine.apply affine_map<(t, r) -> (64 * t + r)>(%tile, %row)
        %in = arith.cmpi slt, %i, %rows : index
        %f = arith.select %in, %e, %zero : f32
        tile.yield %f : f32
      }
      %none = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
      %sum = tile.row_reduce sum %p into %none : !tile.fragment<64x256xf32> -> !tile.fragment<64x1xf32>
    }
  }
  return
}

// -----

// So does one of two tiles of 128 columns: 256 in all.
// CHECK-LABEL: func.func @two_narrow_tiles
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: return
func.func @two_narrow_tiles() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %count = arith.constant 5 : index
  %rows = arith.constant 300 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %first = gpu.block_id x
    scf.for %tile = %first to %count step %c4 {
      %s = tile.fill %zero : f32 -> !tile.fragment<64x128xf32>
      %p = tile.map %s : !tile.fragment<64x128xf32> -> !tile.fragment<64x128xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %i = affine.apply affine_map<(t, r) -> (64 * t + r)>(%tile, %row)
        %in = arith.cmpi slt, %i, %rows : index
        %f = arith.select %in, %e, %zero : f32
        tile.yield %f : f32
      }
      %none = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
      %sum = tile.row_reduce sum %p into %none : !tile.fragment<64x128xf32> -> !tile.fragment<64x1xf32>
    }
  }
  return
}

// -----

// With two tiles of 256 columns, whole tiles are computed without their mask.
// CHECK-LABEL: func.func @two_tiles
// CHECK: scf.for
// CHECK: scf.if
// CHECK: return
func.func @two_tiles() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %count = arith.constant 5 : index
  %rows = arith.constant 300 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %first = gpu.block_id x
    scf.for %tile = %first to %count step %c4 {
      %s = tile.fill %zero : f32 -> !tile.fragment<64x256xf32>
      %p = tile.map %s : !tile.fragment<64x256xf32> -> !tile.fragment<64x256xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %i = affine.apply affine_map<(t, r) -> (64 * t + r)>(%tile, %row)
        %in = arith.cmpi slt, %i, %rows : index
        %f = arith.select %in, %e, %zero : f32
        tile.yield %f : f32
      }
      %none = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
      %sum = tile.row_reduce sum %p into %none : !tile.fragment<64x256xf32> -> !tile.fragment<64x1xf32>
    }
  }
  return
}

// -----

// Ping-pong: a warpgroup has three tiles of 128 columns, 384 in all. With a fourth it has 512.
// CHECK-LABEL: func.func @turns
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: return
func.func @turns() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %count = arith.constant 24 : index
  %rows = arith.constant 1500 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %block = gpu.block_id x
    %later = arith.muli %w, %c4 : index
    %first = arith.addi %block, %later : index
    scf.for %tile = %first to %count step %c8 {
      %s = tile.fill %zero : f32 -> !tile.fragment<64x128xf32>
      %p = tile.map %s : !tile.fragment<64x128xf32> -> !tile.fragment<64x128xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %i = affine.apply affine_map<(t, r) -> (64 * t + r)>(%tile, %row)
        %in = arith.cmpi slt, %i, %rows : index
        %f = arith.select %in, %e, %zero : f32
        tile.yield %f : f32
      }
      %none = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
      %sum = tile.row_reduce sum %p into %none : !tile.fragment<64x128xf32> -> !tile.fragment<64x1xf32>
    }
  }
  return
}

// -----

// CHECK-LABEL: func.func @more_turns
// CHECK: scf.for
// CHECK: scf.if
// CHECK: return
func.func @more_turns() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %count = arith.constant 25 : index
  %rows = arith.constant 1600 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %block = gpu.block_id x
    %later = arith.muli %w, %c4 : index
    %first = arith.addi %block, %later : index
    scf.for %tile = %first to %count step %c8 {
      %s = tile.fill %zero : f32 -> !tile.fragment<64x128xf32>
      %p = tile.map %s : !tile.fragment<64x128xf32> -> !tile.fragment<64x128xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %i = affine.apply affine_map<(t, r) -> (64 * t + r)>(%tile, %row)
        %in = arith.cmpi slt, %i, %rows : index
        %f = arith.select %in, %e, %zero : f32
        tile.yield %f : f32
      }
      %none = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
      %sum = tile.row_reduce sum %p into %none : !tile.fragment<64x128xf32> -> !tile.fragment<64x1xf32>
    }
  }
  return
}

// -----

// A diagonal that no tile is wholly before, a mask by what is in memory for each element, and a map that writes: they stay.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: scf.if
// CHECK: return
func.func @stays(%mask: memref<64x64xi32>, %out: memref<64x64xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %lowest = arith.constant 0xFF800000 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %s = tile.fill %lowest : f32 -> !tile.fragment<64x64xf32>
    %a = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %row: index, %column: index):
      %sees = arith.cmpi sle, %column, %row : index
      %f = arith.select %sees, %e, %lowest : f32
      tile.yield %f : f32
    }
    %b = tile.map %a : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %row: index, %column: index):
      %m = memref.load %mask[%row, %column] : memref<64x64xi32>
      %sees = arith.cmpi sgt, %m, %zero : i32
      %f = arith.select %sees, %e, %lowest : f32
      tile.yield %f : f32
    }
    %c = tile.map %b : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %row: index, %column: index):
      %sees = arith.cmpi sge, %x, %row : index
      %f = arith.select %sees, %e, %lowest : f32
      memref.store %f, %out[%row, %column] : memref<64x64xf32>
      tile.yield %f : f32
    }
  }
  return
}

// -----

// A tile that is whole by its number in a list needs no element of a mask in memory. Of two equal maps, which read the same,
// one is left.
// CHECK-LABEL: func.func @listed
// CHECK: scf.for %[[J:.*]] = %c0 to %c4
// CHECK: %[[LOADED:.*]] = memref.load %{{.*}}[%{{.*}}] : memref<2xi32>
// CHECK: %[[CUT:.*]] = arith.index_cast %[[LOADED]] : i32 to index
// CHECK: affine.apply #{{.*}}(%[[J]], %[[CUT]])
// CHECK: %[[MASKED:.*]] = scf.if %{{.*}} -> (!tile.fragment<64x64xf32>) {
// CHECK-NEXT: scf.yield %{{.*}} : !tile.fragment<64x64xf32>
// CHECK: } else {
// CHECK: tile.map
// CHECK: memref.load %{{.*}} : memref<64x256xi1>
// CHECK-NOT: tile.map
// CHECK: tile.row_reduce max %[[MASKED]]
// CHECK: tile.row_reduce sum %[[MASKED]]
func.func @listed(%cut: memref<2xi32>, %mask: memref<64x256xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %true = arith.constant true
  %lowest = arith.constant 0xFF800000 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %s = tile.fill %lowest : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %lowest : f32 -> !tile.fragment<64x1xf32>
    %most, %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low, %l = %low) -> (!tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>) {
      %a = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "M"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %number = arith.index_cast %key : index to i32
        %first = memref.load %cut[%x] : memref<2xi32>
        %whole = arith.cmpi sge, %number, %first : i32
        %element = memref.load %mask[%row, %key] : memref<64x256xi1>
        %sees = arith.select %whole, %true, %element : i1
        %f = arith.select %sees, %e, %lowest : f32
        tile.yield %f : f32
      }
      %m1 = tile.row_reduce max %a into %m : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      %b = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "L"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %key = affine.apply affine_map<(j, c) -> (64 * j + c)>(%j, %column)
        %number = arith.index_cast %key : index to i32
        %first = memref.load %cut[%x] : memref<2xi32>
        %whole = arith.cmpi sge, %number, %first : i32
        %element = memref.load %mask[%row, %key] : memref<64x256xi1>
        %sees = arith.select %whole, %true, %element : i1
        %f = arith.select %sees, %e, %lowest : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %b into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1, %l1 : !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32>
    }
  }
  return
}
