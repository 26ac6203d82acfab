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
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c128 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg0[%arg8, %0] : memref<128x128xf16>
            memref.store %1, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
          }
        }
        // expected-error @below {{wgmma of stage 'P': expected operand B in shared memory that its loop's copies fill, got 'B': cache_read it to "shared" and copy it by "tma"}}
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg8, %arg6)
              %2 = memref.load %alloc_0[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %arg1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x128xf16>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map2 = affine_map<(d0) -> (d0 * 2)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
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
        // expected-error @below {{wgmma of stage 'P': expected to sum over elements of buffer 'As' that lie one behind the other}}
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg8, %arg6)
              %2 = affine.apply #map2(%arg10)
              %3 = memref.load %alloc_0[%1, %2] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %4 = arith.extf %3 : f16 to f32
              %5 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %6 = arith.extf %5 : f16 to f32
              %7 = arith.mulf %4, %6 : f32
              %8 = arith.addf %0, %7 : f32
              memref.store %8, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 + d1)>
#map1 = affine_map<()[s0] -> (s0 - 1)>
#map2 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
func.func @main(%arg0: memref<1x8x8x64xf16> {te.name = "X"}) {
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  %c3 = arith.constant 3 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %alloca = memref.alloca() {te.stage = "P"} : memref<1x8x8x64xf32, #gpu.address_space<private>>
    scf.for %arg6 = %c0 to %c3 step %c1 {
      %alloc = memref.alloc() {te.stage = "A"} : memref<1x10x8x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c10 step %c1 {
        scf.for %arg8 = %c0 to %c8 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg6, %arg8)
            %1 = arith.cmpi sge, %arg7, %c1 : index
            %c9 = arith.constant 9 : index
            %2 = arith.cmpi slt, %arg7, %c9 : index
            %3 = arith.andi %1, %2 : i1
            %4 = arith.cmpi sgt, %0, %c0 : index
            %5 = arith.andi %3, %4 : i1
            %6 = arith.cmpi sle, %0, %c8 : index
            %7 = arith.andi %5, %6 : i1
            %8 = scf.if %7 -> (f16) {
              %9 = affine.apply #map1()[%arg7]
              %10 = affine.apply #map1()[%0]
              %11 = memref.load %arg0[%c0, %9, %10, %arg9] : memref<1x8x8x64xf16>
              scf.yield %11 : f16
            } else {
              %cst = arith.constant 0.000000e+00 : f16
              scf.yield %cst : f16
            }
            memref.store %8, %alloc[%c0, %arg7, %arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<1x10x8x64xf16, #gpu.address_space<workgroup>>
          }
        }
      }
      %alloc_0 = memref.alloc() {te.stage = "B"} : memref<3x1x64x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c3 step %c1 {
        scf.for %arg8 = %c0 to %c2 step %c1 {
          // expected-error @below {{wgmma of stage 'P': expected operand A from a multiple of 32 columns of buffer 'A' on, in whole swizzle spans}}
          scf.for %arg9 = %c0 to %c1 step %c1 {
            scf.for %arg10 = %c0 to %c8 step %c1 {
              scf.for %arg11 = %c0 to %c8 step %c1 {
                scf.for %arg12 = %c0 to %c64 step %c1 {
                  %c32 = arith.constant 32 : index
                  scf.for %arg13 = %c0 to %c32 step %c1 {
                    %0 = memref.load %alloca[%c0, %arg10, %arg11, %arg12] {schedule.operand = #schedule.operand<accumulator>} : memref<1x8x8x64xf32, #gpu.address_space<private>>
                    %1 = affine.apply #map(%arg7, %arg10)
                    %2 = affine.apply #map2(%arg13, %arg8)
                    %3 = memref.load %alloc[%arg9, %1, %arg11, %2] {schedule.operand = #schedule.operand<a>} : memref<1x10x8x64xf16, #gpu.address_space<workgroup>>
                    %4 = arith.extf %3 : f16 to f32
                    %5 = memref.load %alloc_0[%arg7, %c0, %arg12, %2] {schedule.operand = #schedule.operand<b>} : memref<3x1x64x64xf16, #gpu.address_space<workgroup>>
                    %6 = arith.extf %5 : f16 to f32
                    %7 = arith.mulf %4, %6 : f32
                    %8 = arith.addf %0, %7 : f32
                    memref.store %8, %alloca[%c0, %arg10, %arg11, %arg12] {schedule.operand = #schedule.operand<accumulator>} : memref<1x8x8x64xf32, #gpu.address_space<private>>
                  } {schedule.matrix_axis = #schedule.matrix_axis<k>}
                } {schedule.matrix_axis = #schedule.matrix_axis<n>}
              } {schedule.matrix_axis = #schedule.matrix_axis<m>}
            } {schedule.matrix_axis = #schedule.matrix_axis<m>}
          } {schedule.axis = #schedule.axis<"m0" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x32>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        }
      }
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main() {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<32x64xf32, #gpu.address_space<private>>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xf16, #gpu.address_space<workgroup>>
        // expected-error @below {{wgmma of stage 'P': expected 64 accumulator rows a warpgroup, got 32: bind the loop over rows of 64 to threadIdx.y}}
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<32x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg8, %arg6)
              %2 = memref.load %alloc_0[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<32x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main() {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xf16, #gpu.address_space<workgroup>>
        // expected-error @below {{wgmma of stage 'P': expected loops that go through the accumulator, 64 rows and 64 columns}}
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c128 step %c1 {
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
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xbf16> {te.name = "B"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c128 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg0[%arg8, %0] : memref<128x128xf16>
            memref.store %1, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
          }
        }
        %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg1[%arg8, %0] : memref<64x128xbf16>
            memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          }
        }
        // expected-error @below {{wgmma of stage 'P': expected types that it has an instruction for, got 'f16' and 'bf16' to 'f32'}}
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg8, %arg6)
              %2 = memref.load %alloc_0[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : bf16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

func.func @main(%arg0: memref<64x128xi8> {te.name = "A"}, %arg1: memref<40x128xi8> {te.name = "B"}) {
  %c40 = arith.constant 40 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %alloca = memref.alloca() {te.stage = "P"} : memref<64x40xi32, #gpu.address_space<private>>
    scf.for %arg7 = %c0 to %c1 step %c1 {
      %alloc_0 = memref.alloc() {te.stage = "As"} : memref<64x128xi8, #gpu.address_space<workgroup>>
      scf.for %arg8 = %c0 to %c64 step %c1 {
        scf.for %arg9 = %c0 to %c128 step %c1 {
          %0 = memref.load %arg0[%arg8, %arg9] : memref<64x128xi8>
          memref.store %0, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x128xi8, #gpu.address_space<workgroup>>
        }
      }
      %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<40x128xi8, #gpu.address_space<workgroup>>
      scf.for %arg8 = %c0 to %c40 step %c1 {
        scf.for %arg9 = %c0 to %c128 step %c1 {
          %0 = memref.load %arg1[%arg8, %arg9] : memref<40x128xi8>
          memref.store %0, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<40x128xi8, #gpu.address_space<workgroup>>
        }
      }
      // expected-error @below {{wgmma of stage 'P': expected a multiple of 16 accumulator columns for 'i8', got 40}}
      scf.for %arg8 = %c0 to %c64 step %c1 {
        scf.for %arg9 = %c0 to %c40 step %c1 {
          scf.for %arg10 = %c0 to %c128 step %c1 {
            %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x40xi32, #gpu.address_space<private>>
            %1 = memref.load %alloc_0[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x128xi8, #gpu.address_space<workgroup>>
            %2 = arith.extsi %1 : i8 to i32
            %3 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<40x128xi8, #gpu.address_space<workgroup>>
            %4 = arith.extsi %3 : i8 to i32
            %5 = arith.muli %2, %4 : i32
            %6 = arith.addi %0, %5 : i32
            memref.store %6, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x40xi32, #gpu.address_space<private>>
          } {schedule.matrix_axis = #schedule.matrix_axis<k>}
        } {schedule.matrix_axis = #schedule.matrix_axis<n>}
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x40x128>, schedule.matrix_axis = #schedule.matrix_axis<m>}
    } {schedule.pipeline = #schedule.pipeline<stages = 8>}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 1, raster = grouped>}
  return
}
