// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<64x256xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "B", te.output}) -> tensor<64xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<64xf32>) -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<64x256xf32>) outs(%0 : tensor<64xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
  return %1 : tensor<64xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  // expected-error @below {{env_threads of stage 'B': expected a loop bound to blockIdx.x, as blocks do not compute the same side by side, got none}}
  schedule.env_threads %B on <blockIdx.x> extent 4
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<64x256xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "B", te.output}) -> tensor<64xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<64xf32>) -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<64x256xf32>) outs(%0 : tensor<64xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
  return %1 : tensor<64xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  schedule.bind %i to <threadIdx.x>
  // expected-error @below {{env_threads of stage 'B': expected loops on threadIdx.x of extent 32, got axis 'i' of stage 'B' of 64}}
  schedule.env_threads %B on <threadIdx.x> extent 32
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<64x256xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "B", te.output}) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<64x256xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<64x256xf32>) outs(%0 : tensor<64x256xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x256xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %2 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<64xf32>) -> tensor<64xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<64x256xf32>) outs(%2 : tensor<64xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %4 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %4 : f32
  } -> tensor<64xf32>
  return %3 : tensor<64xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %A_shared = schedule.stage "A.shared"
  %i = schedule.axes %B ["i"] : !schedule.axis
  schedule.compute_at %A_shared at %B, %i
  // expected-error @below {{env_threads of stage 'A.shared': expected a stage that is computed at the root, as a kernel is, got one that is computed at a loop of stage 'B'}}
  schedule.env_threads %A_shared on <threadIdx.x> extent 32
}
