#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @hgemm(%arg0: tensor<256x256xbf16> {te.dtype = bf16, te.name = "A"}, %arg1: tensor<256x256xbf16> {te.dtype = bf16, te.name = "B"}, %arg2: tensor<256x256xbf16> {te.dtype = bf16, te.name = "C", te.output}) -> tensor<256x256xbf16> {
    %0 = tensor.empty() : tensor<256x256xbf16>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<256x256xbf16>) outs(%0 : tensor<256x256xbf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "A.shared"} {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<256x256xbf16>
    %2 = tensor.empty() : tensor<256x256xbf16>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<256x256xbf16>) outs(%2 : tensor<256x256xbf16>) attrs =  {te.axes = ["ax0", "ax1"], te.stage = "B.shared"} {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<256x256xbf16>
    %4 = tensor.empty() : tensor<256x256xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<256x256xf32>) -> tensor<256x256xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %3 : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%5 : tensor<256x256xf32>) attrs =  {te.axes = ["i", "j", "k"], te.stage = "P"} {
    ^bb0(%in: bf16, %in_0: bf16, %out: f32):
      %8 = arith.extf %in : bf16 to f32
      %9 = arith.extf %in_0 : bf16 to f32
      %10 = arith.mulf %8, %9 fastmath<contract> : f32
      %11 = arith.addf %out, %10 fastmath<contract> {te.combine = array<i64: -1, 0>} : f32
      linalg.yield %11 : f32
    } -> tensor<256x256xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<256x256xf32>) outs(%arg2 : tensor<256x256xbf16>) attrs =  {te.axes = ["i", "j"], te.stage = "C"} {
    ^bb0(%in: f32, %out: bf16):
      %8 = arith.truncf %in : f32 to bf16
      linalg.yield %8 : bf16
    } -> tensor<256x256xbf16>
    return %7 : tensor<256x256xbf16>
  }
  schedule.of @hgemm {
    %P = schedule.stage "P"
    %A_shared = schedule.stage "A.shared"
    schedule.set_scope %A_shared to <shared>
    %B_shared = schedule.stage "B.shared"
    schedule.set_scope %B_shared to <shared>
    %C = schedule.stage "C"
    %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
    %i_outer, %j_outer, %i_inner, %j_inner = schedule.tile %i, %j by 128, 64
    schedule.bind %i_outer to <blockIdx.y>
    schedule.bind %j_outer to <blockIdx.x>
    schedule.env_threads %C on <threadIdx.x> extent 128
    %i_inner_outer, %i_inner_inner = schedule.split %i_inner by 64
    schedule.bind %i_inner_outer to <threadIdx.y>
    schedule.set_scope %P to <local>
    schedule.compute_at %P at %C, %i_inner_outer
    %i_0, %j_1 = schedule.axes %P ["i", "j"] : !schedule.axis, !schedule.axis
    %k = schedule.reduce_axes %P ["k"] : !schedule.axis
    %k_outer, %k_inner = schedule.split %k by 64
    schedule.reorder %k_outer, %i_0, %j_1, %k_inner
    schedule.tensorize %i_0 by "wgmma" {
      func.func @describe(%arg0: tensor<64x64xbf16> {te.dtype = bf16, te.name = "a"}, %arg1: tensor<64x64xbf16> {te.dtype = bf16, te.name = "b"}, %arg2: tensor<64x64xf32> {te.dtype = f32, te.name = "c", te.output}) -> tensor<64x64xf32> {
        %cst = arith.constant 0.000000e+00 : f32
        %0 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<64x64xf32>) -> tensor<64x64xf32>
        %1 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%0 : tensor<64x64xf32>) attrs =  {te.axes = ["i0", "i1", "k"], te.stage = "c"} {
        ^bb0(%in: bf16, %in_2: bf16, %out: f32):
          %2 = arith.extf %in : bf16 to f32
          %3 = arith.extf %in_2 : bf16 to f32
          %4 = arith.mulf %2, %3 fastmath<contract> : f32
          %5 = arith.addf %out, %4 fastmath<contract> {te.combine = array<i64: -1, 0>} : f32
          linalg.yield %5 : f32
        } -> tensor<64x64xf32>
        return %1 : tensor<64x64xf32>
      }
      func.func @reset(%arg0: memref<64x64xbf16> {te.dtype = bf16, te.name = "a"}, %arg1: memref<64x64xbf16> {te.dtype = bf16, te.name = "b"}, %arg2: memref<64x64xf32> {te.dtype = f32, te.name = "c", te.output}) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c64 = arith.constant 64 : index
        scf.for %arg3 = %c0 to %c64 step %c1 {
          %c0_2 = arith.constant 0 : index
          %c1_3 = arith.constant 1 : index
          %c64_4 = arith.constant 64 : index
          scf.for %arg4 = %c0_2 to %c64_4 step %c1_3 {
            %cst = arith.constant 0.000000e+00 : f32
            memref.store %cst, %arg2[%arg3, %arg4] : memref<64x64xf32>
          } {schedule.axis = #schedule.axis<"n">}
        } {schedule.axis = #schedule.axis<"m">}
        return
      }
      func.func @update(%arg0: memref<64x64xbf16> {te.dtype = bf16, te.name = "a"}, %arg1: memref<64x64xbf16> {te.dtype = bf16, te.name = "b"}, %arg2: memref<64x64xf32> {te.dtype = f32, te.name = "c", te.output}) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c64 = arith.constant 64 : index
        scf.for %arg3 = %c0 to %c64 step %c1 {
          %c0_2 = arith.constant 0 : index
          %c1_3 = arith.constant 1 : index
          %c64_4 = arith.constant 64 : index
          scf.for %arg4 = %c0_2 to %c64_4 step %c1_3 {
            %c0_5 = arith.constant 0 : index
            %c1_6 = arith.constant 1 : index
            %c64_7 = arith.constant 64 : index
            scf.for %arg5 = %c0_5 to %c64_7 step %c1_6 {
              %0 = memref.load %arg2[%arg3, %arg4] : memref<64x64xf32>
              %1 = memref.load %arg0[%arg3, %arg5] : memref<64x64xbf16>
              %2 = arith.extf %1 : bf16 to f32
              %3 = memref.load %arg1[%arg5, %arg4] : memref<64x64xbf16>
              %4 = arith.extf %3 : bf16 to f32
              %5 = arith.mulf %2, %4 fastmath<contract> : f32
              %6 = arith.addf %0, %5 fastmath<contract> : f32
              memref.store %6, %arg2[%arg3, %arg4] : memref<64x64xf32>
            } {schedule.axis = #schedule.axis<"k">}
          } {schedule.axis = #schedule.axis<"n">}
        } {schedule.axis = #schedule.axis<"m">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
        return
      }
    }
    schedule.compute_at %A_shared at %P, %k_outer
    schedule.copy_by <tma> %A_shared swizzle 128
    schedule.compute_at %B_shared at %P, %k_outer
    schedule.copy_by <tma> %B_shared swizzle 128
    schedule.software_pipeline %k_outer depth 2
    schedule.specialize %k_outer producer 40 consumer 232
  }
}

