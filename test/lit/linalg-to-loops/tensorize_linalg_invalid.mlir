// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<()[s0] -> (s0 - 1)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<16x32xf32> {te.name = "X"}, %arg1: tensor<16x32xf32> {te.name = "scan", te.output}) -> tensor<16x32xf32> {
  %0 = tensor.empty() : tensor<1x32xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<16x32xf32>) outs(%0 : tensor<1x32xf32>) attrs =  {te.axes = ["_", "i"], te.stage = "init"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x32xf32>
  %2 = linalg.generic {indexing_maps = [#map1], iterator_types = ["reduction", "parallel"]} outs(%arg1 : tensor<16x32xf32>) attrs =  {te.axes = ["t", "i"], te.scan, te.stage = "scan"} {
  ^bb0(%out: f32):
    %3 = linalg.index 0 : index
    %4 = linalg.index 1 : index
    %5 = linalg.index 0 : index
    %6 = linalg.index 1 : index
    %c1 = arith.constant 1 : index
    %7 = arith.cmpi slt, %5, %c1 : index
    %8 = scf.if %7 -> (f32) {
      %c0 = arith.constant 0 : index
      %extracted = tensor.extract %1[%c0, %6] : tensor<1x32xf32>
      scf.yield %extracted : f32
    } else {
      %9 = affine.apply #map2()[%3]
      %extracted = tensor.extract %arg1[%9, %4] : tensor<16x32xf32>
      %extracted_0 = tensor.extract %arg0[%5, %6] : tensor<16x32xf32>
      %10 = arith.addf %extracted, %extracted_0 : f32
      scf.yield %10 : f32
    }
    linalg.yield %8 : f32
  } -> tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}
schedule.of @main {
  %scan = schedule.stage "scan"
  %t, %i = schedule.axes %scan ["t", "i"] : !schedule.axis, !schedule.axis
  // expected-error @below {{tensorize of stage 'scan' by 'windows': expected a stage whose elements are independent, got a scan}}
  schedule.tensorize %i by "windows" {
    func.func @describe(%arg0: tensor<34xf32> {te.name = "x"}, %arg1: tensor<32xf32> {te.name = "y", te.output}) -> tensor<32xf32> {
      %0 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel"]} ins(%arg0, %arg0 : tensor<34xf32>, tensor<34xf32>) outs(%arg1 : tensor<32xf32>) attrs =  {te.axes = ["i"], te.stage = "y"} {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %1 = linalg.index 0 : index
        %extracted = tensor.extract %arg0[%1] : tensor<34xf32>
        %2 = arith.mulf %in, %in_0 : f32
        %3 = arith.addf %extracted, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<32xf32>
      return %0 : tensor<32xf32>
    }
    func.func @body(%arg0: memref<34xf32> {te.name = "x"}, %arg1: memref<32xf32> {te.name = "y", te.output}) {
      return
    }
  }
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
  // expected-error @below {{tensorize of stage 'C' by 'gemv': expected plain loops in the tile, which the intrinsic takes the place of, got 'k' on unroll}}
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
  schedule.unroll %k
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<32x48xf32> {te.name = "A"}, %arg1: tensor<32x48xf32> {te.name = "B"}, %arg2: tensor<32x32xf32> {te.name = "C", te.output}) -> tensor<32x32xf32> {
  %0 = tensor.empty() : tensor<32x48xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<32x48xf32>) outs(%0 : tensor<32x48xf32>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "B.local"} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x48xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %2 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %3 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %1 : tensor<32x48xf32>, tensor<32x48xf32>) outs(%2 : tensor<32x32xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %4 = arith.mulf %in, %in_0 : f32
    %5 = arith.addf %out, %4 {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %5 : f32
  } -> tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  %j_outer, %j_inner = schedule.split %j by 16
  // expected-error @below {{tensorize of stage 'C' by 'gemv': expected no stage at a loop of the tile, got stage 'B.local' at 'k'}}
  schedule.tensorize %j_inner by "gemv" {
    func.func @describe(%arg0: tensor<48xf32> {te.name = "a"}, %arg1: tensor<16x48xf32> {te.name = "b"}, %arg2: tensor<16xf32> {te.name = "c", te.output}) -> tensor<16xf32> {
      %cst = arith.constant 0.000000e+00 : f32
      %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<16xf32>) -> tensor<16xf32>
      %1 = linalg.generic {indexing_maps = [#map4, #map, #map5], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<48xf32>, tensor<16x48xf32>) outs(%0 : tensor<16xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "c"} {
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
  %B_local = schedule.stage "B.local"
  schedule.compute_at %B_local at %C, %k
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0 + 1)>
#map3 = affine_map<(d0) -> (d0 + 2)>
#map4 = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<8x34xf32> {te.name = "A"}, %arg1: tensor<8xf32> {te.name = "D", te.output}) -> tensor<8xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg1 : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<8x34xf32>) outs(%0 : tensor<8xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "D"} {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %out, %in {te.combine = array<i64: -1, 0>} : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
schedule.of @main {
  %D = schedule.stage "D"
  %i = schedule.axes %D ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'D' by 'windows': expected tiles of extents 8, as the intrinsic describes, got 8, reduced over 34}}
  schedule.tensorize %i by "windows" {
    func.func @describe(%arg0: tensor<10xf32> {te.name = "x"}, %arg1: tensor<8xf32> {te.name = "y", te.output}) -> tensor<8xf32> {
      %0 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel"]} ins(%arg0, %arg0 : tensor<10xf32>, tensor<10xf32>) outs(%arg1 : tensor<8xf32>) attrs =  {te.axes = ["i"], te.stage = "y"} {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %1 = linalg.index 0 : index
        %extracted = tensor.extract %arg0[%1] : tensor<10xf32>
        %2 = arith.mulf %in, %in_0 : f32
        %3 = arith.addf %extracted, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    func.func @body(%arg0: memref<10xf32> {te.name = "x"}, %arg1: memref<8xf32> {te.name = "y", te.output}) {
      return
    }
  }
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1 + 1)>
#map1 = affine_map<(d0, d1) -> (d0, d1 + 4)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<8x36xf32> {te.name = "A"}, %arg1: tensor<8x32xf32> {te.name = "B", te.output}) -> tensor<8x32xf32> {
  // expected-note @below {{the stage computes this}}
  %0 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg0 : tensor<8x36xf32>, tensor<8x36xf32>) outs(%arg1 : tensor<8x32xf32>) attrs =  {te.axes = ["i", "j"], te.stage = "B"} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %1 = linalg.index 0 : index
    %2 = linalg.index 1 : index
    %extracted = tensor.extract %arg0[%1, %2] : tensor<8x36xf32>
    %3 = arith.mulf %in, %in_0 : f32
    %4 = arith.addf %extracted, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'windows': expected one tensor at one place for all reads of 'x', as the intrinsic describes, got another for one of them}}
  schedule.tensorize %j by "windows" {
    func.func @describe(%arg0: tensor<34xf32> {te.name = "x"}, %arg1: tensor<32xf32> {te.name = "y", te.output}) -> tensor<32xf32> {
      // expected-note @below {{the intrinsic computes this}}
      %0 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel"]} ins(%arg0, %arg0 : tensor<34xf32>, tensor<34xf32>) outs(%arg1 : tensor<32xf32>) attrs =  {te.axes = ["i"], te.stage = "y"} {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %1 = linalg.index 0 : index
        %extracted = tensor.extract %arg0[%1] : tensor<34xf32>
        %2 = arith.mulf %in, %in_0 : f32
        %3 = arith.addf %extracted, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<32xf32>
      return %0 : tensor<32xf32>
    }
    func.func @body(%arg0: memref<34xf32> {te.name = "x"}, %arg1: memref<32xf32> {te.name = "y", te.output}) {
      return
    }
  }
}

