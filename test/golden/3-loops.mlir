#map = affine_map<(d0, d1) -> (d0 * 16 + d1)>
module {
  func.func @mmult(%arg0: memref<64x64xf32> {te.dtype = f32, te.name = "A"}, %arg1: memref<64x64xf32> {te.dtype = f32, te.name = "B"}, %arg2: memref<64x64xf32> {te.dtype = f32, te.name = "C", te.output}) attributes {schedule.bound = [#schedule.thread<blockIdx.x>, #schedule.thread<blockIdx.y>, #schedule.thread<threadIdx.x>, #schedule.thread<threadIdx.y>]} {
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    scf.for %arg3 = %c0 to %c4 step %c1 {
      scf.for %arg4 = %c0 to %c4 step %c1 {
        scf.for %arg5 = %c0 to %c16 step %c1 {
          scf.for %arg6 = %c0 to %c16 step %c1 {
            %alloca = memref.alloca() {te.stage = "C"} : memref<f32, #gpu.address_space<private>>
            %cst = arith.constant 0.000000e+00 : f32
            memref.store %cst, %alloca[] : memref<f32, #gpu.address_space<private>>
            scf.for %arg7 = %c0 to %c4 step %c1 {
              %alloc = memref.alloc() {te.stage = "A.shared"} : memref<16x16xf32, #gpu.address_space<workgroup>>
              scf.for %arg8 = %c0 to %c16 step %c1 {
                scf.for %arg9 = %c0 to %c16 step %c1 {
                  %3 = affine.apply #map(%arg3, %arg8)
                  %4 = affine.apply #map(%arg7, %arg9)
                  %5 = memref.load %arg0[%3, %4] : memref<64x64xf32>
                  memref.store %5, %alloc[%arg8, %arg9] : memref<16x16xf32, #gpu.address_space<workgroup>>
                } {schedule.axis = #schedule.axis<"ax1" of "A.shared">, schedule.bind = #schedule.thread<threadIdx.x>}
              } {schedule.axis = #schedule.axis<"ax0" of "A.shared">, schedule.bind = #schedule.thread<threadIdx.y>}
              %alloc_0 = memref.alloc() {te.stage = "B.shared"} : memref<16x16xf32, #gpu.address_space<workgroup>>
              scf.for %arg8 = %c0 to %c16 step %c1 {
                scf.for %arg9 = %c0 to %c16 step %c1 {
                  %3 = affine.apply #map(%arg7, %arg8)
                  %4 = affine.apply #map(%arg4, %arg9)
                  %5 = memref.load %arg1[%3, %4] : memref<64x64xf32>
                  memref.store %5, %alloc_0[%arg8, %arg9] : memref<16x16xf32, #gpu.address_space<workgroup>>
                } {schedule.axis = #schedule.axis<"ax1" of "B.shared">, schedule.bind = #schedule.thread<threadIdx.x>}
              } {schedule.axis = #schedule.axis<"ax0" of "B.shared">, schedule.bind = #schedule.thread<threadIdx.y>}
              scf.for %arg8 = %c0 to %c16 step %c1 {
                %3 = memref.load %alloca[] : memref<f32, #gpu.address_space<private>>
                %4 = memref.load %alloc[%arg5, %arg8] : memref<16x16xf32, #gpu.address_space<workgroup>>
                %5 = memref.load %alloc_0[%arg8, %arg6] : memref<16x16xf32, #gpu.address_space<workgroup>>
                %6 = arith.mulf %4, %5 fastmath<contract> : f32
                %7 = arith.addf %3, %6 fastmath<contract> : f32
                memref.store %7, %alloca[] : memref<f32, #gpu.address_space<private>>
              } {schedule.axis = #schedule.axis<"k.inner" of "C">}
            } {schedule.axis = #schedule.axis<"k.outer" of "C">}
            %0 = memref.load %alloca[] : memref<f32, #gpu.address_space<private>>
            %1 = affine.apply #map(%arg3, %arg5)
            %2 = affine.apply #map(%arg4, %arg6)
            memref.store %0, %arg2[%1, %2] : memref<64x64xf32>
          } {schedule.axis = #schedule.axis<"j.inner" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
        } {schedule.axis = #schedule.axis<"i.inner" of "C">, schedule.bind = #schedule.thread<threadIdx.y>}
      } {schedule.axis = #schedule.axis<"j.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.axis = #schedule.axis<"i.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.y>}
    return
  }
}

