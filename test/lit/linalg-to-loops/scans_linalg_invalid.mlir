// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<()[s0] -> (s0 - 1)>
func.func @main(%arg0: tensor<6x8x16xf32> {te.name = "X"}, %arg1: tensor<6x8x16xf32> {te.name = "S", te.output}) -> tensor<6x8x16xf32> {
  %0 = tensor.empty() : tensor<1x8x16xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<6x8x16xf32>) outs(%0 : tensor<1x8x16xf32>) attrs =  {te.axes = ["_", "i", "j"], te.stage = "init"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x8x16xf32>
  %2 = tensor.empty() : tensor<16xf32>
  %3 = tensor.empty() : tensor<5x8xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%2 : tensor<16xf32>) outs(%4 : tensor<5x8xf32>) attrs =  {te.axes = ["t", "i", "k"], te.stage = "total"} {
  ^bb0(%in: f32, %out: f32):
    %9 = linalg.index 0 : index
    %10 = linalg.index 1 : index
    %11 = linalg.index 2 : index
    %extracted = tensor.extract %arg1[%9, %10, %11] : tensor<6x8x16xf32>
    %12 = arith.addf %out, %extracted {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %12 : f32
  } -> tensor<5x8xf32>
  %6 = tensor.empty() : tensor<5x8xf32>
  %7 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<5x8xf32>) outs(%6 : tensor<5x8xf32>) attrs =  {te.axes = ["t", "i"], te.stage = "half"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 5.000000e-01 : f32
    %9 = arith.mulf %in, %cst_0 : f32
    linalg.yield %9 : f32
  } -> tensor<5x8xf32>
  %8 = linalg.generic {indexing_maps = [#map1], iterator_types = ["reduction", "parallel", "parallel"]} outs(%arg1 : tensor<6x8x16xf32>) attrs =  {te.axes = ["t", "i", "j"], te.scan, te.stage = "S"} {
  ^bb0(%out: f32):
    %9 = linalg.index 0 : index
    %10 = linalg.index 1 : index
    %11 = linalg.index 2 : index
    %c1 = arith.constant 1 : index
    %12 = arith.cmpi slt, %9, %c1 : index
    %13 = scf.if %12 -> (f32) {
      %c0 = arith.constant 0 : index
      %extracted = tensor.extract %1[%c0, %10, %11] : tensor<1x8x16xf32>
      scf.yield %extracted : f32
    } else {
      %14 = affine.apply #map5()[%9]
      %extracted = tensor.extract %7[%14, %10] : tensor<5x8xf32>
      %extracted_0 = tensor.extract %arg0[%9, %10, %11] : tensor<6x8x16xf32>
      %15 = arith.addf %extracted, %extracted_0 : f32
      scf.yield %15 : f32
    }
    linalg.yield %13 : f32
  } -> tensor<6x8x16xf32>
  return %8 : tensor<6x8x16xf32>
}
schedule.of @main {
  %total = schedule.stage "total"
  %t, %i_0 = schedule.axes %total ["t", "i"] : !schedule.axis, !schedule.axis
  %half = schedule.stage "half"
  // expected-error @below {{reverse_compute_at: expected a stage that is in the steps of no scan, got stage 'half' in those of 'S'}}
  schedule.reverse_compute_at %half at %total, %i_0
}

// -----

