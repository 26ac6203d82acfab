// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(assign-tile-roles))' --split-input-file | FileCheck %s

// A producer puts, consumer warpgroups get.
// CHECK-LABEL: func.func @producer
// CHECK: %[[RING:.*]] = tile.ring consumers 1 : <3, <64x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
// CHECK: tile.role "producer" warps 4 registers 40 {
// CHECK-NEXT: tile.elect role {
// CHECK-NOT: tile.matmul
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: %[[A:.*]] = tile.load
// CHECK-NEXT: %[[B:.*]] = tile.load
// CHECK-NEXT: tile.put %[[A]], %[[B]] to %[[RING]]
// CHECK: tile.role "consumer" warps 4 registers 232 {
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: %[[TILES:.*]]:2 = tile.get %[[RING]]
// CHECK-NEXT: tile.matmul %[[TILES]]#0, %[[TILES]]#1
// CHECK: tile.store
func.func @producer(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["C.j.outer", "C.i.outer", ""] {
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

// One thread of those that compute loads ahead: three iterations before the loop, then one for the slot that is free.
// CHECK-LABEL: func.func @no_producer
// CHECK: %[[RING:.*]] = tile.ring consumers 1
// CHECK: tile.elect role {
// CHECK-COUNT-3: tile.put %{{.*}}, %{{.*}} to %[[RING]]
// CHECK: scf.for %[[K:.*]] = %[[FIRST:.*]] to %[[END:.*]] step
// CHECK: tile.get %[[RING]]
// CHECK: tile.matmul
// CHECK-NEXT: %[[LATER:.*]] = arith.cmpi ne, %[[K]], %[[FIRST]]
// CHECK-NEXT: scf.if %[[LATER]] {
// CHECK-NEXT: tile.elect role {
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]]
// CHECK-NEXT: %[[THERE:.*]] = arith.cmpi ult, %[[AHEAD]], %[[END]]
// CHECK-NEXT: scf.if %[[THERE]] {
// CHECK: tile.put
func.func @no_producer(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["C.j.outer", "C.i.outer", ""] {
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

// Ping-pong: two sets of consumer warpgroups take the block's tiles alternately. Each passes over the slots of the other's
// tiles, and computes its matmuls while the other stores.
// CHECK-LABEL: func.func @sets
// CHECK-SAME: (%[[A:.*]]: memref<256x256xbf16>, %[[B:.*]]: memref<256x256xbf16>, %[[C:.*]]: memref<256x256xf32>)
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: tile.kernel(
// CHECK: ^bb0(%[[BLOCK:[a-z0-9]+]]: index
// CHECK: %[[RING:.*]] = tile.ring consumers 1
// CHECK: tile.role "producer" warps 4 registers 40 {
// CHECK: scf.for %{{.*}} = %[[BLOCK]] to %[[C16]] step %[[C4]] {
// CHECK: tile.role "consumer" warps 8 registers 232 turns 2 {
// CHECK-NEXT: ^bb0(%[[SET:.*]]: index):
// CHECK-NEXT: %[[TILES:.*]] = arith.muli %[[SET]], %[[C4]]
// CHECK-NEXT: %[[FIRST:.*]] = arith.addi %[[BLOCK]], %[[TILES]]
// CHECK-NEXT: tile.skip %[[RING]] by 4 times %[[SET]] most 1
// CHECK-NEXT: %[[STEP:.*]] = arith.constant 8 : index
// CHECK-NEXT: scf.for %[[TILE:.*]] = %[[FIRST]] to %[[C16]] step %[[STEP]] {
// CHECK: scf.if
// CHECK-NEXT: tile.take_turn %[[SET]] of 2 warpgroups 1
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: tile.matmul
// CHECK: scf.if
// CHECK-NEXT: tile.pass_turn %[[SET]] of 2 warpgroups 1
// CHECK: tile.store %[[SUM]] to %[[C]]
// CHECK-NEXT: tile.skip %[[RING]] by 4 :
func.func @sets(%A: memref<256x256xbf16>, %B: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] pingpong 2 axes ["C.j.outer", "C.i.outer", ""] {
  ^bb0(%x: index, %y: index, %z: index, %warpgroup: index):
    scf.for %tile = %x to %c16 step %c4 {
      %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
      %i = affine.apply affine_map<(d0) -> (d0 * 64)>(%tile)
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
  }
  return
}
