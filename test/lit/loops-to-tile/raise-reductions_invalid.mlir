// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg5 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "C"} : memref<64x64xf16, #gpu.address_space<private>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f16
          memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf16, #gpu.address_space<private>>
        }
      }
      scf.for %arg6 = %c0 to %c2 step %c1 {
        %alloc = memref.alloc() {te.stage = "A.shared"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c128 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg6, %arg8)
            %1 = memref.load %arg0[%arg7, %0] : memref<128x128xf16>
            memref.store %1, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
          }
        }
        %alloc_1 = memref.alloc() {te.stage = "B.shared"} : memref<64x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg6, %arg8)
            %1 = memref.load %arg1[%arg7, %0] : memref<64x128xf16>
            memref.store %1, %alloc_1[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf16, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg7, %arg5)
              %2 = memref.load %alloc[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = memref.load %alloc_1[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %4 = arith.mulf %2, %3 : f16
              %5 = arith.addf %0, %4 : f16
              memref.store %5, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf16, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>}
      %alloca_0 = memref.alloca() {te.stage = "R.local"} : memref<64xf16, #gpu.address_space<private>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca_0[%arg6] : memref<64xf16, #gpu.address_space<private>>
          %1 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf16, #gpu.address_space<private>>
          %2 = arith.maximumf %0, %1 : f16
          // expected-error @below {{wgmma: stage 'R.local' of the accumulator of 'C': expected rows of f32 or i32 to reduce, got 'f16'}}
          memref.store %2, %alloca_0[%arg6] : memref<64xf16, #gpu.address_space<private>>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<64x128xbf16> {te.name = "A"}, %arg1: memref<64x128xbf16> {te.name = "B"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %alloca = memref.alloca() {te.stage = "C"} : memref<64x64xf32, #gpu.address_space<private>>
    scf.for %arg6 = %c0 to %c64 step %c1 {
      scf.for %arg7 = %c0 to %c64 step %c1 {
        %cst = arith.constant 0.000000e+00 : f32
        memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
      }
    }
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "A.shared"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg6, %arg8)
          %1 = memref.load %arg0[%arg7, %0] : memref<64x128xbf16>
          memref.store %1, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
        }
      }
      %alloc_1 = memref.alloc() {te.stage = "B.shared"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg6, %arg8)
          %1 = memref.load %arg1[%arg7, %0] : memref<64x128xbf16>
          memref.store %1, %alloc_1[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            %1 = memref.load %alloc[%arg7, %arg9] {schedule.operand = #schedule.operand<a>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            %2 = arith.extf %1 : bf16 to f32
            %3 = memref.load %alloc_1[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            %4 = arith.extf %3 : bf16 to f32
            %5 = arith.mulf %2, %4 : f32
            %6 = arith.addf %0, %5 : f32
            memref.store %6, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
          } {schedule.matrix_axis = #schedule.matrix_axis<k>}
        } {schedule.matrix_axis = #schedule.matrix_axis<n>}
      } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    %alloca_0 = memref.alloca() {te.stage = "R.local"} : memref<64xf32, #gpu.address_space<private>>
    scf.for %arg6 = %c0 to %c64 step %c1 {
      scf.for %arg7 = %c0 to %c64 step %c1 {
        %0 = memref.load %alloca_0[%arg6] : memref<64xf32, #gpu.address_space<private>>
        %1 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
        %2 = memref.load %alloca[%arg7, %arg6] : memref<64x64xf32, #gpu.address_space<private>>
        %3 = arith.addf %1, %2 : f32
        %4 = arith.maximumf %0, %3 : f32
        // expected-error @below {{wgmma: stage 'R.local' of the accumulator of 'C': expected a reduction of each row of a warpgroup's accumulator to one element}}
        memref.store %4, %alloca_0[%arg6] : memref<64xf32, #gpu.address_space<private>>
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg1: memref<128x128xbf16> {te.name = "A"}, %arg2: memref<64x128xbf16> {te.name = "B"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c128 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "C"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f32
          memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
        }
      }
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %alloc = memref.alloc() {te.stage = "A.shared"} : memref<128x64xbf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c128 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg1[%arg8, %0] : memref<128x128xbf16>
            memref.store %1, %alloc[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
          }
        }
        %alloc_1 = memref.alloc() {te.stage = "B.shared"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg2[%arg8, %0] : memref<64x128xbf16>
            memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg8, %arg6)
              %2 = memref.load %alloc[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : bf16 to f32
              %4 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : bf16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>}
      %alloca_0 = memref.alloca() {te.stage = "R.local"} : memref<64xf32, #gpu.address_space<private>>
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca_0[%arg7] : memref<64xf32, #gpu.address_space<private>>
          %1 = memref.load %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          %2 = arith.maximumf %0, %1 : f32
          // expected-error @below {{wgmma: stage 'R.local' of the accumulator of 'C': expected a reduction that begins with a constant}}
          memref.store %2, %alloca_0[%arg7] : memref<64xf32, #gpu.address_space<private>>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
