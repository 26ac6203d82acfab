// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

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
  %i_j_fused = schedule.fuse %i, %j
  // expected-error @below {{tensorize of stage 'C' by 'gemv': expected loops in the tile that are of one axis each, got the fused 'i.j.fused'}}
  schedule.tensorize %i_j_fused by "gemv" {
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
  %j_outer, %j_inner = schedule.split %j by 4
  schedule.reorder %i, %j_inner, %j_outer
  // expected-error @below {{tensorize of stage 'C' by 'gemv': expected tiles that are blocks, got axis 'j', of which a tile has elements that lie apart or a number that is not known}}
  schedule.tensorize %j_outer by "gemv" {
    func.func @describe(%arg0: tensor<48xf32> {te.name = "a"}, %arg1: tensor<8x48xf32> {te.name = "b"}, %arg2: tensor<8xf32> {te.name = "c", te.output}) -> tensor<8xf32> {
      %cst = arith.constant 0.000000e+00 : f32
      %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<8xf32>) -> tensor<8xf32>
      %1 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<48xf32>, tensor<8x48xf32>) outs(%0 : tensor<8xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "c"} {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %2 = arith.mulf %in, %in_0 : f32
        %3 = arith.addf %out, %2 {te.combine = array<i64: -1, 0>} : f32
        linalg.yield %3 : f32
      } -> tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    func.func @reset(%arg0: memref<48xf32> {te.name = "a"}, %arg1: memref<8x48xf32> {te.name = "b"}, %arg2: memref<8xf32> {te.name = "c", te.output}) {
      return
    }
  }
}

// -----

#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> (d0)>
func.func @main(%arg0: tensor<32x48xf32> {te.name = "A"}, %arg1: tensor<48x32xf32> {te.name = "B"}, %arg2: tensor<32x32xf32> {te.name = "C", te.output}) -> tensor<32x32xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<32x32xf32>) -> tensor<32x32xf32>
  // expected-note @below {{the stage computes this}}
  %1 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<32x48xf32>, tensor<48x32xf32>) outs(%0 : tensor<32x32xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
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
  // expected-error @below {{tensorize of stage 'C' by 'gemv': expected a read at the indices of 'b', as the intrinsic describes, got one at indices that change in another way within a tile}}
  schedule.tensorize %j by "gemv" {
    func.func @describe(%arg0: tensor<48xf32> {te.name = "a"}, %arg1: tensor<32x48xf32> {te.name = "b"}, %arg2: tensor<32xf32> {te.name = "c", te.output}) -> tensor<32xf32> {
      %cst = arith.constant 0.000000e+00 : f32
      %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<32xf32>) -> tensor<32xf32>
      // expected-note @below {{the intrinsic computes this}}
      %1 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<48xf32>, tensor<32x48xf32>) outs(%0 : tensor<32xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "c"} {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %2 = arith.mulf %in, %in_0 : f32
        %3 = arith.addf %out, %2 {te.combine = array<i64: -1, 0>} : f32
        linalg.yield %3 : f32
      } -> tensor<32xf32>
      return %1 : tensor<32xf32>
    }
    func.func @reset(%arg0: memref<48xf32> {te.name = "a"}, %arg1: memref<32x48xf32> {te.name = "b"}, %arg2: memref<32xf32> {te.name = "c", te.output}) {
      return
    }
    func.func @update(%arg0: memref<48xf32> {te.name = "a"}, %arg1: memref<32x48xf32> {te.name = "b"}, %arg2: memref<32xf32> {te.name = "c", te.output}) {
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
func.func @main(%arg0: tensor<32x48xf64> {te.name = "A"}, %arg1: tensor<32x48xf64> {te.name = "B"}, %arg2: tensor<32x32xf64> {te.name = "C", te.output}) -> tensor<32x32xf64> {
  %cst = arith.constant 0.000000e+00 : f64
  %0 = linalg.fill ins(%cst : f64) outs(%arg2 : tensor<32x32xf64>) -> tensor<32x32xf64>
  // expected-note @below {{the stage computes this}}
  %1 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<32x48xf64>, tensor<32x48xf64>) outs(%0 : tensor<32x32xf64>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "C"} {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %2 = arith.mulf %in, %in_0 : f64
    %3 = arith.addf %out, %2 {te.combine = array<i64: -1, 0>} : f64
    linalg.yield %3 : f64
  } -> tensor<32x32xf64>
  return %1 : tensor<32x32xf64>
}
schedule.of @main {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-error @below {{tensorize of stage 'C' by 'gemv': expected a reduction that starts from the same, as the intrinsic describes, got another}}
  schedule.tensorize %j by "gemv" {
    func.func @describe(%arg0: tensor<48xf32> {te.name = "a"}, %arg1: tensor<32x48xf32> {te.name = "b"}, %arg2: tensor<32xf32> {te.name = "c", te.output}) -> tensor<32xf32> {
      %cst = arith.constant 0.000000e+00 : f32
      %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<32xf32>) -> tensor<32xf32>
      // expected-note @below {{the intrinsic computes this}}
      %1 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<48xf32>, tensor<32x48xf32>) outs(%0 : tensor<32xf32>) attrs =  {te.axes = ["i", "k"], te.stage = "c"} {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %2 = arith.mulf %in, %in_0 : f32
        %3 = arith.addf %out, %2 {te.combine = array<i64: -1, 0>} : f32
        linalg.yield %3 : f32
      } -> tensor<32xf32>
      return %1 : tensor<32xf32>
    }
    func.func @reset(%arg0: memref<48xf32> {te.name = "a"}, %arg1: memref<32x48xf32> {te.name = "b"}, %arg2: memref<32xf32> {te.name = "c", te.output}) {
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
  // expected-error @below {{tensorize of stage 'C' by 'gemv': expected an intrinsic with a body, or with reset and update, got one with neither}}
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
    func.func @update(%arg0: memref<48xf32> {te.name = "a"}, %arg1: memref<16x48xf32> {te.name = "b"}, %arg2: memref<16xf32> {te.name = "c", te.output}) {
      return
    }
  }
}

// -----

#map = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<8xf32> {te.name = "A"}, %arg1: tensor<8xf32> {te.name = "B", te.output}) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<8xf32>) outs(%arg1 : tensor<8xf32>) attrs =  {te.axes = ["i"], te.stage = "B"} {
  ^bb0(%in: f32, %out: f32):
    %cst = arith.constant 2.000000e+00 : f32
    %1 = arith.mulf %in, %cst : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
schedule.of @main {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'double': expected a description that reads the whole of each input, got input 0, of extent 10 along dimension 0, which it reads from 0 to 7}}
  schedule.tensorize %i by "double" {
    func.func @describe(%arg0: tensor<10xf32> {te.name = "x"}, %arg1: tensor<8xf32> {te.name = "y", te.output}) -> tensor<8xf32> {
      %0 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%arg1 : tensor<8xf32>) attrs =  {te.axes = ["i"], te.stage = "y"} {
      ^bb0(%out: f32):
        %1 = linalg.index 0 : index
        %extracted = tensor.extract %arg0[%1] : tensor<10xf32>
        %cst = arith.constant 2.000000e+00 : f32
        %2 = arith.mulf %extracted, %cst : f32
        linalg.yield %2 : f32
      } -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    func.func @body(%arg0: memref<10xf32> {te.name = "x"}, %arg1: memref<8xf32> {te.name = "y", te.output}) {
      return
    }
  }
}
