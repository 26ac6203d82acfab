// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

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
  %A_shared = schedule.stage "A.shared"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  %i_outer, %j_outer, %i_inner, %j_inner = schedule.tile %i, %j by 8, 8
  schedule.compute_at %A_shared at %B, %j_outer
  %ax0, %ax1 = schedule.axes %A_shared ["ax0", "ax1"] : !schedule.axis, !schedule.axis
  // expected-error @below {{storage_align: expected a distance along axis 'ax1' that can be 2 more than a multiple of 32, got multiples of 1}}
  schedule.storage_align %A_shared, %ax1 by 32 offset 2
}

// -----

// An extent that depends on sizes is not padded.
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @symbolic(%arg0: tensor<32x?xf32> {te.name = "A"}, %arg1: tensor<32x?xf32> {te.name = "B", te.output}) -> tensor<32x?xf32> {
  %c1 = arith.constant 1 : index
  %dim = tensor.dim %arg0, %c1 : tensor<32x?xf32>
  %0 = tensor.empty(%dim) : tensor<32x?xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<32x?xf32>) outs(%0 : tensor<32x?xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x?xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<32x?xf32>) outs(%arg1 : tensor<32x?xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x?xf32>
  return %2 : tensor<32x?xf32>
}
schedule.of @symbolic {
  %B = schedule.stage "B"
  %A_shared = schedule.stage "A.shared"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  schedule.compute_at %A_shared at %B, %i
  %ax0, %ax1 = schedule.axes %A_shared ["ax0", "ax1"] : !schedule.axis, !schedule.axis
  // expected-error @below {{storage_align: expected constant extents within axis 'ax0', got one that depends on sizes}}
  schedule.storage_align %A_shared, %ax0 by 7 offset 0
}
