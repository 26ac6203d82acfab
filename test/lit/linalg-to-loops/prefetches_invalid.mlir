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
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{prefetch of 'B': expected a tensor that stage 'B' reads, got another}}
  schedule.prefetch %B of "B" at %i offset 1
}

// -----

#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<32x48xf32> {te.name = "A"}, %arg1: tensor<32x48xf32> {te.name = "B"}, %arg2: tensor<32x32xf32> {te.name = "C", te.output}) -> tensor<32x32xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<32x48xf32>, tensor<32x48xf32>) outs(%0 : tensor<32x32xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %2 = arith.mulf %in, %in_0 : f32
    %3 = arith.addf %out, %2 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %3 : f32
  } -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  %j_outer, %j_inner = schedule.split %j by 16
  schedule.tensorize %j_inner by "gemv" {
    func.func @describe(%arg0: tensor<48xf32> {te.name = "a"}, %arg1: tensor<16x48xf32> {te.name = "b"}, %arg2: tensor<16xf32> {te.name = "c", te.output}) -> tensor<16xf32> {
      %cst = arith.constant 0.000000e+00 : f32
      %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<16xf32>) -> tensor<16xf32>
      %1 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<48xf32>, tensor<16x48xf32>) outs(%0 : tensor<16xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "c"} {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %2 = arith.mulf %in, %in_0 : f32
        %3 = arith.addf %out, %2 {te.combine = array<i64: -1, 0>} : f32
        linalg.yield %3 : f32
      } -> tensor<16xf32>
      return %1 : tensor<16xf32>
    }
    func.func @reset(%arg0: memref<48xf32> {te.name = "a"}, %arg1: memref<16x48xf32> {te.name = "b"}, %arg2: memref<16xf32> {te.name = "c", te.output}) {
      return
    }
  }
  // expected-error @below {{prefetch of 'B': expected a loop around what an intrinsic computes, got 'k' in it}}
  schedule.prefetch %C of "B" at %k offset 1
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<8x?xf32> {te.name = "A", te.symbols = ["", "n"]}, %arg1: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<8x?xf32>) outs(%0 : tensor<8xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{prefetch of 'A': expected an iteration of loop 'i' to read a constant number of elements of it, got a number that is not known along dimension 1}}
  schedule.prefetch %B of "A" at %i offset 1
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
  // expected-error @below {{prefetch of 'A': expected a loop of stage 'B', got axis 'i', which was split afterwards}}
  schedule.prefetch %B of "A" at %i offset 1
  %i_outer, %i_inner = schedule.split %i by 4
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
  %k = schedule.reduce_axes %B ["k"] : !schedule.axis
  schedule.bind %i to <blockIdx.x>
  %k_outer, %k_inner = schedule.split %k by 32
  schedule.compute_at %A_shared at %B, %k_outer
  // expected-error @below {{prefetch of 'A.shared': expected a tensor in global memory, which caches lie before, got one in shared memory}}
  schedule.prefetch %B of "A.shared" at %k_outer offset 1
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<8x?xf32> {te.name = "A", te.symbols = ["", "n"]}, %arg1: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<8x?xf32>) outs(%0 : tensor<8xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  schedule.vectorize %i
  // expected-error @below {{prefetch of 'A': expected a loop whose iterations come one after the other, got 'i', which is vectorized}}
  schedule.prefetch %B of "A" at %i offset 1
}
