// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
func.func @f(%arg0: tensor<32x32xf32> {te.name = "A"}, %arg1: tensor<32x32xf32> {te.name = "B", te.output}) -> tensor<32x32xf32> {
  %0 = tensor.empty() : tensor<32x32xf32>
  // expected-error @below {{launch_bounds: expected a stage that is computed at the root, got stage 'A.shared', which is computed at a loop of stage 'B'}}
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x32xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<32x32xf32>) outs(%arg1 : tensor<32x32xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %A_shared = schedule.stage "A.shared"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  %i_outer, %j_outer, %i_inner, %j_inner = schedule.tile %i, %j by 8, 8
  schedule.compute_at %A_shared at %B, %j_outer
  schedule.launch_bounds %A_shared min_blocks 2
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
func.func @f(%arg0: tensor<32x32xf32> {te.name = "A"}, %arg1: tensor<32x32xf32> {te.name = "B", te.output}) -> tensor<32x32xf32> {
  %0 = tensor.empty() : tensor<32x32xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x32xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<32x32xf32>) outs(%arg1 : tensor<32x32xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-error @below {{storage_align: expected a stage that is computed at a loop of another, got stage 'B', whose tensor is row-major}}
  schedule.storage_align %B, %i by 32 offset 1
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<100xf32> {te.name = "A"}, %arg1: tensor<100xf32> {te.name = "B", te.output}) -> tensor<100xf32> {
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<100xf32>) outs(%arg1 : tensor<100xf32>) attrs =  {te.axes = ["i"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %1 = arith.mulf %in, %cst : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %1, %cst_0 : f32
    linalg.yield %2 : f32
  } -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{'schedule.split' op expected a symbolic extent of an argument or a number among the arguments, got 'n', which is neither}}
  %i_outer, %i_inner = schedule.split %i by_symbol "n"
}
