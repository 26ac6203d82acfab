// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0) -> (d0)>
func.func @f(%arg0: tensor<64xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "C", te.output}) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<64xf32>) outs(%0 : tensor<64xf32>) attrs =  {te.axes = ["i"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst : f32
    linalg.yield %5 : f32
  } -> tensor<64xf32>
  %2 = tensor.empty() : tensor<64xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<64xf32>) outs(%2 : tensor<64xf32>) attrs =  {te.axes = ["ax0"], te.stage = "B.global"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%3 : tensor<64xf32>) outs(%arg1 : tensor<64xf32>) attrs =  {te.axes = ["i"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %5 = arith.addf %in, %cst : f32
    linalg.yield %5 : f32
  } -> tensor<64xf32>
  return %4 : tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %i_outer, %i_inner = schedule.split %i by 16
  %C = schedule.stage "C"
  // expected-error @below {{reverse_compute_at: expected a stage that reads stage 'B', got stage 'C'}}
  schedule.reverse_compute_at %C at %B, %i_outer
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, -d1 + 7)>
func.func @main(%arg0: tensor<8x8xf32> {te.name = "A"}, %arg1: tensor<8x8xf32> {te.name = "C", te.output}) -> tensor<8x8xf32> {
  %0 = tensor.empty() : tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x8xf32>) outs(%0 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  %2 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<8x8xf32>) outs(%arg1 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  %C = schedule.stage "C"
  // expected-error @below {{reverse_compute_at: expected stage 'C' to read stage 'B' at its axes, each once, got other indices: use compute_at of stage 'B'}}
  schedule.reverse_compute_at %C at %B, %i
}

// -----

#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: tensor<100x8xf32> {te.name = "A"}, %arg1: tensor<8x8xf32> {te.name = "B"}, %arg2: tensor<8xf32> {te.name = "V"}, %arg3: tensor<100x8xf32> {te.name = "D", te.output}) -> tensor<100x8xf32> {
  %0 = tensor.empty() : tensor<100x8xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<100x8xf32>) -> tensor<100x8xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<100x8xf32>, tensor<8x8xf32>) outs(%1 : tensor<100x8xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.mulf %in, %in_0 : f32
    %5 = arith.addf %out, %4 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<100x8xf32>
  %3 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<100x8xf32>, tensor<8xf32>) outs(%arg3 : tensor<100x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "D"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.addf %in, %in_0 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %5 = arith.maximumf %4, %cst_1 : f32
    linalg.yield %5 : f32
  } -> tensor<100x8xf32>
  return %3 : tensor<100x8xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %i_outer, %i_inner = schedule.split %i by 32
  %i_inner_outer, %i_inner_inner = schedule.split %i_inner by 5
  %D = schedule.stage "D"
  // expected-error @below {{reverse_compute_at: expected each iteration of loop 'i.outer' to compute a block of stage 'C', got loops that fuse or split their axes in another way}}
  schedule.reverse_compute_at %D at %C, %i_outer
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @f(%arg0: tensor<?xf32> {te.name = "A", te.symbols = ["n"]}, %arg1: tensor<?xf32> {te.name = "C", te.output, te.symbols = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
  %0 = tensor.empty(%dim) : tensor<?xf32>
  // expected-error @below {{stage 'B' in local memory: expected a constant number of elements in an iteration of its loops}}
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<?xf32>) outs(%0 : tensor<?xf32>) attrs =  {te.axes = ["i"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<?xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<?xf32>) outs(%arg1 : tensor<?xf32>) attrs =  {te.axes = ["i"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %i_outer, %i_inner = schedule.split %i into 4
  %C = schedule.stage "C"
  schedule.reverse_compute_at %C at %B, %i_outer
  schedule.set_scope %B to <local>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%arg0: tensor<8x8xf32> {te.name = "A"}, %arg1: tensor<8x8xf32> {te.name = "D", te.output}) -> tensor<8x8xf32> {
  %0 = tensor.empty() : tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x8xf32>) outs(%0 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst : f32
    linalg.yield %5 : f32
  } -> tensor<8x8xf32>
  %2 = tensor.empty() : tensor<8x8xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<8x8xf32>) outs(%2 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "P"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %5 = arith.addf %in, %cst : f32
    linalg.yield %5 : f32
  } -> tensor<8x8xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %3 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%arg1 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "D"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.addf %in, %in_0 : f32
    linalg.yield %5 : f32
  } -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
schedule.of @main {
  %D = schedule.stage "D"
  %i, %j = schedule.axes %D ["i", "j"] : !schedule.axis, !schedule.axis
  %B = schedule.stage "B"
  schedule.compute_at %B at %D, %i
  %i_0, %j_1 = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  %P = schedule.stage "P"
  // expected-error @below {{reverse_compute_at: expected a producer that is computed at the root, got stage 'B', which is computed at a loop of stage 'D'}}
  schedule.reverse_compute_at %P at %B, %i_0
}

// -----

#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: tensor<32x8xf32> {te.name = "A"}, %arg1: tensor<8x32xf32> {te.name = "B"}, %arg2: tensor<32xf32> {te.name = "V"}, %arg3: tensor<32x32xf32> {te.name = "D", te.output}) -> tensor<32x32xf32> {
  %0 = tensor.empty() : tensor<32x32xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<32x8xf32>, tensor<8x32xf32>) outs(%1 : tensor<32x32xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.mulf %in, %in_0 : f32
    %5 = arith.addf %out, %4 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<32x32xf32>
  %3 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<32x32xf32>, tensor<32xf32>) outs(%arg3 : tensor<32x32xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "D"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.addf %in, %in_0 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %5 = arith.maximumf %4, %cst_1 : f32
    linalg.yield %5 : f32
  } -> tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  %D = schedule.stage "D"
  // expected-error @below {{reverse_compute_at: expected a loop of stage 'C' around its reduction, got 'k' in it}}
  schedule.reverse_compute_at %D at %C, %k
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%arg0: tensor<8x8xf32> {te.name = "A"}, %arg1: tensor<8x8xf32> {te.name = "D", te.output}) -> tensor<8x8xf32> {
  %0 = tensor.empty() : tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<8x8xf32>) outs(%0 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst : f32
    linalg.yield %5 : f32
  } -> tensor<8x8xf32>
  %2 = tensor.empty() : tensor<8x8xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<8x8xf32>) outs(%2 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "P"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %5 = arith.addf %in, %cst : f32
    linalg.yield %5 : f32
  } -> tensor<8x8xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %3 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%arg1 : tensor<8x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "D"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.addf %in, %in_0 : f32
    linalg.yield %5 : f32
  } -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  %D = schedule.stage "D"
  // expected-error @below {{reverse_compute_at: expected stage 'D' to read what is computed before stage 'B', got stage 'P'}}
  schedule.reverse_compute_at %D at %B, %i
}

