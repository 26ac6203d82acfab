// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raster-tiles))' --split-input-file | FileCheck %s

// Row by row: a number is the row times the columns, plus the column.
// CHECK-LABEL: func.func @row
// CHECK: %[[TILES:.*]] = arith.constant 8 : index
// CHECK: tile.kernel(%[[TILES]], %{{.*}}, %{{.*}}) cluster [1, 1, 1] warpgroups 1 order <blocks = 3, raster = linear, group = 1>
// CHECK: ^bb0(%[[N:[a-z0-9]+]]: index
// CHECK: %[[X:.*]] = arith.remui %[[N]], %{{.*}} : index
// CHECK: %[[Y:.*]] = arith.divui %[[N]], %{{.*}} : index
// CHECK: affine.apply #{{.*}}(%[[Y]])
// CHECK: affine.apply #{{.*}}(%[[X]])
// CHECK: scf.for
func.func @row(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c2, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 3, raster = row, group = 1> axes ["C.j.outer", "C.i.outer", ""] {
  ^bb0(%x: index, %y: index, %z: index, %warpgroup: index):
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %i = affine.apply affine_map<(d0) -> (d0 * 64)>(%y)
    %j = affine.apply affine_map<(d0) -> (d0 * 64)>(%x)
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zeros) -> (!tile.fragment<64x64xf32>) {
      %l = affine.apply affine_map<(d0) -> (d0 * 64)>(%k)
      %a = tile.load %A[%i, %l] box [64, 64] {te.stage = "As"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %b = tile.load %B[%j, %l] box [64, 64] {te.stage = "Bs"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %t = tile.matmul %a, %b into %s : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %t : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 3>}
    tile.store %sum to %C[%i, %j] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

// Two rows of tiles are gone through together, down the rows first.
// CHECK-LABEL: func.func @grouped
// CHECK: ^bb0(%[[N:[a-z0-9]+]]: index
// CHECK: %[[ALL:.*]] = arith.constant 8 : index
// CHECK: %[[GROUP:.*]] = arith.divui %[[N]], %[[ALL]]
// CHECK: %[[IN_GROUP:.*]] = arith.remui %[[N]], %[[ALL]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]]
// CHECK: %[[X:.*]] = arith.divui %[[IN_GROUP]]
// CHECK: %[[ROW:.*]] = arith.remui %[[IN_GROUP]]
// CHECK: %[[Y:.*]] = arith.addi %[[ROW]], %[[FIRST]]
// CHECK: affine.apply #{{.*}}(%[[Y]])
// CHECK: affine.apply #{{.*}}(%[[X]])
func.func @grouped(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 3, raster = grouped, group = 2> axes ["C.j.outer", "C.i.outer", ""] {
  ^bb0(%x: index, %y: index, %z: index, %warpgroup: index):
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %i = affine.apply affine_map<(d0) -> (d0 * 64)>(%y)
    %j = affine.apply affine_map<(d0) -> (d0 * 64)>(%x)
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zeros) -> (!tile.fragment<64x64xf32>) {
      %l = affine.apply affine_map<(d0) -> (d0 * 64)>(%k)
      %a = tile.load %A[%i, %l] box [64, 64] {te.stage = "As"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %b = tile.load %B[%j, %l] box [64, 64] {te.stage = "Bs"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %t = tile.matmul %a, %b into %s : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %t : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 3>}
    tile.store %sum to %C[%i, %j] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

// On Hilbert's curve through squares of 4 x 4 tiles.
// CHECK-LABEL: func.func @hilbert
// CHECK: ^bb0(%[[N:[a-z0-9]+]]: index
// CHECK-COUNT-4: arith.xori
// CHECK: arith.select
// CHECK: scf.for
func.func @hilbert(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 3, raster = hilbert, group = 4> axes ["C.j.outer", "C.i.outer", ""] {
  ^bb0(%x: index, %y: index, %z: index, %warpgroup: index):
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %i = affine.apply affine_map<(d0) -> (d0 * 64)>(%y)
    %j = affine.apply affine_map<(d0) -> (d0 * 64)>(%x)
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zeros) -> (!tile.fragment<64x64xf32>) {
      %l = affine.apply affine_map<(d0) -> (d0 * 64)>(%k)
      %a = tile.load %A[%i, %l] box [64, 64] {te.stage = "As"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %b = tile.load %B[%j, %l] box [64, 64] {te.stage = "Bs"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %t = tile.matmul %a, %b into %s : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %t : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 3>}
    tile.store %sum to %C[%i, %j] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

// A cluster has one number; its blocks add their rank.
// CHECK-LABEL: func.func @cluster
// CHECK: %[[TILES:.*]] = arith.constant 8 : index
// CHECK: tile.kernel(%[[TILES]], %{{.*}}, %{{.*}}) cluster [2, 1, 1]
// CHECK: ^bb0(%[[N:[a-z0-9]+]]: index
// CHECK: %[[RANK:.*]] = gpu.cluster_block_id x
// CHECK: %[[CLUSTER:.*]] = arith.remui %[[N]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[CLUSTER]]
// CHECK: %[[X:.*]] = arith.addi %[[FIRST]], %[[RANK]]
// CHECK: affine.apply #{{.*}}(%[[X]])
func.func @cluster(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c4, %c1) cluster [2, 1, 1] warpgroups 1 order <blocks = 4, raster = row, group = 1> axes ["C.j.outer", "C.i.outer", ""] {
  ^bb0(%x: index, %y: index, %z: index, %warpgroup: index):
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %i = affine.apply affine_map<(d0) -> (d0 * 64)>(%y)
    %j = affine.apply affine_map<(d0) -> (d0 * 64)>(%x)
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zeros) -> (!tile.fragment<64x64xf32>) {
      %l = affine.apply affine_map<(d0) -> (d0 * 64)>(%k)
      %a = tile.load %A[%i, %l] box [64, 64] {te.stage = "As"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %b = tile.load %B[%j, %l] box [64, 64] {te.stage = "Bs"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %t = tile.matmul %a, %b into %s : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %t : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 3>}
    tile.store %sum to %C[%i, %j] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

// Hilbert's curve through a square of 4 x 4 tiles: a digit of base 4 of the number at a time, from the last one on, and
// the square around it turns or mirrors what the digits behind it gave. Every second band goes the other way.
// CHECK-LABEL: func.func @hilbert
// CHECK: %[[TILES:.*]] = arith.constant 16 : index
// CHECK: tile.kernel(%[[TILES]], %{{.*}}, %{{.*}}) cluster [1, 1, 1] warpgroups 1 order <blocks = 4, raster = linear, group = 1>
// CHECK: ^bb0(%[[N:[a-z0-9]+]]: index
// CHECK: %[[BAND:.*]] = arith.divui %[[N]]
// CHECK: %[[IN_BAND:.*]] = arith.remui %[[N]]
// CHECK: arith.divui %[[IN_BAND]]
// CHECK-NEXT: arith.remui %[[IN_BAND]]
// CHECK: %[[IN_SQUARE:.*]] = arith.remui %[[IN_BAND]]
// CHECK: %[[DIGIT:.*]] = arith.remui %[[IN_SQUARE]]
// CHECK: %[[HIGH0:.*]] = arith.divui %[[DIGIT]]
// CHECK: arith.xori %[[DIGIT]], %[[HIGH0]]
// CHECK: arith.divui %[[IN_SQUARE]]
// CHECK: %[[DIGIT1:.*]] = arith.remui
// CHECK: %[[HIGH1:.*]] = arith.divui %[[DIGIT1]]
// CHECK: %[[TURNS:.*]] = arith.cmpi eq
// CHECK: %[[MIRRORED0:.*]] = arith.xori %[[HIGH0]], %[[HIGH1]]
// CHECK: %[[MIRRORED1:.*]] = arith.xori %{{.*}}, %[[HIGH1]]
// CHECK: arith.select %[[TURNS]], %[[MIRRORED1]], %[[HIGH0]]
// CHECK: arith.select %[[TURNS]], %[[MIRRORED0]]
// CHECK: %[[BACK:.*]] = arith.subi %{{.*}}, %[[X:.*]] : index
// CHECK: %[[EVEN:.*]] = arith.cmpi eq
// CHECK: arith.select %[[EVEN]], %[[X]], %[[BACK]]
func.func @hilbert(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 4, raster = hilbert, group = 4> axes ["C.j.outer", "C.i.outer", ""] {
  ^bb0(%x: index, %y: index, %z: index, %warpgroup: index):
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %i = affine.apply affine_map<(d0) -> (d0 * 64)>(%y)
    %j = affine.apply affine_map<(d0) -> (d0 * 64)>(%x)
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zeros) -> (!tile.fragment<64x64xf32>) {
      %l = affine.apply affine_map<(d0) -> (d0 * 64)>(%k)
      %a = tile.load %A[%i, %l] box [64, 64] {te.stage = "As"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %b = tile.load %B[%j, %l] box [64, 64] {te.stage = "Bs"} : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %t = tile.matmul %a, %b into %s : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %t : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 3>}
    tile.store %sum to %C[%i, %j] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}
