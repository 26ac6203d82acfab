// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<()[s0] -> (-s0 + 69)>
func.func @main(%arg0: tensor<70x70xf32> {te.name = "A"}, %arg1: tensor<64x8xf32> {te.name = "F", te.output}) -> tensor<64x8xf32> {
  %0 = tensor.empty() : tensor<70x70xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<70x70xf32>) outs(%0 : tensor<70x70xf32>) attrs =  {te.axes = ["y", "x"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<70x70xf32>
  %2 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%arg1 : tensor<64x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "F"} {
  ^bb0(%out: f32):
    %3 = linalg.index 0 : index
    %4 = linalg.index 1 : index
    %5 = affine.apply #map1()[%3]
    %extracted = tensor.extract %1[%5, %4] : tensor<70x70xf32>
    linalg.yield %extracted : f32
  } -> tensor<64x8xf32>
  return %2 : tensor<64x8xf32>
}
schedule.of @main {
  %F = schedule.stage "F"
  %i, %j = schedule.axes %F ["i", "j"] : !schedule.axis, !schedule.axis
  %B = schedule.stage "B"
  schedule.compute_at %B at %F, %i
  // expected-error @below {{rolling_buffer of stage 'B': expected windows that move on by a constant with loop 'i', got axis 'y', along which they do not}}
  schedule.rolling_buffer %B
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<66x64xf32> {te.name = "A"}, %arg1: tensor<64x64xf32> {te.name = "C", te.output}) -> tensor<64x64xf32> {
  %0 = tensor.empty() : tensor<66x64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<66x64xf32>) outs(%0 : tensor<66x64xf32>) attrs =  {te.axes = ["y", "x"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst_0 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %6 = arith.addf %5, %cst_1 : f32
    linalg.yield %6 : f32
  } -> tensor<66x64xf32>
  %2 = tensor.empty() : tensor<3xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %3 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %2 : tensor<66x64xf32>, tensor<3xf32>) outs(%3 : tensor<64x64xf32>) attrs =  {te.axes = ["y", "x", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %y, %x = schedule.axes %C ["y", "x"] : !schedule.axis, !schedule.axis
  schedule.bind %y to <blockIdx.x>
  %B = schedule.stage "B"
  schedule.compute_at %B at %C, %y
  // expected-error @below {{rolling_buffer of stage 'B': expected a loop whose iterations come one after the other, got 'y' on blockIdx.x}}
  schedule.rolling_buffer %B
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0) -> (d0 + 1, d0 + 1)>
#map2 = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<70x70xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "E", te.output}) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<70x70xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<70x70xf32>) outs(%0 : tensor<70x70xf32>) attrs =  {te.axes = ["y", "x"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<70x70xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel"]} ins(%1 : tensor<70x70xf32>) outs(%arg1 : tensor<64xf32>) attrs =  {te.axes = ["i"], te.stage = "E"} {
  ^bb0(%in: f32, %out: f32):
    %3 = linalg.index 0 : index
    %extracted = tensor.extract %1[%3, %3] : tensor<70x70xf32>
    %4 = arith.addf %extracted, %in : f32
    linalg.yield %4 : f32
  } -> tensor<64xf32>
  return %2 : tensor<64xf32>
}
schedule.of @main {
  %E = schedule.stage "E"
  %i = schedule.axes %E ["i"] : !schedule.axis
  %B = schedule.stage "B"
  schedule.compute_at %B at %E, %i
  // expected-error @below {{rolling_buffer of stage 'B': expected windows that move along one axis with loop 'i', got 'y' and 'x'}}
  schedule.rolling_buffer %B
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1 + 1, d1)>
func.func @main(%arg0: tensor<66x64xf32> {te.name = "A"}, %arg1: tensor<64x64xf32> {te.name = "D", te.output}) -> tensor<64x64xf32> {
  %0 = tensor.empty() : tensor<66x64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<66x64xf32>) outs(%0 : tensor<66x64xf32>) attrs =  {te.axes = ["y", "x"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %4 = arith.addf %3, %cst_0 : f32
    linalg.yield %4 : f32
  } -> tensor<66x64xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<66x64xf32>) outs(%arg1 : tensor<64x64xf32>) attrs =  {te.axes = ["y", "x"], te.stage = "D"} {
  ^bb0(%in: f32, %out: f32):
    %3 = linalg.index 1 : index
    %extracted = tensor.extract %1[%3, %3] : tensor<66x64xf32>
    %4 = arith.addf %extracted, %in : f32
    linalg.yield %4 : f32
  } -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
