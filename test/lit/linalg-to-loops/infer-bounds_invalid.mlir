// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0) -> (d0)>
func.func @f(%arg0: tensor<?xf32> {te.name = "A", te.symbols = ["n"]}, %arg1: tensor<?xf32> {te.name = "C", te.output, te.symbols = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
  %0 = tensor.empty(%dim) : tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<?xf32>) outs(%0 : tensor<?xf32>) attrs =  {te.axes = ["i"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<?xf32>) outs(%arg1 : tensor<?xf32>) attrs =  {te.axes = ["i"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{unroll: expected axis 'i' of constant extent, got one that is symbolic}}
  schedule.unroll %i
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, -d1 + 31)>
func.func @main(%arg0: tensor<8x32xf32> {te.name = "A"}, %arg1: tensor<8x32xf32> {te.name = "B", te.output}) -> tensor<8x32xf32> {
  %0 = tensor.empty() : tensor<8x32xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x32xf32>) outs(%0 : tensor<8x32xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.warp"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x32xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<8x32xf32>) outs(%arg1 : tensor<8x32xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<8x32xf32>
  return %2 : tensor<8x32xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %A_warp = schedule.stage "A.warp"
  schedule.set_scope %A_warp to <warp>
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  schedule.bind %i to <threadIdx.y>
  schedule.compute_at %A_warp at %B, %i
  %ax0, %ax1 = schedule.axes %A_warp ["ax0", "ax1"] : !schedule.axis, !schedule.axis
  %ax1_outer, %ax1_inner = schedule.split %ax1 by 8
  // expected-error @below {{bind: expected no axis of stage 'A.warp' on threadIdx.y, as each of the threads along that has its own in warp memory, got 'ax1.inner'}}
  schedule.bind %ax1_inner to <threadIdx.y>
}