// -----

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> (-d0 + 63)>
func.func @f(%arg0: tensor<64xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "D", te.output}) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<64xf32>
  // expected-error @below {{stage 'B' in local memory: expected all that reads it to be computed in its loops, got stage 'D'}}
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<64xf32>) outs(%0 : tensor<64xf32>) attrs =  {te.axes = ["i"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %5 = arith.mulf %in, %cst : f32
    linalg.yield %5 : f32
  } -> tensor<64xf32>
  %2 = tensor.empty() : tensor<64xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<64xf32>) outs(%2 : tensor<64xf32>) attrs =  {te.axes = ["i"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %5 = arith.addf %in, %cst : f32
    linalg.yield %5 : f32
  } -> tensor<64xf32>
  %4 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel"]} ins(%1, %3 : tensor<64xf32>, tensor<64xf32>) outs(%arg1 : tensor<64xf32>) attrs =  {te.axes = ["i"], te.stage = "D"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.addf %in, %in_0 : f32
    linalg.yield %5 : f32
  } -> tensor<64xf32>
  return %4 : tensor<64xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %i_outer, %i_inner = schedule.split %i by 16
  %C = schedule.stage "C"
  schedule.reverse_compute_at %C at %B, %i_outer
  schedule.set_scope %B to <local>
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @f(%arg0: tensor<64xf32> {te.name = "A"}, %arg1: tensor<64xf32> {te.name = "C", te.output}) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<64xf32>
  // expected-error @below {{stage 'B' in shared memory: expected what reads it to follow it outside the loops of threads, got it at loop 'i.inner.outer'}}
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
  %i_inner_outer, %i_inner_inner = schedule.split %i_inner by 2
  schedule.bind %i_inner_outer to <threadIdx.x>
  %C = schedule.stage "C"
  schedule.reverse_compute_at %C at %B, %i_inner_outer
  schedule.set_scope %B to <shared>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%arg0: tensor<6x7xf32> {te.name = "A"}, %arg1: tensor<6x7xf32> {te.name = "B", te.output}, %arg2: tensor<6x7xf32> {te.name = "C", te.output}) -> (tensor<6x7xf32>, tensor<6x7xf32>) {
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<6x7xf32>) outs(%arg1 : tensor<6x7xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %in, %cst : f32
    linalg.yield %2 : f32
  } -> tensor<6x7xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<6x7xf32>) outs(%arg2 : tensor<6x7xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %2 = arith.mulf %in, %cst : f32
    linalg.yield %2 : f32
  } -> tensor<6x7xf32>
  return %0, %1 : tensor<6x7xf32>, tensor<6x7xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  %C = schedule.stage "C"
  // expected-error @below {{reverse_compute_at: expected all that one iteration of loop 'i' computes to be computed by one block, got axis 'j' of stage 'B' in it bound to blockIdx.y}}
  schedule.reverse_compute_at %C at %B, %i
  schedule.bind %j to <blockIdx.y>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%arg0: tensor<3x8xf32> {te.name = "A"}, %arg1: tensor<3x8xf32> {te.name = "C", te.output}) -> tensor<3x8xf32> {
  %0 = tensor.empty() : tensor<3x8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<3x8xf32>) outs(%0 : tensor<3x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<3x8xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<3x8xf32>) outs(%arg1 : tensor<3x8xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %3 = arith.mulf %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-error @below {{bind: expected no axis of stage 'B' on a thread index in loop 'i', at which what reads it follows it, as each thread has a buffer of its own in local memory, got 'j' on threadIdx.x}}
  schedule.bind %j to <threadIdx.x>
  schedule.set_scope %B to <local>
  %C = schedule.stage "C"
  schedule.reverse_compute_at %C at %B, %i
  %i_0, %j_1 = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %j_outer, %j_inner = schedule.split %j_1 by 8
  %j_inner_outer, %j_inner_inner = schedule.split %j_inner by 4
}
