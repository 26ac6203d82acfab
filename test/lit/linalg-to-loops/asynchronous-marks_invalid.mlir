// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<128x128xf16> {te.name = "A"}, %arg1: tensor<64x128xf16> {te.name = "B"}, %arg2: tensor<128x64xf32> {te.name = "C", te.output}) -> tensor<128x64xf32> {
  %0 = tensor.empty() : tensor<128x128xf16>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<128x128xf16>) outs(%0 : tensor<128x128xf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<128x128xf16>
  %2 = tensor.empty() : tensor<64x128xf16>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x128xf16>) outs(%2 : tensor<64x128xf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "B.shared"} {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<64x128xf16>
  %4 = tensor.empty() : tensor<128x64xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<128x64xf32>) -> tensor<128x64xf32>
  %6 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %3 : tensor<128x128xf16>, tensor<64x128xf16>) outs(%5 : tensor<128x64xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "P"} {
  ^bb0(%in: f16, %in_0: f16, %out: f32):
    %8 = arith.extf %in : f16 to f32
    %9 = arith.extf %in_0 : f16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %out, %10 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %11 : f32
  } -> tensor<128x64xf32>
  %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<128x64xf32>) outs(%arg2 : tensor<128x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<128x64xf32>
  return %7 : tensor<128x64xf32>
}
schedule.of @main {
  %P = schedule.stage "P"
  %B_shared = schedule.stage "B.shared"
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %i_outer, %i_inner = schedule.split %i by 128
  %i_inner_outer, %i_inner_inner = schedule.split %i_inner by 64
  schedule.compute_at %P at %C, %i_inner_outer
  %k = schedule.reduce_axes %P ["k"] : !schedule.axis
  %k_outer, %k_inner = schedule.split %k by 64
  // expected-error @below {{copy_by: expected a stage in shared or global memory, got 'P' in local memory}}
  schedule.copy_by <tma> %P swizzle 128
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<64x8xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "C", te.output}) -> tensor<64xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<64xf32>) -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<64x8xf32>) outs(%0 : tensor<64xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
  return %1 : tensor<64xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  // expected-error @below {{copy_by: expected a stage that is a copy, got the reduction 'C'}}
  schedule.copy_by <tma> %C swizzle 128
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<128x128xf16> {te.name = "A"}, %arg1: tensor<64x128xf16> {te.name = "B"}, %arg2: tensor<128x64xf32> {te.name = "C", te.output}) -> tensor<128x64xf32> {
  %0 = tensor.empty() : tensor<128x128xf16>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<128x128xf16>) outs(%0 : tensor<128x128xf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<128x128xf16>
  %2 = tensor.empty() : tensor<64x128xf16>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x128xf16>) outs(%2 : tensor<64x128xf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "B.shared"} {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<64x128xf16>
  %4 = tensor.empty() : tensor<128x64xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<128x64xf32>) -> tensor<128x64xf32>
  %6 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %3 : tensor<128x128xf16>, tensor<64x128xf16>) outs(%5 : tensor<128x64xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "P"} {
  ^bb0(%in: f16, %in_0: f16, %out: f32):
    %8 = arith.extf %in : f16 to f32
    %9 = arith.extf %in_0 : f16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %out, %10 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %11 : f32
  } -> tensor<128x64xf32>
  %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<128x64xf32>) outs(%arg2 : tensor<128x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<128x64xf32>
  return %7 : tensor<128x64xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-error @below {{cluster: expected an axis bound to blockIdx.x or blockIdx.y, got 'j'}}
  schedule.cluster %j blocks 2
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<128x128xf16> {te.name = "A"}, %arg1: tensor<64x128xf16> {te.name = "B"}, %arg2: tensor<128x64xf32> {te.name = "C", te.output}) -> tensor<128x64xf32> {
  %0 = tensor.empty() : tensor<128x128xf16>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<128x128xf16>) outs(%0 : tensor<128x128xf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<128x128xf16>
  %2 = tensor.empty() : tensor<64x128xf16>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x128xf16>) outs(%2 : tensor<64x128xf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "B.shared"} {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<64x128xf16>
  %4 = tensor.empty() : tensor<128x64xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<128x64xf32>) -> tensor<128x64xf32>
  %6 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %3 : tensor<128x128xf16>, tensor<64x128xf16>) outs(%5 : tensor<128x64xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "P"} {
  ^bb0(%in: f16, %in_0: f16, %out: f32):
    %8 = arith.extf %in : f16 to f32
    %9 = arith.extf %in_0 : f16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %out, %10 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %11 : f32
  } -> tensor<128x64xf32>
  %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<128x64xf32>) outs(%arg2 : tensor<128x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<128x64xf32>
  return %7 : tensor<128x64xf32>
}
schedule.of @main {
  %P = schedule.stage "P"
  %A_shared = schedule.stage "A.shared"
  schedule.set_scope %A_shared to <shared>
  %k = schedule.reduce_axes %P ["k"] : !schedule.axis
  %k_outer, %k_inner = schedule.split %k by 64
  schedule.compute_at %A_shared at %P, %k_outer
  // expected-error @below {{copy_by: expected a buffer that lies as TMA lays it out, got stage 'A.shared' with a layout of its own}}
  schedule.copy_by <tma> %A_shared swizzle 128
  schedule.swizzle %A_shared granule 8
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<128x128xf16> {te.name = "A"}, %arg1: tensor<64x128xf16> {te.name = "B"}, %arg2: tensor<128x64xf32> {te.name = "C", te.output}) -> tensor<128x64xf32> {
  %0 = tensor.empty() : tensor<128x128xf16>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<128x128xf16>) outs(%0 : tensor<128x128xf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<128x128xf16>
  %2 = tensor.empty() : tensor<64x128xf16>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x128xf16>) outs(%2 : tensor<64x128xf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "B.shared"} {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<64x128xf16>
  %4 = tensor.empty() : tensor<128x64xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<128x64xf32>) -> tensor<128x64xf32>
  %6 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %3 : tensor<128x128xf16>, tensor<64x128xf16>) outs(%5 : tensor<128x64xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "P"} {
  ^bb0(%in: f16, %in_0: f16, %out: f32):
    %8 = arith.extf %in : f16 to f32
    %9 = arith.extf %in_0 : f16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %out, %10 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %11 : f32
  } -> tensor<128x64xf32>
  %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<128x64xf32>) outs(%arg2 : tensor<128x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<128x64xf32>
  return %7 : tensor<128x64xf32>
}
schedule.of @main {
  %P = schedule.stage "P"
  %k = schedule.reduce_axes %P ["k"] : !schedule.axis
  %k_outer, %k_inner = schedule.split %k by 64
  // expected-error @below {{specialize: expected a loop that is a software_pipeline, got 'k.outer'}}
  schedule.specialize %k_outer producer 40 consumer 232
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<128x128xf16> {te.name = "A"}, %arg1: tensor<64x128xf16> {te.name = "B"}, %arg2: tensor<128x64xf32> {te.name = "C", te.output}) -> tensor<128x64xf32> {
  %0 = tensor.empty() : tensor<128x128xf16>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<128x128xf16>) outs(%0 : tensor<128x128xf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<128x128xf16>
  %2 = tensor.empty() : tensor<64x128xf16>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x128xf16>) outs(%2 : tensor<64x128xf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "B.shared"} {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<64x128xf16>
  %4 = tensor.empty() : tensor<128x64xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<128x64xf32>) -> tensor<128x64xf32>
  %6 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %3 : tensor<128x128xf16>, tensor<64x128xf16>) outs(%5 : tensor<128x64xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "P"} {
  ^bb0(%in: f16, %in_0: f16, %out: f32):
    %8 = arith.extf %in : f16 to f32
    %9 = arith.extf %in_0 : f16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %out, %10 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %11 : f32
  } -> tensor<128x64xf32>
  %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<128x64xf32>) outs(%arg2 : tensor<128x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<128x64xf32>
  return %7 : tensor<128x64xf32>
}
schedule.of @main {
  %P = schedule.stage "P"
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %i_outer, %i_inner = schedule.split %i by 128
  %i_inner_outer, %i_inner_inner = schedule.split %i_inner by 64
  schedule.compute_at %P at %C, %i_inner_outer
  // expected-error @below {{persistent: expected a stage that is computed at the root, as a kernel is, got 'P', which is computed at a loop of stage 'C'}}
  schedule.persistent %P on 132 <row> by 8
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<64x64xf32> {te.name = "S"}, %arg1: tensor<64xf32> {te.name = "L", te.output}) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<64x64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "S.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x64xf32>
  %2 = tensor.empty() : tensor<64xf32>
  %cst = arith.constant 0xFF800000 : f32
  %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<64xf32>) -> tensor<64xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<64x64xf32>) outs(%3 : tensor<64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "M"} {
  ^bb0(%in: f32, %out: f32):
    %7 = arith.maximumf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %7 : f32
  } -> tensor<64xf32>
  %cst_0 = arith.constant 0.000000e+00 : f32
  %5 = linalg.fill ins(%cst_0 : f32) outs(%arg1 : tensor<64xf32>) -> tensor<64xf32>
  %6 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0, %4 : tensor<64x64xf32>, tensor<64xf32>) outs(%5 : tensor<64xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "L"} {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %7 = arith.subf %in, %in_1 : f32
    %8 = math.exp %7 : f32
    %9 = arith.addf %out, %8 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %9 : f32
  } -> tensor<64xf32>
  return %6 : tensor<64xf32>
}
schedule.of @main {
  %M = schedule.stage "M"
  %S_shared = schedule.stage "S.shared"
  %j = schedule.reduce_axes %M ["j"] : !schedule.axis
  %L = schedule.stage "L"
  %k = schedule.reduce_axes %L ["k"] : !schedule.axis
  // expected-error @below {{rolling_update: expected a loop of stage 'L' that is a software_pipeline, as one of 'M' is, got none}}
  schedule.rolling_update %k of %M
}
