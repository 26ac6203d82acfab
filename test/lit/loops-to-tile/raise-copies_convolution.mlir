// RUN: tilewright-opt %s --tilewright-pipeline="to=loops" | tilewright-opt --pass-pipeline='builtin.module(func.func(raise-to-tile-ops))' | FileCheck %s

// A convolution of 3 x 3 with stride 2. A box takes every second row and column of the image, 9 x 16 pixels. Two rows of
// the kernel use it: the parts of their matmuls lie over each other. Of W, whose filters are outermost, the box has the
// kernel's rows outermost.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<2x32x32x64xf16> {{{[^}]*}}}, %[[W:[a-z0-9]+]]: memref<64x3x3x64xf16> {{{[^}]*}}}, %[[Y:[a-z0-9]+]]: memref<2x16x16x64xf16>
// CHECK: tile.kernel(%{{.*}}, %{{.*}}, %{{.*}}) cluster [1, 1, 1] warpgroups 2
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} iter_args(%[[BEFORE:.*]] = %
// CHECK: %[[A:.*]] = tile.load %[[X]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] box [1, 9, 16, 64] as [2, 32, 32, 64] strides [65536, 2048, 64, 1] steps [1, 2, 2, 1] {te.stage = "As"} : memref<2x32x32x64xf16> -> <144x64xf16, swizzle = 128>
// CHECK: %[[B:.*]] = tile.load %[[W]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] box [1, 2, 64, 64] as [3, 3, 64, 64] strides [64, 192, 576, 1] steps [1, 2, 1, 1] {te.stage = "Bs"} : memref<64x3x3x64xf16> -> <128x64xf16, swizzle = 128>
// CHECK: %[[A0:.*]] = tile.part %[[A]][%{{.*}}, %{{.*}}] every 8 : <144x64xf16, swizzle = 128> -> <64x64xf16, swizzle = 128>
// CHECK: %[[B0:.*]] = tile.part %[[B]][%{{.*}}, %{{.*}}] : <128x64xf16, swizzle = 128> -> <64x64xf16, swizzle = 128>
// CHECK: %[[A1:.*]] = tile.part %[[A]][%{{.*}}, %{{.*}}] every 8
// CHECK: %[[B1:.*]] = tile.part %[[B]]
// CHECK: %[[FIRST:.*]] = tile.matmul %[[A0]], %[[B0]] into %[[BEFORE]]
// CHECK-NEXT: %[[SECOND:.*]] = tile.matmul %[[A1]], %[[B1]] into %[[FIRST]]
// CHECK-NEXT: scf.yield %[[SECOND]]
// CHECK: %[[MADE:.*]] = tile.map %[[SUM]]
// CHECK: tile.store %[[MADE]] to %[[Y]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] box [1, 4, 16, 64] columns 64 swizzle 128
#map = affine_map<(d0, d1) -> (d0 * 2 + d1 - 1)>
#map1 = affine_map<(d0, d1) -> (d0 * 2 + d1)>
module {
  func.func @main(%arg0: tensor<2x32x32x64xf16> {te.dtype = f16, te.name = "X"}, %arg1: tensor<64x3x3x64xf16> {te.dtype = f16, te.name = "W"}, %arg2: tensor<2x16x16x64xf16> {te.dtype = f16, te.name = "Y", te.output}) -> tensor<2x16x16x64xf16> {
    %As = te.compute "As" (%n: 2, %y: 17, %x: 16, %b: 2, %q: 3, %c: 64) {
      %c2 = arith.constant 2 : index
      %0 = arith.cmpi slt, %n, %c2 : index
      %1 = affine.apply #map(%y, %b)
      %c0 = arith.constant 0 : index
      %2 = arith.cmpi sge, %1, %c0 : index
      %3 = arith.andi %0, %2 : i1
      %c32 = arith.constant 32 : index
      %4 = arith.cmpi slt, %1, %c32 : index
      %5 = arith.andi %3, %4 : i1
      %6 = affine.apply #map(%x, %q)
      %c0_0 = arith.constant 0 : index
      %7 = arith.cmpi sge, %6, %c0_0 : index
      %8 = arith.andi %5, %7 : i1
      %c32_1 = arith.constant 32 : index
      %9 = arith.cmpi slt, %6, %c32_1 : index
      %10 = arith.andi %8, %9 : i1
      %c64 = arith.constant 64 : index
      %11 = arith.cmpi slt, %c, %c64 : index
      %12 = arith.andi %10, %11 : i1
      %13 = scf.if %12 -> (f16) {
        %14 = te.read %arg0[%n, %y * 2 + %b - 1, %x * 2 + %q - 1, %c] : tensor<2x32x32x64xf16>
        scf.yield %14 : f16
      } else {
        %cst = arith.constant 0.000000e+00 : f16
        scf.yield %cst : f16
      }
      te.yield %13 : f16
    } : tensor<2x17x16x2x3x64xf16>
    %Bs = te.compute "Bs" (%b: 2, %q: 3, %r: 2, %f: 64, %c: 64) {
      %c64 = arith.constant 64 : index
      %0 = arith.cmpi slt, %f, %c64 : index
      %1 = affine.apply #map1(%r, %b)
      %c3 = arith.constant 3 : index
      %2 = arith.cmpi slt, %1, %c3 : index
      %3 = arith.andi %0, %2 : i1
      %c64_0 = arith.constant 64 : index
      %4 = arith.cmpi slt, %c, %c64_0 : index
      %5 = arith.andi %3, %4 : i1
      %6 = scf.if %5 -> (f16) {
        %7 = te.read %arg1[%f, %r * 2 + %b, %q, %c] : tensor<64x3x3x64xf16>
        scf.yield %7 : f16
      } else {
        %cst = arith.constant 0.000000e+00 : f16
        scf.yield %cst : f16
      }
      te.yield %6 : f16
    } : tensor<2x3x2x64x64xf16>
    %P = te.compute "P" (%i0: 2, %i1: 16, %i2: 16, %i3: 64) sum (%r: 2, %phase: 2, %s: 3, %c: 64) {
      %0 = te.read %As[%i0, %i1 + %r, %i2, %phase, %s, %c] : tensor<2x17x16x2x3x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = te.read %Bs[%phase, %s, %r, %i3, %c] : tensor<2x3x2x64x64xf16>
      %3 = arith.extf %2 : f16 to f32
      %4 = arith.mulf %1, %3 fastmath<contract> : f32
      te.yield %4 : f32
    } : tensor<2x16x16x64xf32>
    %made = te.compute "made" (%i0: 2, %i1: 16, %i2: 16, %i3: 64) {
      %0 = te.read %P[%i0, %i1, %i2, %i3] : tensor<2x16x16x64xf32>
      %1 = arith.truncf %0 : f32 to f16
      te.yield %1 : f16
    } : tensor<2x16x16x64xf16>
    %Y = te.compute "Y" (%i0: 2, %i1: 16, %i2: 16, %i3: 64) {
      %0 = te.read %made[%i0, %i1, %i2, %i3] : tensor<2x16x16x64xf16>
      te.yield %0 : f16
    } : tensor<2x16x16x64xf16>
    return %Y : tensor<2x16x16x64xf16>
  }
  schedule.of @main {
    %Y = schedule.stage "Y"
    %i0, %i1, %i2, %i3 = schedule.axes %Y ["i0", "i1", "i2", "i3"] : !schedule.axis, !schedule.axis, !schedule.axis, !schedule.axis
    %i0_outer, %i0_inner = schedule.split %i0 by 1
    %i1_outer, %i1_inner = schedule.split %i1 by 8
    %i2_outer, %i2_inner = schedule.split %i2 by 16
    %i3_outer, %i3_inner = schedule.split %i3 by 64
    schedule.reorder %i0_outer, %i1_outer, %i2_outer, %i3_outer, %i0_inner, %i1_inner, %i2_inner, %i3_inner
    %i0_outer_i1_outer_i2_outer_fused = schedule.fuse %i0_outer, %i1_outer, %i2_outer
    schedule.bind %i0_outer_i1_outer_i2_outer_fused to <blockIdx.y>
    schedule.bind %i3_outer to <blockIdx.x>
    schedule.env_threads %Y on <threadIdx.x> extent 128
    %made = schedule.stage "made"
    schedule.set_scope %made to <shared>
    schedule.compute_at %made at %Y, %i3_outer
    schedule.copy_by <tma> %Y swizzle 128 columns 64
    %i0_0, %i1_1, %i2_2, %i3_3 = schedule.axes %made ["i0", "i1", "i2", "i3"] : !schedule.axis, !schedule.axis, !schedule.axis, !schedule.axis
    %i1_outer_4, %i1_inner_5 = schedule.split %i1_1 into 2
    schedule.reorder %i1_outer_4, %i0_0, %i1_inner_5, %i2_2, %i3_3
    schedule.bind %i1_outer_4 to <threadIdx.y>
    %P = schedule.stage "P"
    schedule.set_scope %P to <local>
    schedule.compute_at %P at %made, %i1_outer_4
    %i0_6, %i1_7, %i2_8, %i3_9 = schedule.axes %P ["i0", "i1", "i2", "i3"] : !schedule.axis, !schedule.axis, !schedule.axis, !schedule.axis
    %r, %phase, %s, %c = schedule.reduce_axes %P ["r", "phase", "s", "c"] : !schedule.axis, !schedule.axis, !schedule.axis, !schedule.axis
    %c_outer, %c_inner = schedule.split %c by 64
    schedule.reorder %phase, %s, %c_outer, %r, %i0_6, %i1_7, %i2_8, %i3_9, %c_inner
    %phase_s_c_outer_fused = schedule.fuse %phase, %s, %c_outer
    schedule.tensorize %i0_6 by "wgmma" {
      func.func @describe(%arg0: tensor<1x4x16x64xf16> {te.dtype = f16, te.name = "a"}, %arg1: tensor<64x64xf16> {te.dtype = f16, te.name = "b"}, %arg2: tensor<1x4x16x64xf32> {te.dtype = f32, te.name = "c", te.output}) -> tensor<1x4x16x64xf32> {
        %c_10 = te.compute "c" (%i0_11 as "i0": 1, %i1_12 as "i1": 4, %i2_13 as "i2": 16, %i3_14 as "i3": 64) sum (%k: 64) {
          %0 = te.read %arg0[%i0_11, %i1_12, %i2_13, %k] : tensor<1x4x16x64xf16>
          %1 = arith.extf %0 : f16 to f32
          %2 = te.read %arg1[%i3_14, %k] : tensor<64x64xf16>
          %3 = arith.extf %2 : f16 to f32
          %4 = arith.mulf %1, %3 fastmath<contract> : f32
          te.yield %4 : f32
        } : tensor<1x4x16x64xf32>
        return %c_10 : tensor<1x4x16x64xf32>
      }
      func.func @reset(%arg0: memref<1x4x16x64xf16> {te.dtype = f16, te.name = "a"}, %arg1: memref<64x64xf16> {te.dtype = f16, te.name = "b"}, %arg2: memref<1x4x16x64xf32> {te.dtype = f32, te.name = "c", te.output}) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c1_10 = arith.constant 1 : index
        scf.for %arg3 = %c0 to %c1_10 step %c1 {
          %c0_11 = arith.constant 0 : index
          %c1_12 = arith.constant 1 : index
          %c4 = arith.constant 4 : index
          scf.for %arg4 = %c0_11 to %c4 step %c1_12 {
            %c0_13 = arith.constant 0 : index
            %c1_14 = arith.constant 1 : index
            %c16 = arith.constant 16 : index
            scf.for %arg5 = %c0_13 to %c16 step %c1_14 {
              %c0_15 = arith.constant 0 : index
              %c1_16 = arith.constant 1 : index
              %c64 = arith.constant 64 : index
              scf.for %arg6 = %c0_15 to %c64 step %c1_16 {
                %cst = arith.constant 0.000000e+00 : f32
                memref.store %cst, %arg2[%arg3, %arg4, %arg5, %arg6] : memref<1x4x16x64xf32>
              } {schedule.axis = #schedule.axis<"n">}
            } {schedule.axis = #schedule.axis<"m2">}
          } {schedule.axis = #schedule.axis<"m1">}
        } {schedule.axis = #schedule.axis<"m0">}
        return
      }
      func.func @update(%arg0: memref<1x4x16x64xf16> {te.dtype = f16, te.name = "a"}, %arg1: memref<64x64xf16> {te.dtype = f16, te.name = "b"}, %arg2: memref<1x4x16x64xf32> {te.dtype = f32, te.name = "c", te.output}) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c1_10 = arith.constant 1 : index
        scf.for %arg3 = %c0 to %c1_10 step %c1 {
          %c0_11 = arith.constant 0 : index
          %c1_12 = arith.constant 1 : index
          %c4 = arith.constant 4 : index
          scf.for %arg4 = %c0_11 to %c4 step %c1_12 {
            %c0_13 = arith.constant 0 : index
            %c1_14 = arith.constant 1 : index
            %c16 = arith.constant 16 : index
            scf.for %arg5 = %c0_13 to %c16 step %c1_14 {
              %c0_15 = arith.constant 0 : index
              %c1_16 = arith.constant 1 : index
              %c64 = arith.constant 64 : index
              scf.for %arg6 = %c0_15 to %c64 step %c1_16 {
                %c0_17 = arith.constant 0 : index
                %c1_18 = arith.constant 1 : index
                %c64_19 = arith.constant 64 : index
                scf.for %arg7 = %c0_17 to %c64_19 step %c1_18 {
                  %0 = memref.load %arg2[%arg3, %arg4, %arg5, %arg6] : memref<1x4x16x64xf32>
                  %1 = memref.load %arg0[%arg3, %arg4, %arg5, %arg7] : memref<1x4x16x64xf16>
                  %2 = arith.extf %1 : f16 to f32
                  %3 = memref.load %arg1[%arg6, %arg7] : memref<64x64xf16>
                  %4 = arith.extf %3 : f16 to f32
                  %5 = arith.mulf %2, %4 fastmath<contract> : f32
                  %6 = arith.addf %0, %5 fastmath<contract> : f32
                  memref.store %6, %arg2[%arg3, %arg4, %arg5, %arg6] : memref<1x4x16x64xf32>
                } {schedule.axis = #schedule.axis<"k">}
              } {schedule.axis = #schedule.axis<"n">}
            } {schedule.axis = #schedule.axis<"m2">}
          } {schedule.axis = #schedule.axis<"m1">}
        } {schedule.axis = #schedule.axis<"m0">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
        return
      }
    }
    %As = schedule.stage "As"
    schedule.set_scope %As to <shared>
    schedule.compute_at %As at %P, %phase_s_c_outer_fused
    schedule.copy_by <tma> %As swizzle 128
    %Bs = schedule.stage "Bs"
    schedule.set_scope %Bs to <shared>
    schedule.compute_at %Bs at %P, %phase_s_c_outer_fused
    schedule.copy_by <tma> %Bs swizzle 128
    schedule.software_pipeline %phase_s_c_outer_fused depth 6
    schedule.specialize %phase_s_c_outer_fused producer 40 consumer 232
    schedule.persistent %Y on 132 <grouped> by 8
  }
}
