#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @mmult(%arg0: tensor<64x64xf32> {te.dtype = f32, te.name = "A"}, %arg1: tensor<64x64xf32> {te.dtype = f32, te.name = "B"}, %arg2: tensor<64x64xf32> {te.dtype = f32, te.name = "C", te.output}) -> tensor<64x64xf32> {
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<64x64xf32>) outs(%0 : tensor<64x64xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x64xf32>
    %2 = tensor.empty() : tensor<64x64xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x64xf32>) outs(%2 : tensor<64x64xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "B.shared"} {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x64xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %4 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %3 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%4 : tensor<64x64xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %6 = arith.mulf %in, %in_0 fastmath<contract> : f32
      %7 = arith.addf %out, %6 fastmath<contract> {te.combine = array<i64: -1, 0>} : f32
      linalg.yield %7 : f32
    } -> tensor<64x64xf32>
    return %5 : tensor<64x64xf32>
  }
  schedule.of @mmult {
    %C = schedule.stage "C"
    %A_shared = schedule.stage "A.shared"
    schedule.set_scope %A_shared to <shared>
    %B_shared = schedule.stage "B.shared"
    schedule.set_scope %B_shared to <shared>
    %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
    %k = schedule.reduce_axes %C ["k"] : !schedule.axis
    %i_outer, %j_outer, %i_inner, %j_inner = schedule.tile %i, %j by 16, 16
    %k_outer, %k_inner = schedule.split %k by 16
    schedule.reorder %i_outer, %j_outer, %i_inner, %j_inner, %k_outer, %k_inner
    schedule.bind %i_outer to <blockIdx.y>
    schedule.bind %j_outer to <blockIdx.x>
    schedule.bind %i_inner to <threadIdx.y>
    schedule.bind %j_inner to <threadIdx.x>
    schedule.compute_at %A_shared at %C, %k_outer
    %ax0, %ax1 = schedule.axes %A_shared ["ax0", "ax1"] : !schedule.axis, !schedule.axis
    schedule.bind %ax0 to <threadIdx.y>
    schedule.bind %ax1 to <threadIdx.x>
    schedule.compute_at %B_shared at %C, %k_outer
    %ax0_0, %ax1_1 = schedule.axes %B_shared ["ax0", "ax1"] : !schedule.axis, !schedule.axis
    schedule.bind %ax0_0 to <threadIdx.y>
    schedule.bind %ax1_1 to <threadIdx.x>
  }
}

