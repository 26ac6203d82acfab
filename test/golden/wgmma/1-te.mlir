module {
  func.func @hgemm(%arg0: tensor<256x256xbf16> {te.dtype = bf16, te.name = "A"}, %arg1: tensor<256x256xbf16> {te.dtype = bf16, te.name = "B"}, %arg2: tensor<256x256xbf16> {te.dtype = bf16, te.name = "C", te.output}) -> tensor<256x256xbf16> {
    %P = te.compute "P" (%i: 256, %j: 256) sum (%k: 256) {
      %0 = te.read %arg0[%i, %k] : tensor<256x256xbf16>
      %1 = arith.extf %0 : bf16 to f32
      %2 = te.read %arg1[%k, %j] : tensor<256x256xbf16>
      %3 = arith.extf %2 : bf16 to f32
      %4 = arith.mulf %1, %3 fastmath<contract> : f32
      te.yield %4 : f32
    } : tensor<256x256xf32>
    %C = te.compute "C" (%i: 256, %j: 256) {
      %0 = te.read %P[%i, %j] : tensor<256x256xf32>
      %1 = arith.truncf %0 : f32 to bf16
      te.yield %1 : bf16
    } : tensor<256x256xbf16>
    return %C : tensor<256x256xbf16>
  }
  schedule.of @hgemm {
    %P = schedule.stage "P"
    %A_shared = schedule.cache_read "A" in <shared> for %P as "A.shared"
    %B_shared = schedule.cache_read "B" in <shared> for %P as "B.shared"
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
        %c = te.compute "c" (%i0: 64, %i1: 64) sum (%k_2 as "k": 64) {
          %0 = te.read %arg0[%i0, %k_2] : tensor<64x64xbf16>
          %1 = arith.extf %0 : bf16 to f32
          %2 = te.read %arg1[%k_2, %i1] : tensor<64x64xbf16>
          %3 = arith.extf %2 : bf16 to f32
          %4 = arith.mulf %1, %3 fastmath<contract> : f32
          te.yield %4 : f32
        } : tensor<64x64xf32>
        return %c : tensor<64x64xf32>
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