schedule.of @main {
  %D = schedule.stage "D"
  %y, %x = schedule.axes %D ["y", "x"] : !schedule.axis, !schedule.axis
  %B = schedule.stage "B"
  schedule.compute_at %B at %D, %y
  // expected-error @below {{rolling_buffer of stage 'B': expected windows that move with loop 'y', got the same one in every iteration}}
  schedule.rolling_buffer %B
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<62x32xf32> {te.name = "A"}, %arg1: tensor<60x32xf32> {te.name = "C", te.output}) -> tensor<60x32xf32> {
  %0 = tensor.empty() : tensor<62x32xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<62x32xf32>) outs(%0 : tensor<62x32xf32>) attrs =  {te.axes = ["y", "x"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst_0 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %6 = arith.addf %5, %cst_1 : f32
    linalg.yield %6 : f32
  } -> tensor<62x32xf32>
  %2 = tensor.empty() : tensor<3xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %3 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<60x32xf32>) -> tensor<60x32xf32>
  %4 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %2 : tensor<62x32xf32>, tensor<3xf32>) outs(%3 : tensor<60x32xf32>) attrs =  {te.axes = ["y", "x", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<60x32xf32>
  return %4 : tensor<60x32xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  // expected-error @below {{rolling_buffer of stage 'B': expected a stage that is computed at a loop of another, got one that is computed at the root}}
  schedule.rolling_buffer %B
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0 * 3 + d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<180x32xf32> {te.name = "A"}, %arg1: tensor<60x32xf32> {te.name = "C", te.output}) -> tensor<60x32xf32> {
  %0 = tensor.empty() : tensor<180x32xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<180x32xf32>) outs(%0 : tensor<180x32xf32>) attrs =  {te.axes = ["y", "x"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst_0 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %6 = arith.addf %5, %cst_1 : f32
    linalg.yield %6 : f32
  } -> tensor<180x32xf32>
  %2 = tensor.empty() : tensor<3xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %3 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<60x32xf32>) -> tensor<60x32xf32>
  %4 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %2 : tensor<180x32xf32>, tensor<3xf32>) outs(%3 : tensor<60x32xf32>) attrs =  {te.axes = ["y", "x", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<60x32xf32>
  return %4 : tensor<60x32xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %y, %x = schedule.axes %C ["y", "x"] : !schedule.axis, !schedule.axis
  %y_outer, %y_inner = schedule.split %y by 16
  %B = schedule.stage "B"
  schedule.compute_at %B at %C, %y_inner
  // expected-error @below {{rolling_buffer of stage 'B': expected windows that overlap, got windows of 3 along axis 'y' that move by 3 with loop 'y.inner'}}
  schedule.rolling_buffer %B
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<66x64xf32> {te.name = "A"}, %arg1: tensor<64x64xf32> {te.name = "C", te.output}) -> tensor<64x64xf32> {
  %0 = tensor.empty() : tensor<66x64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<66x64xf32>) outs(%0 : tensor<66x64xf32>) attrs =  {te.axes = ["y", "x"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst_0 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %6 = arith.addf %5, %cst_1 : f32
    linalg.yield %6 : f32
  } -> tensor<66x64xf32>
  %2 = tensor.empty() : tensor<3xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %3 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %2 : tensor<66x64xf32>, tensor<3xf32>) outs(%3 : tensor<64x64xf32>) attrs =  {te.axes = ["y", "x", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %y, %x = schedule.axes %C ["y", "x"] : !schedule.axis, !schedule.axis
  schedule.software_pipeline %y depth 2
  %B = schedule.stage "B"
  schedule.compute_at %B at %C, %y
  // expected-error @below {{rolling_buffer of stage 'B': expected a loop whose iterations come one after the other, got 'y', which is a software pipeline}}
  schedule.rolling_buffer %B
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<66x64xf32> {te.name = "A"}, %arg1: tensor<64x64xf32> {te.name = "C", te.output}) -> tensor<64x64xf32> {
  %0 = tensor.empty() : tensor<66x64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<66x64xf32>) outs(%0 : tensor<66x64xf32>) attrs =  {te.axes = ["y", "x"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst_0 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %6 = arith.addf %5, %cst_1 : f32
    linalg.yield %6 : f32
  } -> tensor<66x64xf32>
  %2 = tensor.empty() : tensor<3xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %3 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %2 : tensor<66x64xf32>, tensor<3xf32>) outs(%3 : tensor<64x64xf32>) attrs =  {te.axes = ["y", "x", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %y, %x = schedule.axes %C ["y", "x"] : !schedule.axis, !schedule.axis
  schedule.vectorize %y
  %B = schedule.stage "B"
  schedule.compute_at %B at %C, %y
  // expected-error @below {{rolling_buffer of stage 'B': expected a loop whose iterations come one after the other, got 'y', which is vectorized}}
  schedule.rolling_buffer %B
}