#map = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<()[s0] -> (s0 - 1)>
func.func @main(%arg0: tensor<6x8x16xf32> {te.name = "X"}, %arg1: tensor<6x8x16xf32> {te.name = "S", te.output}) -> tensor<6x8x16xf32> {
  %0 = tensor.empty() : tensor<1x8x16xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<6x8x16xf32>) outs(%0 : tensor<1x8x16xf32>) attrs =  {te.axes = ["_", "i", "j"], te.stage = "init"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x8x16xf32>
  %2 = tensor.empty() : tensor<16xf32>
  %3 = tensor.empty() : tensor<5x8xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%2 : tensor<16xf32>) outs(%4 : tensor<5x8xf32>) attrs =  {te.axes = ["t", "i", "k"], te.stage = "total"} {
  ^bb0(%in: f32, %out: f32):
    %9 = linalg.index 0 : index
    %10 = linalg.index 1 : index
    %11 = linalg.index 2 : index
    %extracted = tensor.extract %arg1[%9, %10, %11] : tensor<6x8x16xf32>
    %12 = arith.addf %out, %extracted {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %12 : f32
  } -> tensor<5x8xf32>
  %6 = tensor.empty() : tensor<5x8xf32>
  %7 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<5x8xf32>) outs(%6 : tensor<5x8xf32>) attrs =  {te.axes = ["t", "i"], te.stage = "half"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 5.000000e-01 : f32
    %9 = arith.mulf %in, %cst_0 : f32
    linalg.yield %9 : f32
  } -> tensor<5x8xf32>
  %8 = linalg.generic {indexing_maps = [#map1], iterator_types = ["reduction", "parallel", "parallel"]} outs(%arg1 : tensor<6x8x16xf32>) attrs =  {te.axes = ["t", "i", "j"], te.scan, te.stage = "S"} {
  ^bb0(%out: f32):
    %9 = linalg.index 0 : index
    %10 = linalg.index 1 : index
    %11 = linalg.index 2 : index
    %c1 = arith.constant 1 : index
    %12 = arith.cmpi slt, %9, %c1 : index
    %13 = scf.if %12 -> (f32) {
      %c0 = arith.constant 0 : index
      %extracted = tensor.extract %1[%c0, %10, %11] : tensor<1x8x16xf32>
      scf.yield %extracted : f32
    } else {
      %14 = affine.apply #map5()[%9]
      %extracted = tensor.extract %7[%14, %10] : tensor<5x8xf32>
      %extracted_0 = tensor.extract %arg0[%9, %10, %11] : tensor<6x8x16xf32>
      %15 = arith.addf %extracted, %extracted_0 : f32
      scf.yield %15 : f32
    }
    linalg.yield %13 : f32
  } -> tensor<6x8x16xf32>
  return %8 : tensor<6x8x16xf32>
}
schedule.of @main {
  %S = schedule.stage "S"
  %t, %i_0, %j_1 = schedule.axes %S ["t", "i", "j"] : !schedule.axis, !schedule.axis, !schedule.axis
  schedule.bind %i_0 to <blockIdx.x>
  %total = schedule.stage "total"
  // expected-error @below {{compute_at: expected a place in the loop 't' of scan 'S', in whose steps stage 'total' is, got loop 'i' of stage 'S'}}
  schedule.compute_at %total at %S, %i_0
}

// -----

#map = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<()[s0] -> (s0 - 1)>
func.func @main(%arg0: tensor<6x8x16xf32> {te.name = "X"}, %arg1: tensor<6x8x16xf32> {te.name = "S", te.output}) -> tensor<6x8x16xf32> {
  %0 = tensor.empty() : tensor<1x8x16xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<6x8x16xf32>) outs(%0 : tensor<1x8x16xf32>) attrs =  {te.axes = ["_", "i", "j"], te.stage = "init"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x8x16xf32>
  %2 = tensor.empty() : tensor<16xf32>
  %3 = tensor.empty() : tensor<5x8xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%2 : tensor<16xf32>) outs(%4 : tensor<5x8xf32>) attrs =  {te.axes = ["t", "i", "k"], te.stage = "total"} {
  ^bb0(%in: f32, %out: f32):
    %9 = linalg.index 0 : index
    %10 = linalg.index 1 : index
    %11 = linalg.index 2 : index
    %extracted = tensor.extract %arg1[%9, %10, %11] : tensor<6x8x16xf32>
    %12 = arith.addf %out, %extracted {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %12 : f32
  } -> tensor<5x8xf32>
  %6 = tensor.empty() : tensor<5x8xf32>
  %7 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<5x8xf32>) outs(%6 : tensor<5x8xf32>) attrs =  {te.axes = ["t", "i"], te.stage = "half"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 5.000000e-01 : f32
    %9 = arith.mulf %in, %cst_0 : f32
    linalg.yield %9 : f32
  } -> tensor<5x8xf32>
  %8 = linalg.generic {indexing_maps = [#map1], iterator_types = ["reduction", "parallel", "parallel"]} outs(%arg1 : tensor<6x8x16xf32>) attrs =  {te.axes = ["t", "i", "j"], te.scan, te.stage = "S"} {
  ^bb0(%out: f32):
    %9 = linalg.index 0 : index
    %10 = linalg.index 1 : index
    %11 = linalg.index 2 : index
    %c1 = arith.constant 1 : index
    %12 = arith.cmpi slt, %9, %c1 : index
    %13 = scf.if %12 -> (f32) {
      %c0 = arith.constant 0 : index
      %extracted = tensor.extract %1[%c0, %10, %11] : tensor<1x8x16xf32>
      scf.yield %extracted : f32
    } else {
      %14 = affine.apply #map5()[%9]
      %extracted = tensor.extract %7[%14, %10] : tensor<5x8xf32>
      %extracted_0 = tensor.extract %arg0[%9, %10, %11] : tensor<6x8x16xf32>
      %15 = arith.addf %extracted, %extracted_0 : f32
      scf.yield %15 : f32
    }
    linalg.yield %13 : f32
  } -> tensor<6x8x16xf32>
  return %8 : tensor<6x8x16xf32>
}
schedule.of @main {
  %S = schedule.stage "S"
  %t, %i_0, %j_1 = schedule.axes %S ["t", "i", "j"] : !schedule.axis, !schedule.axis, !schedule.axis
  // expected-error @below {{scan 'S': expected no axis on blockIdx.x along which a step reads what others computed in the step before, got loop 'j', while stage 'total' reads 'S' beyond it along axis 'j': only the threads of a block, inside of the steps, wait for each other: bind such an axis to threads there, and blocks to an axis along which each step reads its own}}
  schedule.bind %j_1 to <blockIdx.x>
}

