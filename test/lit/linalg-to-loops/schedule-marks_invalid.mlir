// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1, d2) -> (d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map3 = affine_map<()[s0, s1] -> (s0 + s1 * 16)>
#map4 = affine_map<(d0, d1) -> (d1, d0)>
#map5 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<6x100xf32> {te.name = "A"}, %arg1: tensor<6xf32> {te.name = "B", te.output}) -> tensor<6xf32> {
  %0 = tensor.empty() : tensor<7xf32>
  %1 = tensor.empty() : tensor<16x6xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<16x6xf32>) -> tensor<16x6xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0 : tensor<7xf32>) outs(%2 : tensor<16x6xf32>) attrs =  {te.axes = ["k.inner", "i", "k.outer"], te.stage = "B.rf"} {
  ^bb0(%in: f32, %out: f32):
    %6 = linalg.index 0 : index
    %7 = linalg.index 1 : index
    %8 = linalg.index 2 : index
    %c100 = arith.constant 100 : index
    %9 = affine.apply #map2(%6, %8)
    %10 = arith.cmpi slt, %9, %c100 : index
    %11 = scf.if %10 -> (f32) {
      %13 = affine.apply #map3()[%6, %8]
      %extracted = tensor.extract %arg0[%7, %13] : tensor<6x100xf32>
      scf.yield %extracted : f32
    } else {
      %cst_1 = arith.constant 0.000000e+00 : f32
      scf.yield %cst_1 : f32
    }
    %12 = arith.addf %out, %11 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %12 : f32
  } -> tensor<16x6xf32>
  %cst_0 = arith.constant 0.000000e+00 : f32
  %4 = linalg.fill ins(%cst_0 : f32) outs(%arg1 : tensor<6xf32>) -> tensor<6xf32>
  %5 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "reduction"]} ins(%3 : tensor<16x6xf32>) outs(%4 : tensor<6xf32>) attrs =  {te.axes = ["i", "k.inner"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %6 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %6 : f32
  } -> tensor<6xf32>
  return %5 : tensor<6xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %k_inner = schedule.reduce_axes %B ["k.inner"] : !schedule.axis
  schedule.bind %k_inner to <threadIdx.x>
  // expected-error @below {{set_store_predicate: expected a thread that there is, got those of threadIdx.x from 16 on, of 16: nothing would be stored}}
  schedule.set_store_predicate %B on <threadIdx.x> from 16 to 17
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @f(%arg0: tensor<8x64xf32> {te.name = "A"}, %arg1: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %0 = tensor.empty() : tensor<8x64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x64xf32>) outs(%0 : tensor<8x64xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "D"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 2.000000e+00 : f32
    %4 = arith.mulf %in, %cst_0 : f32
    linalg.yield %4 : f32
  } -> tensor<8x64xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %2 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<8xf32>) -> tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<8x64xf32>) outs(%2 : tensor<8xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %4 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %4 : f32
  } -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %D = schedule.stage "D"
  schedule.compute_at %D at %B, %i
  // expected-error @below {{decompose_reduction: expected no stage at a loop between it and the reduction, got stage 'D' at 'i'}}
  schedule.decompose_reduction %B at %i
}

// -----

#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: tensor<8x8xf32> {te.name = "A"}, %arg1: tensor<8x8xf32> {te.name = "B"}, %arg2: tensor<8xf32> {te.name = "V"}, %arg3: tensor<8x8xf32> {te.name = "D", te.output}) -> tensor<8x8xf32> {
  %0 = tensor.empty() : tensor<8x8xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%1 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.mulf %in, %in_0 : f32
    %5 = arith.addf %out, %4 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<8x8xf32>
  %3 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<8x8xf32>, tensor<8xf32>) outs(%arg3 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "D"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.addf %in, %in_0 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %5 = arith.maximumf %4, %cst_1 : f32
    linalg.yield %5 : f32
  } -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  %k_outer, %k_inner = schedule.split %k by 4
  // expected-error @below {{decompose_reduction: expected a loop around the whole reduction of stage 'C', got 'k.inner' inside its loop 'k.outer'}}
  schedule.decompose_reduction %C at %k_inner
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<64xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "B", te.output}) -> tensor<64xf32> {
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<64xf32>) outs(%arg1 : tensor<64xf32>) attrs =  {te.axes = ["i0"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %1 = arith.mulf %in, %cst : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %i0 = schedule.axes %B ["i0"] : !schedule.axis
  schedule.bind %i0 to <threadIdx.x>
  // expected-error @below {{set_store_predicate: expected a thread index that is the same for all elements of stage 'B', got threadIdx.x, to which axis 'i0' is bound: only the elements of thread 0 would be stored}}
  schedule.set_store_predicate %B on <threadIdx.x> to 1
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
  %A_shared = schedule.stage "A.shared"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  %i_outer, %j_outer, %i_inner, %j_inner = schedule.tile %i, %j by 8, 8
  schedule.compute_at %A_shared at %B, %j_outer
  // expected-error @below {{double_buffer: expected a stage in shared memory, got 'A.shared' in local memory}}
  schedule.double_buffer %A_shared
}

// -----

#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: tensor<8x8xf32> {te.name = "A"}, %arg1: tensor<8x8xf32> {te.name = "B"}, %arg2: tensor<8xf32> {te.name = "V"}, %arg3: tensor<8x8xf32> {te.name = "D", te.output}) -> tensor<8x8xf32> {
  %0 = tensor.empty() : tensor<8x8xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%1 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.mulf %in, %in_0 : f32
    %5 = arith.addf %out, %4 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<8x8xf32>
  %3 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<8x8xf32>, tensor<8xf32>) outs(%arg3 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "D"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.addf %in, %in_0 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %5 = arith.maximumf %4, %cst_1 : f32
    linalg.yield %5 : f32
  } -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
schedule.of @main {
  %D = schedule.stage "D"
  %i, %j = schedule.axes %D ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-error @below {{decompose_reduction: expected a stage with a reduction, got 'D'}}
  schedule.decompose_reduction %D at %i
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<64xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "B", te.output}) -> tensor<64xf32> {
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<64xf32>) outs(%arg1 : tensor<64xf32>) attrs =  {te.axes = ["i0"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %1 = arith.mulf %in, %cst : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %i0 = schedule.axes %B ["i0"] : !schedule.axis
  // expected-error @below {{split: expected a number that divides axis 'i0' for disable_predication, got 48 and an extent of 64}}
  %i0_outer, %i0_inner = schedule.split %i0 by 48 exact
}
