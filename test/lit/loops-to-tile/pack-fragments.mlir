// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(pack-fragments))' | FileCheck %s

// Elements of 8 bits are rounded by an instruction for two, behind the map that computes them.
// CHECK-LABEL: func.func @weights
func.func @weights(%s: !tile.fragment<64x32xf32>, %most: !tile.fragment<64x1xf32>) -> !tile.fragment<64x32xf8E4M3FN> {
  // CHECK: %[[E:.*]] = tile.map %{{.*}}, %{{.*}} : !tile.fragment<64x32xf32>, !tile.fragment<64x1xf32> {te.stage = "P"} -> <64x32xf32> {
  // CHECK: %[[X:.*]] = math.exp2
  // CHECK-NEXT: tile.yield %[[X]] : f32
  // CHECK: %[[P:.*]] = tile.pack %[[E]] : <64x32xf32> -> <64x32xf8E4M3FN>
  // CHECK: return %[[P]]
  %p = tile.map %s, %most : !tile.fragment<64x32xf32>, !tile.fragment<64x1xf32> interleaved {te.stage = "P"} -> !tile.fragment<64x32xf8E4M3FN> {
  ^bb0(%x: f32, %m: f32, %row: index, %column: index):
    %d = arith.subf %x, %m : f32
    %e = math.exp2 %d : f32
    %y = arith.truncf %e : f32 to f8E4M3FN
    tile.yield %y : f8E4M3FN
  }
  return %p : !tile.fragment<64x32xf8E4M3FN>
}

// Others stay as they are.
// CHECK-LABEL: func.func @halves
func.func @halves(%s: !tile.fragment<64x32xf32>) -> !tile.fragment<64x32xf16> {
  // CHECK-NOT: tile.pack
  %p = tile.map %s : !tile.fragment<64x32xf32> -> !tile.fragment<64x32xf16> {
  ^bb0(%x: f32, %row: index, %column: index):
    %y = arith.truncf %x : f32 to f16
    tile.yield %y : f16
  }
  return %p : !tile.fragment<64x32xf16>
}