// -----

#map = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<()[s0] -> (s0 - 1)>
func.func @main(%arg0: tensor<6x8x16xf32> {te.name = "X"}, %arg1: tensor<6x8x16xf32> {te.name = "S", te.output}) -> tensor<6x8x16xf32> {
  %0 = tensor.empty() : tensor<1x8x16xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<6x8x16xf32>) outs(%0 : tensor<1x8x16xf32>) attrs =  {te.axes = ["_", "i", "j"], te.stage = "init"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x8x16xf32>
  %2 = tensor.empty() : tensor<16xf32>
  %3 = tensor.empty() : tensor<5x8xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<5x8xf32>) -> tensor<5x8xf32>
  %5 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%2 : tensor<16xf32>) outs(%4 : tensor<5x8xf32>) attrs =  {te.axes = ["t", "i", "k"], te.stage = "total"} {
  ^bb0(%in: f32, %out: f32):
    %9 = linalg.index 0 : index
    %10 = linalg.index 1 : index
    %11 = linalg.index 2 : index
    %extracted = tensor.extract %arg1[%9, %10, %11] : tensor<6x8x16xf32>
    %12 = arith.addf %out, %extracted {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %12 : f32
  } -> tensor<5x8xf32>
  %6 = tensor.empty() : tensor<5x8xf32>
  %7 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<5x8xf32>) outs(%6 : tensor<5x8xf32>) attrs =  {te.axes = ["t", "i"], te.stage = "half"} {
  ^bb0(%in: f32, %out: f32):
    %cst_0 = arith.constant 5.000000e-01 : f32
    %9 = arith.mulf %in, %cst_0 : f32
    linalg.yield %9 : f32
  } -> tensor<5x8xf32>
  // expected-error @below {{scan 'S': expected no loop around its steps along which a step reads what others computed in the step before, got loop 'j', while stage 'total' reads 'S' beyond it along axis 'j': only the threads of a block, inside of the steps, wait for each other: bind such an axis to threads there, and blocks to an axis along which each step reads its own}}
  %8 = linalg.generic {indexing_maps = [#map1], iterator_types = ["reduction", "parallel", "parallel"]} outs(%arg1 : tensor<6x8x16xf32>) attrs =  {te.axes = ["t", "i", "j"], te.scan, te.stage = "S"} {
  ^bb0(%out: f32):
    %9 = linalg.index 0 : index
    %10 = linalg.index 1 : index
    %11 = linalg.index 2 : index
    %c1 = arith.constant 1 : index
    %12 = arith.cmpi slt, %9, %c1 : index
    %13 = scf.if %12 -> (f32) {
      %c0 = arith.constant 0 : index
      %extracted = tensor.extract %1[%c0, %10, %11] : tensor<1x8x16xf32>
      scf.yield %extracted : f32
    } else {
      %14 = affine.apply #map5()[%9]
      %extracted = tensor.extract %7[%14, %10] : tensor<5x8xf32>
      %extracted_0 = tensor.extract %arg0[%9, %10, %11] : tensor<6x8x16xf32>
      %15 = arith.addf %extracted, %extracted_0 : f32
      scf.yield %15 : f32
    }
    linalg.yield %13 : f32
  } -> tensor<6x8x16xf32>
  return %8 : tensor<6x8x16xf32>
}
schedule.of @main {
  %S = schedule.stage "S"
  %t, %i_0, %j_1 = schedule.axes %S ["t", "i", "j"] : !schedule.axis, !schedule.axis, !schedule.axis
  schedule.reorder %j_1, %t
}
