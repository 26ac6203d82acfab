// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

// A stage beside another one, in loops that do not compute what it reads.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<32x20xf32> {te.dtype = f32, te.name = "A"}, %arg1: tensor<32x20xf32> {te.dtype = f32, te.name = "R", te.output}, %arg2: tensor<32xf32> {te.dtype = f32, te.name = "T", te.output}) -> (tensor<32x20xf32>, tensor<32xf32>) {
  %0 = tensor.empty() : tensor<32xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<32xf32>) -> tensor<32xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<32x20xf32>) outs(%1 : tensor<32xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "S"} {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.addf %out, %in fastmath<contract> {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<32xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %2 : tensor<32x20xf32>, tensor<32xf32>) outs(%arg1 : tensor<32x20xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "R"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.subf %in, %in_0 fastmath<contract> : f32
    linalg.yield %5 : f32
  } -> tensor<32x20xf32>
  %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%2 : tensor<32xf32>) outs(%arg2 : tensor<32xf32>) attrs =  {te.axes = ["t"], te.stage = "T"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst_0 fastmath<contract> : f32
    linalg.yield %5 : f32
  } -> tensor<32xf32>
  return %3, %4 : tensor<32x20xf32>, tensor<32xf32>
}
schedule.of @main {
  %R = schedule.stage "R"
  %i, %j = schedule.axes %R ["i", "j"] : !schedule.axis, !schedule.axis
  %j_outer, %j_inner = schedule.split %j by 10
  schedule.reorder %j_outer, %i, %j_inner
  %S = schedule.stage "S"
  schedule.compute_at %S at %R, %i
  %T = schedule.stage "T"
  // expected-error @below {{reverse_compute_at: expected each iteration of loop 'i' to compute all of axis 'j' of stage 'R', which stage 'T' does not have, got a part of it}}
  schedule.reverse_compute_at %T at %R, %i
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<32x20xf32> {te.dtype = f32, te.name = "A"}, %arg1: tensor<32x20xf32> {te.dtype = f32, te.name = "R", te.output}, %arg2: tensor<30xf32> {te.dtype = f32, te.name = "T", te.output}) -> (tensor<32x20xf32>, tensor<30xf32>) {
  %0 = tensor.empty() : tensor<32xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<32xf32>) -> tensor<32xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<32x20xf32>) outs(%1 : tensor<32xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "S"} {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.addf %out, %in fastmath<contract> {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<32xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %2 : tensor<32x20xf32>, tensor<32xf32>) outs(%arg1 : tensor<32x20xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "R"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.subf %in, %in_0 fastmath<contract> : f32
    linalg.yield %5 : f32
  } -> tensor<32x20xf32>
  %4 = linalg.generic {indexing_maps = [#map2], iterator_types = ["parallel"]} outs(%arg2 : tensor<30xf32>) attrs =  {te.axes = ["t"], te.stage = "T"} {
  ^bb0(%out: f32):
    %5 = linalg.index 0 : index
    %extracted = tensor.extract %2[%5] : tensor<32xf32>
    %cst_0 = arith.constant 2.000000e+00 : f32
    %6 = arith.mulf %extracted, %cst_0 fastmath<contract> : f32
    linalg.yield %6 : f32
  } -> tensor<30xf32>
  return %3, %4 : tensor<32x20xf32>, tensor<30xf32>
}
schedule.of @main {
  %R = schedule.stage "R"
  %i, %j = schedule.axes %R ["i", "j"] : !schedule.axis, !schedule.axis
  %j_outer, %j_inner = schedule.split %j by 10
  schedule.reorder %j_outer, %i, %j_inner
  %S = schedule.stage "S"
  schedule.compute_at %S at %R, %j_outer
  %T = schedule.stage "T"
  // expected-error @below {{reverse_compute_at: expected stage 'T' to have the first axes of stage 'R', in whose loops it reads what is computed, got 't' of another extent}}
  schedule.reverse_compute_at %T at %R, %j_outer
}
