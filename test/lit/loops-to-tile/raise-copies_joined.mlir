// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops))' | FileCheck %s

// Rows are pixels of images, one after the other: three dimensions of X are one of the box, and zeros are filled in
// where its 130 pixels end. Of W, whose last two dimensions are of one element, the columns are the dimension before.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<2x5x13x64xf16> {{{[^}]*}}}, %[[W:[a-z0-9]+]]: memref<64x64x1x1xf16>
// CHECK: tile.load %[[X]][%{{.*}}, %{{.*}}] box [64, 64] as [130, 64] strides [64, 1] steps [1, 1] {te.stage = "X_windows.pad"} : memref<2x5x13x64xf16> -> <64x64xf16, swizzle = 128>
// CHECK: tile.load %[[W]][%{{.*}}, %{{.*}}] box [16, 64] as [64, 64] strides [64, 1] steps [1, 1]
#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<()[s0] -> ((s0 floordiv 13) floordiv 5)>
#map2 = affine_map<()[s0] -> ((s0 floordiv 13) mod 5)>
#map3 = affine_map<()[s0] -> (s0 mod 13)>
#map4 = affine_map<(d0, d1) -> (d0 * 16 + d1)>
#map5 = affine_map<(d0, d1) -> (((d0 * 64 + d1) floordiv 13) floordiv 5)>
#map6 = affine_map<(d0, d1) -> (((d0 * 64 + d1) floordiv 13) mod 5)>
#map7 = affine_map<(d0, d1) -> ((d0 * 64 + d1) mod 13)>
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
          scf.for %arg6 = %c0 to %c1 step %c1 {
            %alloca = memref.alloca() {te.stage = "Y_product.pad"} : memref<64x16xf32, #gpu.address_space<private>>
            scf.for %arg7 = %c0 to %c64 step %c1 {
              scf.for %arg8 = %c0 to %c16 step %c1 {
                %cst = arith.constant 0.000000e+00 : f32
                memref.store %cst, %alloca[%arg7, %arg8] : memref<64x16xf32, #gpu.address_space<private>>
              } {schedule.axis = #schedule.axis<"n" of "Y_product.pad">}
            } {schedule.axis = #schedule.axis<"m" of "Y_product.pad">}
            scf.for %arg7 = %c0 to %c1 step %c1 {
              %alloc = memref.alloc() {schedule.pipelined, te.stage = "X_windows.pad"} : memref<64x64xf16, #gpu.address_space<workgroup>>
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
                  memref.store %2, %alloc[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
                } {schedule.axis = #schedule.axis<"k" of "X_windows.pad">}
              } {schedule.axis = #schedule.axis<"i0" of "X_windows.pad">}
              %alloc_0 = memref.alloc() {schedule.pipelined, te.stage = "W_matrix.pad"} : memref<16x64xf16, #gpu.address_space<workgroup>>
              scf.for %arg8 = %c0 to %c16 step %c1 {
                scf.for %arg9 = %c0 to %c64 step %c1 {
                  %0 = affine.apply #map4(%arg5, %arg8)
                  %1 = memref.load %arg1[%0, %arg9, %c0, %c0] : memref<64x64x1x1xf16>
                  memref.store %1, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<16x64xf16, #gpu.address_space<workgroup>>
                } {schedule.axis = #schedule.axis<"k" of "W_matrix.pad">}
              } {schedule.axis = #schedule.axis<"i1" of "W_matrix.pad">}
              scf.for %arg8 = %c0 to %c64 step %c1 {
                scf.for %arg9 = %c0 to %c16 step %c1 {
                  scf.for %arg10 = %c0 to %c64 step %c1 {
                    %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x16xf32, #gpu.address_space<private>>
                    %1 = memref.load %alloc[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x64xf16, #gpu.address_space<workgroup>>
                    %2 = arith.extf %1 : f16 to f32
                    %3 = memref.load %alloc_0[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<16x64xf16, #gpu.address_space<workgroup>>
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
                %2 = affine.apply #map5(%arg4, %arg7)
                %3 = arith.cmpi slt, %2, %c2 : index
                %4 = arith.andi %1, %3 : i1
                scf.if %4 {
                  %5 = memref.load %alloca[%arg7, %arg8] : memref<64x16xf32, #gpu.address_space<private>>
                  %cst = arith.constant 0.000000e+00 : f32
                  %6 = arith.addf %5, %cst fastmath<contract> : f32
                  %7 = arith.truncf %6 : f32 to f16
                  %8 = affine.apply #map6(%arg4, %arg7)
                  %9 = affine.apply #map7(%arg4, %arg7)
                  %10 = affine.apply #map4(%arg5, %arg8)
                  memref.store %7, %arg2[%2, %8, %9, %10] : memref<2x5x13x64xf16>
                }
              } {schedule.axis = #schedule.axis<"i3.inner" of "Z">}
            } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.inner.inner" of "Z">}
          } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.inner.outer" of "Z">, schedule.bind = #schedule.thread<threadIdx.y>}
        } {schedule.axis = #schedule.axis<"i3.outer" of "Z">, schedule.bind = #schedule.thread<blockIdx.x>}
      } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.outer" of "Z">, schedule.bind = #schedule.thread<blockIdx.y>}
    } {schedule.axis = #schedule.axis<"threadIdx.x" of "Z">, schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 12, raster = grouped, group = 2>}
    return
  }
}
