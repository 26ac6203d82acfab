#map = affine_map<(d0, d1) -> (d0 * 128 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map2 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map3 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 * 64 + d2)>
module {
  func.func @hgemm(%arg0: memref<256x256xbf16> {te.dtype = bf16, te.name = "A"}, %arg1: memref<256x256xbf16> {te.dtype = bf16, te.name = "B"}, %arg2: memref<256x256xbf16> {te.dtype = bf16, te.name = "C", te.output}) attributes {schedule.bound = [#schedule.thread<blockIdx.x>, #schedule.thread<blockIdx.y>, #schedule.thread<threadIdx.x>, #schedule.thread<threadIdx.y>]} {
    %c64 = arith.constant 64 : index
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    scf.for %arg3 = %c0 to %c128 step %c1 {
      scf.for %arg4 = %c0 to %c2 step %c1 {
        scf.for %arg5 = %c0 to %c4 step %c1 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
            scf.for %arg7 = %c0 to %c64 step %c1 {
              scf.for %arg8 = %c0 to %c64 step %c1 {
                %cst = arith.constant 0.000000e+00 : f32
                memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
              } {schedule.axis = #schedule.axis<"n" of "P">}
            } {schedule.axis = #schedule.axis<"m" of "P">}
            scf.for %arg7 = %c0 to %c4 step %c1 {
              %alloc = memref.alloc() {schedule.pipelined, te.stage = "A.shared"} : memref<128x64xbf16, #gpu.address_space<workgroup>>
              scf.for %arg8 = %c0 to %c128 step %c1 {
                scf.for %arg9 = %c0 to %c64 step %c1 {
                  %0 = affine.apply #map(%arg4, %arg8)
                  %1 = affine.apply #map1(%arg7, %arg9)
                  %2 = memref.load %arg0[%0, %1] : memref<256x256xbf16>
                  memref.store %2, %alloc[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
                } {schedule.axis = #schedule.axis<"ax1" of "A.shared">}
              } {schedule.axis = #schedule.axis<"ax0" of "A.shared">}
              %alloc_0 = memref.alloc() {schedule.pipelined, te.stage = "B.shared"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
              scf.for %arg8 = %c0 to %c64 step %c1 {
                scf.for %arg9 = %c0 to %c64 step %c1 {
                  %0 = affine.apply #map1(%arg7, %arg8)
                  %1 = affine.apply #map1(%arg5, %arg9)
                  %2 = memref.load %arg1[%0, %1] : memref<256x256xbf16>
                  memref.store %2, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                } {schedule.axis = #schedule.axis<"ax1" of "B.shared">}
              } {schedule.axis = #schedule.axis<"ax0" of "B.shared">}
              scf.for %arg8 = %c0 to %c64 step %c1 {
                scf.for %arg9 = %c0 to %c64 step %c1 {
                  scf.for %arg10 = %c0 to %c64 step %c1 {
                    %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                    %1 = affine.apply #map2(%arg8, %arg6)
                    %2 = memref.load %alloc[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
                    %3 = arith.extf %2 : bf16 to f32
                    %4 = memref.load %alloc_0[%arg10, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                    %5 = arith.extf %4 : bf16 to f32
                    %6 = arith.mulf %3, %5 fastmath<contract> : f32
                    %7 = arith.addf %0, %6 fastmath<contract> : f32
                    memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                  } {schedule.axis = #schedule.axis<"k" of "P">, schedule.matrix_axis = #schedule.matrix_axis<k>}
                } {schedule.axis = #schedule.axis<"n" of "P">, schedule.matrix_axis = #schedule.matrix_axis<n>}
              } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
            } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 232>}
            scf.for %arg7 = %c0 to %c64 step %c1 {
              scf.for %arg8 = %c0 to %c64 step %c1 {
                %0 = memref.load %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
                %1 = arith.truncf %0 : f32 to bf16
                %2 = affine.apply #map3(%arg4, %arg6, %arg7)
                %3 = affine.apply #map1(%arg5, %arg8)
                memref.store %1, %arg2[%2, %3] : memref<256x256xbf16>
              } {schedule.axis = #schedule.axis<"j.inner" of "C">}
            } {schedule.axis = #schedule.axis<"i.inner.inner" of "C">}
          } {schedule.axis = #schedule.axis<"i.inner.outer" of "C">, schedule.bind = #schedule.thread<threadIdx.y>}
        } {schedule.axis = #schedule.axis<"j.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
      } {schedule.axis = #schedule.axis<"i.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.y>}
    } {schedule.axis = #schedule.axis<"threadIdx.x" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
    return
  }
}

