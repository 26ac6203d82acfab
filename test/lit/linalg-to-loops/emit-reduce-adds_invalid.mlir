// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<8x64xf32> {te.dtype = f32, te.name = "A"}, %arg1: tensor<8xf32> {te.dtype = f32, te.name = "C", te.output}) -> tensor<8xf32> {
  %cst = arith.constant 0xFF800000 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<8x64xf32>) outs(%0 : tensor<8xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.maximumf %out, %in fastmath<contract> {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  %k_outer, %k_inner = schedule.split %k by 32
  // expected-error @below {{bind: expected a sum for reduce_add, got stage 'C', which is reduced in another way}}
  schedule.bind %k_outer to <blockIdx.x> reduce_add
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<8x64xf16> {te.dtype = f16, te.name = "A"}, %arg1: tensor<8xf16> {te.dtype = f16, te.name = "C", te.output}) -> tensor<8xf16> {
  %cst = arith.constant 0.000000e+00 : f16
  %0 = linalg.fill ins(%cst : f16) outs(%arg1 : tensor<8xf16>) -> tensor<8xf16>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<8x64xf16>) outs(%0 : tensor<8xf16>) attrs =  {te.axes = ["i", "k"], te.stage = "C"} {
  ^bb0(%in: f16, %out: f16):
    %2 = arith.addf %out, %in fastmath<contract> {te.combine = array<i64: -1, 0>} : f16
    linalg.yield %2 : f16
  } -> tensor<8xf16>
  return %1 : tensor<8xf16>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  %k_outer, %k_inner = schedule.split %k by 32
  // expected-error @below {{bind: expected sums of 32 or 64 bits for reduce_add, got those of 'f16' of stage 'C'}}
  schedule.bind %k_outer to <blockIdx.x> reduce_add
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<8x64xf32> {te.dtype = f32, te.name = "A"}, %arg1: tensor<8xf32> {te.dtype = f32, te.name = "D", te.output}) -> tensor<8xf32> {
  %0 = tensor.empty() : tensor<8xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<8x64xf32>) outs(%1 : tensor<8xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %4 = arith.addf %out, %in fastmath<contract> {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %4 : f32
  } -> tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%2 : tensor<8xf32>) outs(%arg1 : tensor<8xf32>) attrs =  {te.axes = ["i"], te.stage = "D"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 1.000000e+00 : f32
    %4 = arith.addf %in, %cst_0 fastmath<contract> : f32
    linalg.yield %4 : f32
  } -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  %k_outer, %k_inner = schedule.split %k by 32
  // expected-error @below {{bind: expected a stage that is computed at the root for reduce_add, got stage 'C', which is computed at a loop of stage 'D'}}
  schedule.bind %k_outer to <blockIdx.x> reduce_add
  %D = schedule.stage "D"
  %i_0 = schedule.axes %D ["i"] : !schedule.axis
  schedule.compute_at %C at %D, %i_0
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<8x64xf32> {te.dtype = f32, te.name = "A"}, %arg1: tensor<8xf32> {te.dtype = f32, te.name = "D", te.output}) -> tensor<8xf32> {
  %0 = tensor.empty() : tensor<8xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<8x64xf32>) outs(%1 : tensor<8xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %4 = arith.addf %out, %in fastmath<contract> {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %4 : f32
  } -> tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%2 : tensor<8xf32>) outs(%arg1 : tensor<8xf32>) attrs =  {te.axes = ["i"], te.stage = "D"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 1.000000e+00 : f32
    %4 = arith.addf %in, %cst_0 fastmath<contract> : f32
    linalg.yield %4 : f32
  } -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  %k_outer, %k_inner = schedule.split %k by 32
  // expected-error @below {{bind: expected no stage that is computed after it in its loops for reduce_add, got stage 'D'}}
  schedule.bind %k_outer to <blockIdx.x> reduce_add
  %D = schedule.stage "D"
  schedule.reverse_compute_at %D at %C, %i
}

// -----

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%arg0: tensor<64x64x64xf32> {te.dtype = f32, te.name = "A"}, %arg1: tensor<64x64xf32> {te.dtype = f32, te.name = "C", te.output}) -> tensor<64x64xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<64x64x64xf32>) outs(%0 : tensor<64x64xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %out, %in fastmath<contract> {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %2 : f32
  } -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  %k_outer, %k_inner = schedule.split %k by 32
  schedule.reorder %k_outer, %k_inner, %i, %j
  // expected-error @below {{bind: expected loops of constant extents, without an index, over at most 1024 elements inside the reduction of stage 'C' for reduce_add, as a thread has its sums in registers}}
  schedule.bind %k_outer to <blockIdx.x> reduce_add
}
