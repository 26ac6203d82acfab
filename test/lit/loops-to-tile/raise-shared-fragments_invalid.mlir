// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1, d2) -> (d0 * 1024 + d1 * 256 + d2)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map2 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128xf16> {te.dtype = f16, te.name = "X"}, %arg1: memref<64x128xf16> {te.dtype = f16, te.name = "Y"}, %arg2: memref<64x128xf32> {te.dtype = f32, te.name = "D", te.output}) attributes {schedule.bound = [#schedule.thread<blockIdx.x>, #schedule.thread<threadIdx.x>, #schedule.thread<threadIdx.y>]} {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c256 = arith.constant 256 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c8 step %c1 {
    scf.for %arg4 = %c0 to %c256 step %c1 {
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %0 = affine.apply #map(%arg3, %arg5, %arg4)
        %1 = arith.remui %0, %c128 : index
        %2 = arith.divui %0, %c128 : index
        %cst = arith.constant 0.000000e+00 : f32
        memref.store %cst, %arg2[%2, %1] : memref<64x128xf32>
      } {schedule.axis = #schedule.axis<"zeros" of "D">, schedule.unroll}
    } {schedule.axis = #schedule.axis<"zeros.inner" of "D">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"zeros.outer" of "D">, schedule.bind = #schedule.thread<blockIdx.x>}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c1 step %c1 {
      %alloc = memref.alloc() {te.stage = "X.shared"} : memref<128x128xf16, #gpu.address_space<workgroup>>
      scf.for %arg5 = %c0 to %c128 step %c1 {
        scf.for %arg6 = %c0 to %c128 step %c1 {
          %0 = memref.load %arg0[%arg5, %arg6] : memref<128x128xf16>
          memref.store %0, %alloc[%arg5, %arg6] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x128xf16, #gpu.address_space<workgroup>>
        } {schedule.axis = #schedule.axis<"j" of "X.shared">}
      } {schedule.axis = #schedule.axis<"i" of "X.shared">}
      scf.for %arg5 = %c0 to %c1 step %c1 {
        %alloc_0 = memref.alloc() {schedule.pipelined, te.stage = "Y.shared"} : memref<64x128xf16, #gpu.address_space<workgroup>>
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c128 step %c1 {
            %0 = memref.load %arg1[%arg6, %arg7] : memref<64x128xf16>
            memref.store %0, %alloc_0[%arg6, %arg7] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x128xf16, #gpu.address_space<workgroup>>
          } {schedule.axis = #schedule.axis<"j" of "Y.shared">}
        } {schedule.axis = #schedule.axis<"i" of "Y.shared">}
        %alloc_1 = memref.alloc() {schedule.pipelined, te.stage = "R"} : memref<64x128xf16, #gpu.address_space<workgroup>>
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %alloca = memref.alloca() {te.stage = "S"} : memref<64x64xf32, #gpu.address_space<private>>
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              %cst = arith.constant 0.000000e+00 : f32
              memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.axis = #schedule.axis<"n" of "S">}
          } {schedule.axis = #schedule.axis<"m" of "S">}
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              scf.for %arg9 = %c0 to %c128 step %c1 {
                %0 = memref.load %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                %1 = affine.apply #map1(%arg7, %arg6)
                %2 = memref.load %alloc[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<128x128xf16, #gpu.address_space<workgroup>>
                %3 = arith.extf %2 : f16 to f32
                %4 = memref.load %alloc_0[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x128xf16, #gpu.address_space<workgroup>>
                %5 = arith.extf %4 : f16 to f32
                %6 = arith.mulf %3, %5 fastmath<contract> : f32
                %7 = arith.addf %0, %6 fastmath<contract> : f32
                memref.store %7, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              } {schedule.axis = #schedule.axis<"k" of "S">, schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.axis = #schedule.axis<"n" of "S">, schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.axis = #schedule.axis<"m" of "S">, schedule.instruction = #schedule.instruction<wgmma, 64x64x128>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
              %cst = arith.constant 0.000000e+00 : f32
              %1 = arith.maximumf %0, %cst fastmath<contract> : f32
              %2 = arith.truncf %1 : f32 to f16
              %3 = affine.apply #map2(%arg6, %arg8)
              memref.store %2, %alloc_1[%arg7, %3] : memref<64x128xf16, #gpu.address_space<workgroup>>
            } {schedule.axis = #schedule.axis<"i1.inner" of "R">}
          } {schedule.axis = #schedule.axis<"i0" of "R">}
        } {schedule.axis = #schedule.axis<"i1.outer" of "R">, schedule.bind = #schedule.thread<threadIdx.y>}
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %alloca = memref.alloca() {te.stage = "P"} : memref<1x64x64xf32, #gpu.address_space<private>>
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              %cst = arith.constant 0.000000e+00 : f32
              memref.store %cst, %alloca[%c0, %arg7, %arg8] : memref<1x64x64xf32, #gpu.address_space<private>>
            } {schedule.axis = #schedule.axis<"n" of "P">}
          } {schedule.axis = #schedule.axis<"m" of "P">}
          // expected-error @below {{wgmma of stage 'P': expected an operand of which each of a block's 2 warpgroups computes 64 rows, got stage 'R' of 64 rows}}
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              scf.for %arg9 = %c0 to %c128 step %c1 {
                %0 = memref.load %alloca[%c0, %arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<1x64x64xf32, #gpu.address_space<private>>
                %1 = memref.load %alloc_1[%arg7, %arg9] {schedule.operand = #schedule.operand<a>} : memref<64x128xf16, #gpu.address_space<workgroup>>
                %2 = arith.extf %1 : f16 to f32
                %3 = affine.apply #map1(%arg8, %arg6)
                %4 = memref.load %alloc[%arg9, %3] {schedule.operand = #schedule.operand<b>} : memref<128x128xf16, #gpu.address_space<workgroup>>
                %5 = arith.extf %4 : f16 to f32
                %6 = arith.mulf %2, %5 fastmath<contract> : f32
                %7 = arith.addf %0, %6 fastmath<contract> : f32
                memref.store %7, %alloca[%c0, %arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<1x64x64xf32, #gpu.address_space<private>>
              } {schedule.axis = #schedule.axis<"k" of "P">, schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.axis = #schedule.axis<"n" of "P">, schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x128>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%c0, %arg7, %arg8] : memref<1x64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map2(%arg6, %arg8)
              memref.store %0, %arg2[%arg7, %1] {schedule.reduce_add} : memref<64x128xf32>
            } {schedule.axis = #schedule.axis<"b.inner" of "D">}
          } {schedule.axis = #schedule.axis<"a.inner" of "D">}
        } {schedule.axis = #schedule.axis<"b.outer" of "D">, schedule.bind = #schedule.thread<threadIdx.y>}
      } {schedule.axis = #schedule.axis<"a.outer" of "D">, schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = #schedule.specialize<producer = 24, consumer = 240>}
    } {schedule.axis = #schedule.axis<"jo" of "D">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.axis = #schedule.axis<"threadIdx.x" of "D">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1, d2) -> (d0 * 1024 + d1 * 256 + d2)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map2 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map4 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
func.func @main(%arg0: memref<128x128xf16> {te.dtype = f16, te.name = "X"}, %arg1: memref<64x128xf16> {te.dtype = f16, te.name = "Y"}, %arg2: memref<64x128xf32> {te.dtype = f32, te.name = "D", te.output}) attributes {schedule.bound = [#schedule.thread<blockIdx.x>, #schedule.thread<threadIdx.x>, #schedule.thread<threadIdx.y>]} {
  %c32 = arith.constant 32 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c256 = arith.constant 256 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c8 step %c1 {
    scf.for %arg4 = %c0 to %c256 step %c1 {
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %0 = affine.apply #map(%arg3, %arg5, %arg4)
        %1 = arith.remui %0, %c128 : index
        %2 = arith.divui %0, %c128 : index
        %cst = arith.constant 0.000000e+00 : f32
        memref.store %cst, %arg2[%2, %1] : memref<64x128xf32>
      } {schedule.axis = #schedule.axis<"zeros" of "D">, schedule.unroll}
    } {schedule.axis = #schedule.axis<"zeros.inner" of "D">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"zeros.outer" of "D">, schedule.bind = #schedule.thread<blockIdx.x>}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c1 step %c1 {
      %alloc = memref.alloc() {te.stage = "X.shared"} : memref<128x128xf16, #gpu.address_space<workgroup>>
      scf.for %arg5 = %c0 to %c128 step %c1 {
        scf.for %arg6 = %c0 to %c128 step %c1 {
          %0 = memref.load %arg0[%arg5, %arg6] : memref<128x128xf16>
          memref.store %0, %alloc[%arg5, %arg6] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x128xf16, #gpu.address_space<workgroup>>
        } {schedule.axis = #schedule.axis<"j" of "X.shared">}
      } {schedule.axis = #schedule.axis<"i" of "X.shared">}
      scf.for %arg5 = %c0 to %c1 step %c1 {
        %alloc_0 = memref.alloc() {schedule.pipelined, te.stage = "Y.shared"} : memref<64x128xf16, #gpu.address_space<workgroup>>
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c128 step %c1 {
            %0 = memref.load %arg1[%arg6, %arg7] : memref<64x128xf16>
            memref.store %0, %alloc_0[%arg6, %arg7] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x128xf16, #gpu.address_space<workgroup>>
          } {schedule.axis = #schedule.axis<"j" of "Y.shared">}
        } {schedule.axis = #schedule.axis<"i" of "Y.shared">}
        %alloc_1 = memref.alloc() {schedule.pipelined, te.stage = "R"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %alloca = memref.alloca() {te.stage = "S"} : memref<64x64xf32, #gpu.address_space<private>>
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              %cst = arith.constant 0.000000e+00 : f32
              memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.axis = #schedule.axis<"n" of "S">}
          } {schedule.axis = #schedule.axis<"m" of "S">}
          // expected-error @below {{wgmma of stage 'S': expected 2 warpgroups along threadIdx.y, got axis 'D.b.outer'}}
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              scf.for %arg9 = %c0 to %c128 step %c1 {
                %0 = memref.load %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                %1 = affine.apply #map1(%arg7, %arg6)
                %2 = memref.load %alloc[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<128x128xf16, #gpu.address_space<workgroup>>
                %3 = arith.extf %2 : f16 to f32
                %4 = memref.load %alloc_0[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x128xf16, #gpu.address_space<workgroup>>
                %5 = arith.extf %4 : f16 to f32
                %6 = arith.mulf %3, %5 fastmath<contract> : f32
                %7 = arith.addf %0, %6 fastmath<contract> : f32
                memref.store %7, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              } {schedule.axis = #schedule.axis<"k" of "S">, schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.axis = #schedule.axis<"n" of "S">, schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.axis = #schedule.axis<"m" of "S">, schedule.instruction = #schedule.instruction<wgmma, 64x64x128>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
              %cst = arith.constant 0.000000e+00 : f32
              %1 = arith.maximumf %0, %cst fastmath<contract> : f32
              %2 = arith.truncf %1 : f32 to f16
              %3 = affine.apply #map2(%arg6, %arg7)
              memref.store %2, %alloc_1[%3, %arg8] : memref<128x64xf16, #gpu.address_space<workgroup>>
            } {schedule.axis = #schedule.axis<"i1" of "R">}
          } {schedule.axis = #schedule.axis<"i0.inner" of "R">}
        } {schedule.axis = #schedule.axis<"i0.outer" of "R">, schedule.bind = #schedule.thread<threadIdx.y>}
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %alloca = memref.alloca() {te.stage = "P"} : memref<1x64x32xf32, #gpu.address_space<private>>
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c32 step %c1 {
              %cst = arith.constant 0.000000e+00 : f32
              memref.store %cst, %alloca[%c0, %arg7, %arg8] : memref<1x64x32xf32, #gpu.address_space<private>>
            } {schedule.axis = #schedule.axis<"n" of "P">}
          } {schedule.axis = #schedule.axis<"m" of "P">}
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c32 step %c1 {
              scf.for %arg9 = %c0 to %c128 step %c1 {
                %0 = memref.load %alloca[%c0, %arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<1x64x32xf32, #gpu.address_space<private>>
                %1 = memref.load %alloc_1[%arg9, %arg7] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
                %2 = arith.extf %1 : f16 to f32
                %3 = affine.apply #map3(%arg8, %arg6)
                %4 = memref.load %alloc[%arg9, %3] {schedule.operand = #schedule.operand<b>} : memref<128x128xf16, #gpu.address_space<workgroup>>
                %5 = arith.extf %4 : f16 to f32
                %6 = arith.mulf %2, %5 fastmath<contract> : f32
                %7 = arith.addf %0, %6 fastmath<contract> : f32
                memref.store %7, %alloca[%c0, %arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<1x64x32xf32, #gpu.address_space<private>>
              } {schedule.axis = #schedule.axis<"k" of "P">, schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.axis = #schedule.axis<"n" of "P">, schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x32x128>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c32 step %c1 {
              %0 = memref.load %alloca[%c0, %arg7, %arg8] : memref<1x64x32xf32, #gpu.address_space<private>>
              %1 = affine.apply #map4(%arg6, %arg8)
              memref.store %0, %arg2[%arg7, %1] {schedule.reduce_add} : memref<64x128xf32>
            } {schedule.axis = #schedule.axis<"b.inner" of "D">}
          } {schedule.axis = #schedule.axis<"a.inner" of "D">}
        } {schedule.axis = #schedule.axis<"b.outer" of "D">, schedule.bind = #schedule.thread<threadIdx.y>}
      } {schedule.axis = #schedule.axis<"a.outer" of "D">, schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = #schedule.specialize<producer = 24, consumer = 240>}
    } {schedule.axis = #schedule.axis<"jo" of "D">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.axis = #schedule.axis<"threadIdx.x" of "D">, schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
