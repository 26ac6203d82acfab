// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops))' -verify-diagnostics

// Z has two images, but only pixels of the second are stored.
#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<()[s0] -> ((s0 floordiv 13) floordiv 5)>
#map2 = affine_map<()[s0] -> ((s0 floordiv 13) mod 5)>
#map3 = affine_map<()[s0] -> (s0 mod 13)>
#map4 = affine_map<(d0, d1) -> (d0 * 16 + d1)>
#map5 = affine_map<(d0, d1) -> (d1)>
#map6 = affine_map<(d0, d1) -> (((d0 * 64 + d1) floordiv 13) floordiv 5)>
#map7 = affine_map<(d0, d1) -> (((d0 * 64 + d1) floordiv 13) mod 5)>
#map8 = affine_map<(d0, d1) -> ((d0 * 64 + d1) mod 13)>
module {
  func.func @main(%arg0: memref<2x5x13x64xf16> {te.dtype = f16, te.name = "X"}, %arg1: memref<64x64x1x1xf16> {te.dtype = f16, te.name = "W"}, %arg2: memref<2x5x13x64xf16> {te.dtype = f16, te.name = "Z", te.output}) attributes {schedule.bound = [#schedule.thread<blockIdx.x>, #schedule.thread<blockIdx.y>, #schedule.thread<threadIdx.x>, #schedule.thread<threadIdx.y>]} {
    %c2 = arith.constant 2 : index
    %c130 = arith.constant 130 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c4 = arith.constant 4 : index
    %c3 = arith.constant 3 : index
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    scf.for %arg3 = %c0 to %c128 step %c1 {
      scf.for %arg4 = %c0 to %c3 step %c1 {
        scf.for %arg5 = %c0 to %c4 step %c1 {
          %alloc = memref.alloc() {te.stage = "Z.shared"} : memref<64x16xf16, #gpu.address_space<workgroup>>
          scf.for %arg6 = %c0 to %c1 step %c1 {
            %alloca = memref.alloca() {te.stage = "Y_product.pad"} : memref<64x16xf32, #gpu.address_space<private>>
            scf.for %arg7 = %c0 to %c64 step %c1 {
              scf.for %arg8 = %c0 to %c16 step %c1 {
                %cst = arith.constant 0.000000e+00 : f32
                memref.store %cst, %alloca[%arg7, %arg8] : memref<64x16xf32, #gpu.address_space<private>>
              } {schedule.axis = #schedule.axis<"n" of "Y_product.pad">}
            } {schedule.axis = #schedule.axis<"m" of "Y_product.pad">}
            scf.for %arg7 = %c0 to %c1 step %c1 {
              %alloc_0 = memref.alloc() {schedule.pipelined, te.stage = "X_matrix.pad"} : memref<64x64xf16, #gpu.address_space<workgroup>>
              scf.for %arg8 = %c0 to %c64 step %c1 {
                scf.for %arg9 = %c0 to %c64 step %c1 {
                  %0 = affine.apply #map(%arg4, %arg8)
                  %1 = arith.cmpi slt, %0, %c130 : index
                  %2 = scf.if %1 -> (f16) {
                    %3 = affine.apply #map1()[%0]
                    %4 = affine.apply #map2()[%0]
                    %5 = affine.apply #map3()[%0]
                    %6 = memref.load %arg0[%3, %4, %5, %arg9] : memref<2x5x13x64xf16>
                    scf.yield %6 : f16
                  } else {
                    %cst = arith.constant 0.000000e+00 : f16
                    scf.yield %cst : f16
                  }
                  memref.store %2, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
                } {schedule.axis = #schedule.axis<"k" of "X_matrix.pad">}
              } {schedule.axis = #schedule.axis<"i0" of "X_matrix.pad">}
              %alloc_1 = memref.alloc() {schedule.pipelined, te.stage = "W_windows.pad"} : memref<16x64xf16, #gpu.address_space<workgroup>>
              scf.for %arg8 = %c0 to %c16 step %c1 {
                scf.for %arg9 = %c0 to %c64 step %c1 {
                  %0 = affine.apply #map4(%arg5, %arg8)
                  %1 = memref.load %arg1[%0, %arg9, %c0, %c0] : memref<64x64x1x1xf16>
                  memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<16x64xf16, #gpu.address_space<workgroup>>
                } {schedule.axis = #schedule.axis<"k" of "W_windows.pad">}
              } {schedule.axis = #schedule.axis<"i1" of "W_windows.pad">}
              scf.for %arg8 = %c0 to %c64 step %c1 {
                scf.for %arg9 = %c0 to %c16 step %c1 {
                  scf.for %arg10 = %c0 to %c64 step %c1 {
                    %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x16xf32, #gpu.address_space<private>>
                    %1 = memref.load %alloc_0[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x64xf16, #gpu.address_space<workgroup>>
                    %2 = arith.extf %1 : f16 to f32
                    %3 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<16x64xf16, #gpu.address_space<workgroup>>
                    %4 = arith.extf %3 : f16 to f32
                    %5 = arith.mulf %2, %4 fastmath<contract> : f32
                    %6 = arith.addf %0, %5 fastmath<contract> : f32
                    memref.store %6, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x16xf32, #gpu.address_space<private>>
                  } {schedule.axis = #schedule.axis<"k" of "Y_product.pad">, schedule.matrix_axis = #schedule.matrix_axis<k>}
                } {schedule.axis = #schedule.axis<"n" of "Y_product.pad">, schedule.matrix_axis = #schedule.matrix_axis<n>}
              } {schedule.axis = #schedule.axis<"m" of "Y_product.pad">, schedule.instruction = #schedule.instruction<wgmma, 64x16x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
            } {schedule.axis = #schedule.axis<"k.outer" of "Y_product.pad">, schedule.pipeline = #schedule.pipeline<stages = 8>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 240>}
            scf.for %arg7 = %c0 to %c64 step %c1 {
              scf.for %arg8 = %c0 to %c16 step %c1 {
                %0 = affine.apply #map(%arg4, %arg7)
                %1 = arith.cmpi slt, %0, %c130 : index
                scf.if %1 {
                  %2 = affine.apply #map5(%arg4, %arg7)
                  %3 = affine.apply #map5(%arg5, %arg8)
                  %4 = memref.load %alloca[%2, %3] : memref<64x16xf32, #gpu.address_space<private>>
                  %cst = arith.constant 0.000000e+00 : f32
                  %5 = arith.addf %4, %cst fastmath<contract> : f32
                  %6 = arith.truncf %5 : f32 to f16
                  memref.store %6, %alloc[%arg7, %arg8] : memref<64x16xf16, #gpu.address_space<workgroup>>
                }
              } {schedule.axis = #schedule.axis<"i3.c" of "Z.shared">}
            } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.c.inner" of "Z.shared">}
          } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.c.outer" of "Z.shared">, schedule.bind = #schedule.thread<threadIdx.y>}
          scf.for %arg6 = %c0 to %c64 step %c1 {
            scf.for %arg7 = %c0 to %c16 step %c1 {
              %0 = affine.apply #map(%arg4, %arg6)
              %1 = arith.cmpi slt, %0, %c130 : index
              %2 = affine.apply #map6(%arg4, %arg6)
              %3 = arith.cmpi sge, %2, %c1 : index
              %4 = arith.andi %1, %3 : i1
              scf.if %4 {
                %5 = memref.load %alloc[%arg6, %arg7] : memref<64x16xf16, #gpu.address_space<workgroup>>
                %6 = affine.apply #map7(%arg4, %arg6)
                %7 = affine.apply #map8(%arg4, %arg6)
                %8 = affine.apply #map4(%arg5, %arg7)
                // expected-error @+1 {{copy_by: stage 'Z': expected zeros where the tensor ends and nowhere else, as TMA fills them in}}
                memref.store %5, %arg2[%2, %6, %7, %8] {schedule.copy = #schedule.copy<by = tma, swizzle = 32, columns = 16>} : memref<2x5x13x64xf16>
              }
            } {schedule.axis = #schedule.axis<"i3.inner" of "Z">}
          } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.inner" of "Z">}
        } {schedule.axis = #schedule.axis<"i3.outer" of "Z">, schedule.bind = #schedule.thread<blockIdx.x>}
      } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.outer" of "Z">, schedule.bind = #schedule.thread<blockIdx.y>}
    } {schedule.axis = #schedule.axis<"threadIdx.x" of "Z">, schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 12, raster = grouped, group = 2>}
    return
  }
}
