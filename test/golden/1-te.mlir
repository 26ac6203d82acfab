module {
  func.func @mmult(%arg0: tensor<64x64xf32> {te.dtype = f32, te.name = "A"}, %arg1: tensor<64x64xf32> {te.dtype = f32, te.name = "B"}, %arg2: tensor<64x64xf32> {te.dtype = f32, te.name = "C", te.output}) -> tensor<64x64xf32> {
    %C = te.compute "C" (%i: 64, %j: 64) sum (%k: 64) {
      %0 = te.read %arg0[%i, %k] : tensor<64x64xf32>
      %1 = te.read %arg1[%k, %j] : tensor<64x64xf32>
      %2 = arith.mulf %0, %1 fastmath<contract> : f32
      te.yield %2 : f32
    } : tensor<64x64xf32>
    return %C : tensor<64x64xf32>
  }
  schedule.of @mmult {
    %C = schedule.stage "C"
    %A_shared = schedule.cache_read "A" in <shared> for %C as "A.shared"
    %B_shared = schedule.cache_read "B" in <shared> for %C as "B.shared"
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

