// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops))' | FileCheck %s

// A tile has all pixels of four images: these, their rows and columns are one dimension.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<16x4x4x64xf16>
// CHECK-SAME: %[[Z:[a-z0-9]+]]: memref<16x4x4x64xf16> {{{[^}]*}}te.output}
// CHECK: tile.load %[[X]][%{{.*}}, %{{.*}}] box [64, 64] as [256, 64] strides [64, 1]
// CHECK: tile.store %{{.*}} to %[[Z]][%{{.*}}, %{{.*}}] box [64, 16] as [256, 64] strides [64, 1]
#map = affine_map<(d0, d1) -> (d0 * 4 + (d1 floordiv 4) floordiv 4)>
#map1 = affine_map<(d0) -> ((d0 floordiv 4) mod 4)>
#map2 = affine_map<(d0) -> (d0 mod 4)>
#map3 = affine_map<(d0, d1) -> (d0 * 16 + d1)>
module {
  func.func @main(%arg0: memref<16x4x4x64xf16> {te.dtype = f16, te.name = "X"}, %arg1: memref<64x64x1x1xf16> {te.dtype = f16, te.name = "W"}, %arg2: memref<16x4x4x64xf16> {te.dtype = f16, te.name = "Z", te.output}) attributes {schedule.bound = [#schedule.thread<blockIdx.x>, #schedule.thread<blockIdx.y>, #schedule.thread<threadIdx.x>, #schedule.thread<threadIdx.y>]} {
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    scf.for %arg3 = %c0 to %c128 step %c1 {
      scf.for %arg4 = %c0 to %c4 step %c1 {
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
                  %1 = affine.apply #map1(%arg8)
                  %2 = affine.apply #map2(%arg8)
                  %3 = memref.load %arg0[%0, %1, %2, %arg9] : memref<16x4x4x64xf16>
                  memref.store %3, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
                } {schedule.axis = #schedule.axis<"k" of "X_matrix.pad">}
              } {schedule.axis = #schedule.axis<"i0" of "X_matrix.pad">}
              %alloc_1 = memref.alloc() {schedule.pipelined, te.stage = "W_windows.pad"} : memref<16x64xf16, #gpu.address_space<workgroup>>
              scf.for %arg8 = %c0 to %c16 step %c1 {
                scf.for %arg9 = %c0 to %c64 step %c1 {
                  %0 = affine.apply #map3(%arg5, %arg8)
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
                %0 = memref.load %alloca[%arg7, %arg8] : memref<64x16xf32, #gpu.address_space<private>>
                %cst = arith.constant 0.000000e+00 : f32
                %1 = arith.addf %0, %cst fastmath<contract> : f32
                %2 = arith.truncf %1 : f32 to f16
                memref.store %2, %alloc[%arg7, %arg8] : memref<64x16xf16, #gpu.address_space<workgroup>>
              } {schedule.axis = #schedule.axis<"i3.c" of "Z.shared">}
            } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.c.inner" of "Z.shared">}
          } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.c.outer" of "Z.shared">, schedule.bind = #schedule.thread<threadIdx.y>}
          scf.for %arg6 = %c0 to %c64 step %c1 {
            scf.for %arg7 = %c0 to %c16 step %c1 {
              %0 = memref.load %alloc[%arg6, %arg7] : memref<64x16xf16, #gpu.address_space<workgroup>>
              %1 = affine.apply #map(%arg4, %arg6)
              %2 = affine.apply #map1(%arg6)
              %3 = affine.apply #map2(%arg6)
              %4 = affine.apply #map3(%arg5, %arg7)
              memref.store %0, %arg2[%1, %2, %3, %4] {schedule.copy = #schedule.copy<by = tma, swizzle = 32, columns = 16>} : memref<16x4x4x64xf16>
            } {schedule.axis = #schedule.axis<"i3.inner" of "Z">}
          } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.inner" of "Z">}
        } {schedule.axis = #schedule.axis<"i3.outer" of "Z">, schedule.bind = #schedule.thread<blockIdx.x>}
      } {schedule.axis = #schedule.axis<"i0.i1.i2.fused.outer" of "Z">, schedule.bind = #schedule.thread<blockIdx.y>}
    } {schedule.axis = #schedule.axis<"threadIdx.x" of "Z">, schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 16, raster = grouped, group = 2>}
    return
  }
}
