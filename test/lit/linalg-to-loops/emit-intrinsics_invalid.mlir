// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<32x48xf32> {te.name = "A"}, %arg1: tensor<32x48xf32> {te.name = "B"}, %arg2: tensor<32x32xf32> {te.name = "C", te.output}) -> tensor<32x32xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<32x48xf32>, tensor<32x48xf32>) outs(%0 : tensor<32x32xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %2 = arith.mulf %in, %in_0 : f32
    %3 = arith.addf %out, %2 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %3 : f32
  } -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %j_outer, %j_inner = schedule.split %j by 12
  // expected-error @below {{tensorize of stage 'C' by 'gemv': expected tiles that are whole, got tiles at the end of an axis that reach over it: split by numbers that divide the extents, or pad them}}
  schedule.tensorize %j_inner by "gemv" {
    func.func @describe(%arg0: tensor<48xf32> {te.name = "a"}, %arg1: tensor<12x48xf32> {te.name = "b"}, %arg2: tensor<12xf32> {te.name = "c", te.output}) -> tensor<12xf32> {
      %cst = arith.constant 0.000000e+00 : f32
      %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<12xf32>) -> tensor<12xf32>
      %1 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<48xf32>, tensor<12x48xf32>) outs(%0 : tensor<12xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "c"} {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %2 = arith.mulf %in, %in_0 : f32
        %3 = arith.addf %out, %2 {te.combine = array<i64: -1, 0>} : f32
        linalg.yield %3 : f32
      } -> tensor<12xf32>
      return %1 : tensor<12xf32>
    }
    func.func @reset(%arg0: memref<48xf32> {te.name = "a"}, %arg1: memref<12x48xf32> {te.name = "b"}, %arg2: memref<12xf32> {te.name = "c", te.output}) {
      return
    }
    func.func @update(%arg0: memref<48xf32> {te.name = "a"}, %arg1: memref<12x48xf32> {te.name = "b"}, %arg2: memref<12xf32> {te.name = "c", te.output}) {
      return
    }
  }
}
