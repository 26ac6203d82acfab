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
    %alloc = memref.alloc() {te.stage = "C.shared"} : memref<128x64xf32, #gpu.address_space<workgroup>>
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f32
          memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
        }
      }
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c128 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg0[%arg8, %0] : memref<128x128xf16>
            memref.store %1, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
          }
        }
        %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg1[%arg8, %0] : memref<64x128xf16>
            memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg8, %arg6)
              %2 = memref.load %alloc_0[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = affine.apply #map(%arg6, %arg7)
          %2 = arith.cmpi slt, %arg8, %arg7 : index
          scf.if %2 {
          } else {
            // expected-error @below {{wgmma: stage 'C.shared' of the accumulator of 'P': expected elements that are stored where a condition holds, got a store where one does not}}
            memref.store %0, %alloc[%1, %arg8] : memref<128x64xf32, #gpu.address_space<workgroup>>
          }
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map2 = affine_map<(d0) -> ((d0 + 1) mod 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<128x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg5 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f32
          memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
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
        %alloc_0 = memref.alloc() {te.stage = "B.shared"} : memref<64x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg6, %arg8)
            %1 = memref.load %arg1[%arg7, %0] : memref<64x128xf16>
            memref.store %1, %alloc_0[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg7, %arg5)
              %2 = memref.load %alloc[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_0[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = affine.apply #map2(%arg7)
          %2 = memref.load %alloca[%arg6, %1] : memref<64x64xf32, #gpu.address_space<private>>
          %3 = arith.addf %0, %2 : f32
          %4 = affine.apply #map(%arg5, %arg6)
          // expected-error @below {{wgmma: stage 'C' of the accumulator of 'P': expected elements that are computed each of the accumulator's element at its own place, and of what is in global memory}}
          memref.store %3, %arg2[%4, %arg7] : memref<128x64xf32>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %alloc = memref.alloc() {te.stage = "C.shared"} : memref<128x64xi16, #gpu.address_space<workgroup>>
    scf.for %arg5 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f32
          memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
        }
      }
      scf.for %arg6 = %c0 to %c2 step %c1 {
        %alloc_0 = memref.alloc() {te.stage = "A.shared"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c128 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg6, %arg8)
            %1 = memref.load %arg0[%arg7, %0] : memref<128x128xf16>
            memref.store %1, %alloc_0[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
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
              %0 = memref.load %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg7, %arg5)
              %2 = memref.load %alloc_0[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_1[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = arith.fptosi %0 : f32 to i16
          %2 = affine.apply #map(%arg5, %arg6)
          // expected-error @below {{wgmma: stage 'C.shared' of the accumulator of 'P': expected elements of f32, f16, bf16 or i32, of f8E4M3FN in registers, or of 8 bits in shared memory, got 'i16'}}
          memref.store %1, %alloc[%2, %arg7] : memref<128x64xi16, #gpu.address_space<workgroup>>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %alloc = memref.alloc() {te.stage = "C.shared"} : memref<64x128xi8, #gpu.address_space<workgroup>>
    scf.for %arg5 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f32
          memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
        }
      }
      scf.for %arg6 = %c0 to %c2 step %c1 {
        %alloc_0 = memref.alloc() {te.stage = "A.shared"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c128 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg6, %arg8)
            %1 = memref.load %arg0[%arg7, %0] : memref<128x128xf16>
            memref.store %1, %alloc_0[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
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
              %0 = memref.load %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg7, %arg5)
              %2 = memref.load %alloc_0[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_1[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = arith.fptosi %0 : f32 to i8
          %2 = affine.apply #map(%arg5, %arg6)
          // expected-error @below {{wgmma: stage 'C.shared' of the accumulator of 'P': expected transposed elements of 16 or 32 bits, got 'i8'}}
          memref.store %1, %alloc[%arg7, %2] : memref<64x128xi8, #gpu.address_space<workgroup>>
        }
      }
    } {schedule.bind = #schedule.thread<threadIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f32
          memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
        }
      }
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c128 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg0[%arg8, %0] : memref<128x128xf16>
            memref.store %1, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
          }
        }
        %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg1[%arg8, %0] : memref<64x128xf16>
            memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg8, %arg6)
              %2 = memref.load %alloc_0[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = arith.subf %0, %0 : f32
          %2 = arith.cmpi slt, %arg7, %arg8 : index
          scf.if %2 {
            // expected-error @below {{wgmma: stage 'P' of the accumulator of 'P': expected elements that are stored anew everywhere, got a condition under which they stay as they were: compute both by te.if_then_else}}
            memref.store %1, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          }
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map2 = affine_map<(d0) -> (-d0 + 63)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<128x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg5 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f32
          memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
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
        %alloc_0 = memref.alloc() {te.stage = "B.shared"} : memref<64x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg6, %arg8)
            %1 = memref.load %arg1[%arg7, %0] : memref<64x128xf16>
            memref.store %1, %alloc_0[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg7, %arg5)
              %2 = memref.load %alloc[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_0[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map2(%arg7)
          %1 = memref.load %alloca[%arg6, %0] : memref<64x64xf32, #gpu.address_space<private>>
          %2 = affine.apply #map(%arg5, %arg6)
          // expected-error @below {{wgmma: stage 'C' of the accumulator of 'P': expected loops that go through all 64 rows and 64 columns of a warpgroup's accumulator}}
          memref.store %1, %arg2[%2, %arg7] : memref<128x64xf32>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
