// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
#map2 = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<64x48xf32> {te.name = "A"}, %arg1: tensor<48x64xf32> {te.name = "C", te.output}) -> tensor<48x64xf32> {
  %0 = tensor.empty() : tensor<64x48xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<64x48xf32>) outs(%0 : tensor<64x48xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x48xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<64x48xf32>) outs(%arg1 : tensor<48x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<48x64xf32>
  return %2 : tensor<48x64xf32>
}
schedule.of @main {
  %A_shared = schedule.stage "A.shared"
  // expected-error @below {{transform_layout of stage 'A.shared': expected a layout of 2 indices, one a dimension, got one of 1}}
  schedule.transform_layout %A_shared by #map2
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
#map2 = affine_map<(d0, d1) -> (d0 * 100000 + d1)>
func.func @main(%arg0: tensor<64x48xf32> {te.name = "A"}, %arg1: tensor<48x64xf32> {te.name = "C", te.output}) -> tensor<48x64xf32> {
  %0 = tensor.empty() : tensor<64x48xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<64x48xf32>) outs(%0 : tensor<64x48xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x48xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<64x48xf32>) outs(%arg1 : tensor<48x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<48x64xf32>
  return %2 : tensor<48x64xf32>
}
schedule.of @main {
  %A_shared = schedule.stage "A.shared"
  // expected-error @below {{transform_layout of stage 'A.shared': expected a layout by axes and their quotients and remainders, or at most 1048576 places, got a buffer of more}}
  schedule.transform_layout %A_shared by #map2
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
func.func @main(%arg0: tensor<64x48xf32> {te.name = "A"}, %arg1: tensor<48x64xf32> {te.name = "C", te.output}) -> tensor<48x64xf32> {
  %0 = tensor.empty() : tensor<64x48xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<64x48xf32>) outs(%0 : tensor<64x48xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x48xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<64x48xf32>) outs(%arg1 : tensor<48x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<48x64xf32>
  return %2 : tensor<48x64xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %A_shared = schedule.stage "A.shared"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %i_outer, %j_outer, %i_inner, %j_inner = schedule.tile %i, %j by 16, 16
  schedule.compute_at %A_shared at %C, %j_outer
  // expected-error @below {{transform_layout of stage 'A.shared': expected a stage without storage_align, which sets rows apart that this moves}}
  schedule.transform_layout %A_shared by #map1
  %ax0, %ax1 = schedule.axes %A_shared ["ax0", "ax1"] : !schedule.axis, !schedule.axis
  schedule.storage_align %A_shared, %ax0 by 32 offset 1
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
  // expected-error @below {{double_buffer: expected a stage that is computed at a loop of another, got stage 'B', which is computed at the root}}
  schedule.double_buffer %B
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0 * 8 + d1)>
func.func @main(%arg0: tensor<?x8xf32> {te.name = "A", te.symbols = ["n", ""]}, %arg1: tensor<?x8xf32> {te.name = "C", te.output, te.symbols = ["n", ""]}) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %arg0, %c0 : tensor<?x8xf32>
  %0 = tensor.empty(%dim) : tensor<?x8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<?x8xf32>) outs(%0 : tensor<?x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<?x8xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<?x8xf32>) outs(%arg1 : tensor<?x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  // expected-error @below {{transform_layout of stage 'B': expected a layout by axes and their quotients and remainders where an extent is symbolic, got another}}
  schedule.transform_layout %B by #map1
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
#map2 = affine_map<(d0, d1) -> (d0 - 1, d1)>
func.func @main(%arg0: tensor<64x48xf32> {te.name = "A"}, %arg1: tensor<48x64xf32> {te.name = "C", te.output}) -> tensor<48x64xf32> {
  %0 = tensor.empty() : tensor<64x48xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<64x48xf32>) outs(%0 : tensor<64x48xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x48xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<64x48xf32>) outs(%arg1 : tensor<48x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<48x64xf32>
  return %2 : tensor<48x64xf32>
}
schedule.of @main {
  %A_shared = schedule.stage "A.shared"
  // expected-error @below {{transform_layout of stage 'A.shared': expected places from 0 on, got some that are less or not known to be}}
  schedule.transform_layout %A_shared by #map2
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
#map2 = affine_map<(d0, d1) -> (d0, d1 floordiv 2)>
func.func @main(%arg0: tensor<64x48xf32> {te.name = "A"}, %arg1: tensor<48x64xf32> {te.name = "C", te.output}) -> tensor<48x64xf32> {
  %0 = tensor.empty() : tensor<64x48xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<64x48xf32>) outs(%0 : tensor<64x48xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x48xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<64x48xf32>) outs(%arg1 : tensor<48x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<48x64xf32>
  return %2 : tensor<48x64xf32>
}
schedule.of @main {
  %A_shared = schedule.stage "A.shared"
  // expected-error @below {{transform_layout of stage 'A.shared': expected a place of its own for each element, got one for those at [0, 0] and [0, 1]}}
  schedule.transform_layout %A_shared by #map2
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1, d0)>
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
  %C = schedule.stage "C"
  %y, %x = schedule.axes %C ["y", "x"] : !schedule.axis, !schedule.axis
  %y_outer, %y_inner = schedule.split %y by 16
  %B = schedule.stage "B"
  schedule.compute_at %B at %C, %y_inner
  schedule.rolling_buffer %B
  // expected-error @below {{transform_layout of stage 'B': expected a stage without a rolling buffer, whose rows lie in a circle}}
  schedule.transform_layout %B by #map4
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
  // expected-error @below {{prefetch of 'A': expected a loop whose iterations come one after the other, got 'i', which is bound to threadIdx.x}}
  schedule.prefetch %B of "A" at %i offset 1
  schedule.bind %i to <threadIdx.x>
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @f(%arg0: tensor<64xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "C", te.output}) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<64xf32>) outs(%0 : tensor<64xf32>) attrs =  {te.axes = ["i"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<64xf32>) outs(%arg1 : tensor<64xf32>) attrs =  {te.axes = ["i"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  return %2 : tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %i_outer, %i_inner = schedule.split %i by 16
  %C = schedule.stage "C"
  schedule.reverse_compute_at %C at %B, %i_outer
  // expected-error @below {{double_buffer: expected a stage that is computed at a loop of another, got stage 'C', which is computed after what it reads}}
  schedule.double_buffer %C
}
