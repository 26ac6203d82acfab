// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 * 4 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1)>
#map2 = affine_map<()[s0] -> (s0 - 1)>
func.func @main(%arg0: memref<2x8x8x64xf16> {te.name = "X"}) {
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c8 = arith.constant 8 : index
  %c6 = arith.constant 6 : index
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<2x4x8x64xf32, #gpu.address_space<private>>
      scf.for %arg6 = %c0 to %c3 step %c1 {
        %alloc = memref.alloc() {te.stage = "A"} : memref<2x6x8x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c2 step %c1 {
          scf.for %arg8 = %c0 to %c6 step %c1 {
            scf.for %arg9 = %c0 to %c8 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = affine.apply #map(%arg4, %arg8)
                %1 = affine.apply #map1(%arg6, %arg9)
                %2 = arith.cmpi sge, %0, %c1 : index
                %c9 = arith.constant 9 : index
                %3 = arith.cmpi slt, %0, %c9 : index
                %4 = arith.andi %2, %3 : i1
                %5 = arith.cmpi sgt, %1, %c0 : index
                %6 = arith.andi %4, %5 : i1
                %7 = arith.cmpi sle, %1, %c8 : index
                %8 = arith.andi %6, %7 : i1
                %9 = scf.if %8 -> (f16) {
                  %10 = affine.apply #map2()[%0]
                  %11 = affine.apply #map2()[%1]
                  %12 = memref.load %arg0[%arg7, %10, %11, %arg10] : memref<2x8x8x64xf16>
                  scf.yield %12 : f16
                } else {
                  %cst = arith.constant 0.000000e+00 : f16
                  scf.yield %cst : f16
                }
                memref.store %9, %alloc[%arg7, %arg8, %arg9, %arg10] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<2x6x8x64xf16, #gpu.address_space<workgroup>>
              }
            }
          }
        }
        %alloc_0 = memref.alloc() {te.stage = "B"} : memref<3x1x64x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c3 step %c1 {
          // expected-error @below {{wgmma of stage 'P': expected rows or columns of operand A that lie one behind the other in buffer 'A' as those of the accumulator do: have a stage of its own hold them so}}
          scf.for %arg8 = %c0 to %c2 step %c1 {
            scf.for %arg9 = %c0 to %c4 step %c1 {
              scf.for %arg10 = %c0 to %c8 step %c1 {
                scf.for %arg11 = %c0 to %c64 step %c1 {
                  scf.for %arg12 = %c0 to %c64 step %c1 {
                    %0 = memref.load %alloca[%arg8, %arg9, %arg10, %arg11] {schedule.operand = #schedule.operand<accumulator>} : memref<2x4x8x64xf32, #gpu.address_space<private>>
                    %1 = affine.apply #map1(%arg7, %arg9)
                    %2 = memref.load %alloc[%arg8, %1, %arg10, %arg12] {schedule.operand = #schedule.operand<a>} : memref<2x6x8x64xf16, #gpu.address_space<workgroup>>
                    %3 = arith.extf %2 : f16 to f32
                    %4 = memref.load %alloc_0[%arg7, %c0, %arg11, %arg12] {schedule.operand = #schedule.operand<b>} : memref<3x1x64x64xf16, #gpu.address_space<workgroup>>
                    %5 = arith.extf %4 : f16 to f32
                    %6 = arith.mulf %3, %5 : f32
                    %7 = arith.addf %0, %6 : f32
                    memref.store %7, %alloca[%arg8, %arg9, %arg10, %arg11] {schedule.operand = #schedule.operand<accumulator>} : memref<2x4x8x64xf32, #gpu.address_space<private>>
                  } {schedule.matrix_axis = #schedule.matrix_axis<k>}
                } {schedule.matrix_axis = #schedule.matrix_axis<n>}
              } {schedule.matrix_axis = #schedule.matrix_axis<m>}
            } {schedule.matrix_axis = #schedule.matrix_axis<m>}
          } {schedule.axis = #schedule.axis<"m0" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        }
      } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
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
        // expected-error @below {{wgmma of stage 'P': expected operand A from a multiple of 8 rows of buffer 'As' on}}
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
      %alloc_0 = memref.alloc() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %alloc_1 = memref.alloc() {te.stage = "As"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        %alloc_2 = memref.alloc() {te.stage = "Bs"} : memref<64x64xf16, #gpu.address_space<workgroup>>
        // expected-error @below {{wgmma of stage 'P': expected a stage in local memory, whose elements are in registers, got one in shared memory: cache_write it to "local"}}
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloc_0[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<workgroup>>
              %1 = affine.apply #map1(%arg8, %arg6)
              %2 = memref.load %alloc_1[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_2[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloc_0[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<workgroup>>
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
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x60xf32, #gpu.address_space<private>>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xf16, #gpu.address_space<workgroup>>
        // expected-error @below {{wgmma of stage 'P': expected a multiple of 8 accumulator columns up to 256, got 60}}
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x60xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg8, %arg6)
              %2 = memref.load %alloc_0[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x60xf32, #gpu.address_space<private>>
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
#map1 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map2 = affine_map<(d0, d1) -> (d0 + d1 * 2)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}) {
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
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
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg1[%arg8, %0] : memref<64x128xf16>
            memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
          }
        }
        // expected-error @below {{wgmma of stage 'P': expected the loops of one matmul, got operands that are summed over in different orders}}
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c32 step %c1 {
                %0 = affine.apply #map1(%arg10, %arg11)
                %1 = affine.apply #map2(%arg10, %arg11)
                %2 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                %3 = affine.apply #map3(%arg8, %arg6)
                %4 = memref.load %alloc_0[%3, %0] {schedule.operand = #schedule.operand<a>} : memref<128x64xf16, #gpu.address_space<workgroup>>
                %5 = arith.extf %4 : f16 to f32
                %6 = memref.load %alloc_1[%arg9, %1] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
                %7 = arith.extf %6 : f16 to f32
                %8 = arith.mulf %5, %7 : f32
                %9 = arith.addf %2, %8 : f32
                memref.store %9, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              } {schedule.matrix_axis = #schedule.matrix_axis<k>}
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
func.func @main(%arg0: memref<128x128xf32> {te.name = "A"}, %arg1: memref<64x128xf32> {te.name = "B"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xf32, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c128 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg0[%arg8, %0] : memref<128x128xf32>
            memref.store %1, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf32, #gpu.address_space<workgroup>>
          }
        }
        %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xf32, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg9)
            %1 = memref.load %arg1[%arg8, %0] : memref<64x128xf32>
            memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf32, #gpu.address_space<workgroup>>
          }
        }
        // expected-error @below {{wgmma of stage 'P': expected operands of 'tf32' whose rows are summed over along, got 'Bs', whose columns are summed over}}
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg8, %arg6)
              %2 = memref.load %alloc_0[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xf32, #gpu.address_space<workgroup>>
              %3 = memref.load %alloc_1[%arg10, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf32, #gpu.address_space<workgroup>>
              %4 = arith.mulf %2, %3 : f32
              %5 = arith.addf %0, %4 : f32
              memref.store %5, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