// -----

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> (d0 + 1)>
#map2 = affine_map<(d0) -> (d0 + 2)>
func.func @main(%arg0: tensor<8xf32> {te.name = "A"}, %arg1: tensor<8xf32> {te.name = "PQ.v0", te.output}, %arg2: tensor<8xf32> {te.name = "PQ.v1", te.output}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<8xf32>) outs(%arg1, %arg2 : tensor<8xf32>, tensor<8xf32>) attrs =  {te.axes = ["i"], te.stage = "PQ"} {
  ^bb0(%in: f32, %out: f32, %out_0: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %1 = arith.mulf %in, %cst : f32
    %cst_1 = arith.constant 2.000000e+00 : f32
    %2 = arith.mulf %in, %cst_1 : f32
    linalg.yield %1, %2 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
schedule.of @main {
  %PQ = schedule.stage "PQ"
  %i = schedule.axes %PQ ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'PQ' by 'windows': expected 1 results, as the intrinsic describes, got 2}}
  schedule.tensorize %i by "windows" {
    func.func @describe(%arg0: tensor<10xf32> {te.name = "x"}, %arg1: tensor<8xf32> {te.name = "y", te.output}) -> tensor<8xf32> {
      %0 = linalg.generic {indexing_maps = [#map1, #map2, #map], iterator_types = ["parallel"]} ins(%arg0, %arg0 : tensor<10xf32>, tensor<10xf32>) outs(%arg1 : tensor<8xf32>) attrs =  {te.axes = ["i"], te.stage = "y"} {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %1 = linalg.index 0 : index
        %extracted = tensor.extract %arg0[%1] : tensor<10xf32>
        %2 = arith.mulf %in, %in_0 : f32
        %3 = arith.addf %extracted, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    func.func @body(%arg0: memref<10xf32> {te.name = "x"}, %arg1: memref<8xf32> {te.name = "y", te.output}) {
      return
    }
  }
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
  %k_outer, %k_inner = schedule.split %k by 16
  schedule.reorder %i, %j_outer, %k_outer, %j_inner, %k_inner
  // expected-error @below {{tensorize of stage 'C' by 'gemv': expected an intrinsic with an update, and a reset or a body for what comes first, as a tile has a part of the reduction, got one without}}
  schedule.tensorize %j_inner by "gemv" {
    func.func @describe(%arg0: tensor<16xf32> {te.name = "a"}, %arg1: tensor<16x16xf32> {te.name = "b"}, %arg2: tensor<16xf32> {te.name = "c", te.output}) -> tensor<16xf32> {
      %cst = arith.constant 0.000000e+00 : f32
      %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<16xf32>) -> tensor<16xf32>
      %1 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<16xf32>, tensor<16x16xf32>) outs(%0 : tensor<16xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "c"} {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %2 = arith.mulf %in, %in_0 : f32
        %3 = arith.addf %out, %2 {te.combine = array<i64: -1, 0>} : f32
        linalg.yield %3 : f32
      } -> tensor<16xf32>
      return %1 : tensor<16xf32>
    }
    func.func @body(%arg0: memref<16xf32> {te.name = "a"}, %arg1: memref<16x16xf32> {te.name = "b"}, %arg2: memref<16xf32> {te.name = "c", te.output}) {
      return
    }
  }
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
  %j_outer, %j_inner = schedule.split %j by 16
  // expected-error @below {{tensorize of stage 'C' by 'gemv': expected the intrinsic to set its results to the identity, got decompose_reduction of the stage}}
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
  schedule.decompose_reduction %C at %i
}
