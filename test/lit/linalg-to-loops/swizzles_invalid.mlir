// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<16xf32> {te.name = "A"}, %arg1: tensor<16xf32> {te.name = "C", te.output}) -> tensor<16xf32> {
  %0 = tensor.empty() : tensor<16xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<16xf32>) outs(%0 : tensor<16xf32>) attrs =  {te.axes = ["i"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<16xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<16xf32>) outs(%arg1 : tensor<16xf32>) attrs =  {te.axes = ["i"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<16xf32>
  return %2 : tensor<16xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  // expected-error @below {{swizzle of stage 'B': expected a buffer with rows, of 2 dimensions or more, got 1}}
  schedule.swizzle %B granule 4
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
func.func @main(%arg0: tensor<48x48xf32> {te.name = "A"}, %arg1: tensor<48x48xf32> {te.name = "C", te.output}) -> tensor<48x48xf32> {
  %0 = tensor.empty() : tensor<48x48xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<48x48xf32>) outs(%0 : tensor<48x48xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<48x48xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<48x48xf32>) outs(%arg1 : tensor<48x48xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<48x48xf32>
  return %2 : tensor<48x48xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %A_shared = schedule.stage "A.shared"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %i_outer, %j_outer, %i_inner, %j_inner = schedule.tile %i, %j by 24, 24
  schedule.compute_at %A_shared at %C, %j_outer
  // expected-error @below {{swizzle of stage 'A.shared': expected rows of a power of two granules of 4 elements, got rows of 24 elements}}
  schedule.swizzle %A_shared granule 4
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<16xf32> {te.name = "A"}, %arg1: tensor<16xf32> {te.name = "C", te.output}) -> tensor<16xf32> {
  %0 = tensor.empty() : tensor<16xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<16xf32>) outs(%0 : tensor<16xf32>) attrs =  {te.axes = ["i"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<16xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<16xf32>) outs(%arg1 : tensor<16xf32>) attrs =  {te.axes = ["i"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<16xf32>
  return %2 : tensor<16xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  // expected-error @below {{swizzle of stage 'C': expected a tensor of the program's own, got an output, which lies in memory as the caller has it: cache_write it}}
  schedule.swizzle %C granule 4
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%arg0: tensor<8x?xf32> {te.name = "A", te.symbols = ["", "n"]}, %arg1: tensor<8x?xf32> {te.name = "C", te.output, te.symbols = ["", "n"]}) -> tensor<8x?xf32> {
  %c1 = arith.constant 1 : index
  %dim = tensor.dim %arg0, %c1 : tensor<8x?xf32>
  %0 = tensor.empty(%dim) : tensor<8x?xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x?xf32>) outs(%0 : tensor<8x?xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<8x?xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<8x?xf32>) outs(%arg1 : tensor<8x?xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<8x?xf32>
  return %2 : tensor<8x?xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  // expected-error @below {{swizzle of stage 'B': expected rows of constant extent, got one that is symbolic}}
  schedule.swizzle %B granule 4
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
func.func @main(%arg0: tensor<48x48xf32> {te.name = "A"}, %arg1: tensor<48x48xf32> {te.name = "C", te.output}) -> tensor<48x48xf32> {
  %0 = tensor.empty() : tensor<48x48xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<48x48xf32>) outs(%0 : tensor<48x48xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<48x48xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<48x48xf32>) outs(%arg1 : tensor<48x48xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<48x48xf32>
  return %2 : tensor<48x48xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %A_shared = schedule.stage "A.shared"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %i_outer, %j_outer, %i_inner, %j_inner = schedule.tile %i, %j by 16, 16
  schedule.compute_at %A_shared at %C, %j_outer
  // expected-error @below {{swizzle of stage 'A.shared': expected rows of more than one granule, got rows of 16 elements and a granule of 16}}
  schedule.swizzle %A_shared granule 16
}

// -----

#map = affine_map<(d0, d1) -> (0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<()[s0] -> (s0 - 1)>
func.func @main(%arg0: tensor<16x32xf32> {te.name = "X"}, %arg1: tensor<16x32xf32> {te.name = "D", te.output}) -> tensor<16x32xf32> {
  %0 = tensor.empty() : tensor<1x32xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<16x32xf32>) outs(%0 : tensor<1x32xf32>) attrs =  {te.axes = ["_", "i"], te.stage = "init"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x32xf32>
  %2 = tensor.empty() : tensor<16x32xf32>
  %3 = linalg.generic {indexing_maps = [#map1], iterator_types = ["reduction", "parallel"]} outs(%2 : tensor<16x32xf32>) attrs =  {te.axes = ["t", "i"], te.scan, te.stage = "scan"} {
  ^bb0(%out: f32):
    %5 = linalg.index 0 : index
    %6 = linalg.index 1 : index
    %7 = linalg.index 0 : index
    %8 = linalg.index 1 : index
    %c1 = arith.constant 1 : index
    %9 = arith.cmpi slt, %7, %c1 : index
    %10 = scf.if %9 -> (f32) {
      %c0 = arith.constant 0 : index
      %extracted = tensor.extract %1[%c0, %8] : tensor<1x32xf32>
      scf.yield %extracted : f32
    } else {
      %11 = affine.apply #map2()[%5]
      %extracted = tensor.extract %2[%11, %6] : tensor<16x32xf32>
      %extracted_0 = tensor.extract %arg0[%7, %8] : tensor<16x32xf32>
      %12 = arith.addf %extracted, %extracted_0 : f32
      scf.yield %12 : f32
    }
    linalg.yield %10 : f32
  } -> tensor<16x32xf32>
  %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<16x32xf32>) outs(%arg1 : tensor<16x32xf32>) attrs =  {te.axes = ["t", "i"], te.stage = "D"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst : f32
    linalg.yield %5 : f32
  } -> tensor<16x32xf32>
  return %4 : tensor<16x32xf32>
}
schedule.of @main {
  %scan = schedule.stage "scan"
  // expected-error @below {{swizzle of stage 'scan': expected a stage that does not read its own tensor, got a scan}}
  schedule.swizzle %scan granule 4
}
