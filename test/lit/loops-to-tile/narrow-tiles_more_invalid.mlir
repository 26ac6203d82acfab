// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(loops-to-tile))' --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<2x128x128xbf16> {te.name = "A"}, %arg1: memref<2x256x128xbf16> {te.name = "B"}, %arg2: memref<2x128x256xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{persistent: expected tiles along blockIdx.x and blockIdx.y alone for narrower ones}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      scf.for %arg5 = %c0 to %c2 step %c1 {
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %alloc = memref.alloc() {te.stage = "C.shared"} : memref<1x64x64xf32, #gpu.address_space<workgroup>>
          %alloca = memref.alloca() {te.stage = "P"} : memref<1x64x64xf32, #gpu.address_space<private>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %cst = arith.constant 0.000000e+00 : f32
              memref.store %cst, %alloca[%c0, %arg8, %arg9] : memref<1x64x64xf32, #gpu.address_space<private>>
            }
          }
          scf.for %arg8 = %c0 to %c2 step %c1 {
            %alloc_0 = memref.alloc() {te.stage = "As"} : memref<1x64x64xbf16, #gpu.address_space<workgroup>>
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = affine.apply #map(%arg5, %arg9)
                %1 = affine.apply #map(%arg8, %arg10)
                %2 = memref.load %arg0[%arg4, %0, %1] : memref<2x128x128xbf16>
                memref.store %2, %alloc_0[%c0, %arg9, %arg10] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<1x64x64xbf16, #gpu.address_space<workgroup>>
              }
            }
            %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<1x64x64xbf16, #gpu.address_space<workgroup>>
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = affine.apply #map(%arg6, %arg9)
                %1 = affine.apply #map(%arg8, %arg10)
                %2 = memref.load %arg1[%arg4, %0, %1] : memref<2x256x128xbf16>
                memref.store %2, %alloc_1[%c0, %arg9, %arg10] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<1x64x64xbf16, #gpu.address_space<workgroup>>
              }
            }
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                scf.for %arg11 = %c0 to %c64 step %c1 {
                  %0 = memref.load %alloca[%c0, %arg9, %arg10] {schedule.operand = #schedule.operand<accumulator>} : memref<1x64x64xf32, #gpu.address_space<private>>
                  %1 = memref.load %alloc_0[%c0, %arg9, %arg11] {schedule.operand = #schedule.operand<a>} : memref<1x64x64xbf16, #gpu.address_space<workgroup>>
                  %2 = arith.extf %1 : bf16 to f32
                  %3 = memref.load %alloc_1[%c0, %arg10, %arg11] {schedule.operand = #schedule.operand<b>} : memref<1x64x64xbf16, #gpu.address_space<workgroup>>
                  %4 = arith.extf %3 : bf16 to f32
                  %5 = arith.mulf %2, %4 : f32
                  %6 = arith.addf %0, %5 : f32
                  memref.store %6, %alloca[%c0, %arg9, %arg10] {schedule.operand = #schedule.operand<accumulator>} : memref<1x64x64xf32, #gpu.address_space<private>>
                } {schedule.matrix_axis = #schedule.matrix_axis<k>}
              } {schedule.matrix_axis = #schedule.matrix_axis<n>}
            } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          } {schedule.pipeline = #schedule.pipeline<stages = 8>}
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%c0, %arg8, %arg9] : memref<1x64x64xf32, #gpu.address_space<private>>
              memref.store %0, %alloc[%c0, %arg8, %arg9] : memref<1x64x64xf32, #gpu.address_space<workgroup>>
            }
          }
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloc[%c0, %arg7, %arg8] : memref<1x64x64xf32, #gpu.address_space<workgroup>>
              %1 = affine.apply #map(%arg5, %arg7)
              %2 = affine.apply #map(%arg6, %arg8)
              memref.store %0, %arg2[%arg4, %1, %2] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<2x128x256xf32>
            }
          }
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 5, raster = grouped, group = 2, narrower = 16>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128xbf16> {te.name = "A"}, %arg1: memref<256x128xbf16> {te.name = "B"}, %arg2: memref<128x256xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{persistent: expected blocks without clusters for narrower tiles, got clusters of 2}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %alloc = memref.alloc() {te.stage = "C.shared"} : memref<64x64xf32, #gpu.address_space<workgroup>>
        %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %cst = arith.constant 0.000000e+00 : f32
            memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          }
        }
        scf.for %arg7 = %c0 to %c2 step %c1 {
          %alloc_0 = memref.alloc() {te.stage = "As"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = affine.apply #map(%arg4, %arg8)
              %1 = affine.apply #map(%arg7, %arg9)
              %2 = memref.load %arg0[%0, %1] : memref<128x128xbf16>
              memref.store %2, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = affine.apply #map(%arg5, %arg8)
              %1 = affine.apply #map(%arg7, %arg9)
              %2 = memref.load %arg1[%0, %1] : memref<256x128xbf16>
              memref.store %2, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                %1 = memref.load %alloc_0[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                %2 = arith.extf %1 : bf16 to f32
                %3 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                %4 = arith.extf %3 : bf16 to f32
                %5 = arith.mulf %2, %4 : f32
                %6 = arith.addf %0, %5 : f32
                memref.store %6, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              } {schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        } {schedule.pipeline = #schedule.pipeline<stages = 8>}
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
            memref.store %0, %alloc[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloc[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<workgroup>>
            %1 = affine.apply #map(%arg4, %arg6)
            %2 = affine.apply #map(%arg5, %arg7)
            memref.store %0, %arg2[%1, %2] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<128x256xf32>
          }
        }
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.bind = #schedule.thread<blockIdx.y>, schedule.cluster = 2 : i64}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 5, raster = grouped, group = 2, narrower = 16>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 * 128 + d1)>
func.func @main(%arg0: memref<128x256xf8E4M3FN> {te.name = "A"}, %arg1: memref<256x256xf8E4M3FN> {te.name = "B"}, %arg2: memref<128x256xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{persistent: expected an accumulator that the tensor cores keep for narrower tiles, got a promoted one}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %alloc = memref.alloc() {te.stage = "C.shared"} : memref<64x64xf32, #gpu.address_space<workgroup>>
        %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %cst = arith.constant 0.000000e+00 : f32
            memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          }
        }
        scf.for %arg7 = %c0 to %c2 step %c1 {
          %alloc_0 = memref.alloc() {te.stage = "As"} : memref<64x128xf8E4M3FN, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c128 step %c1 {
              %0 = affine.apply #map(%arg4, %arg8)
              %1 = affine.apply #map1(%arg7, %arg9)
              %2 = memref.load %arg0[%0, %1] : memref<128x256xf8E4M3FN>
              memref.store %2, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x128xf8E4M3FN, #gpu.address_space<workgroup>>
            }
          }
          %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x128xf8E4M3FN, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c128 step %c1 {
              %0 = affine.apply #map(%arg5, %arg8)
              %1 = affine.apply #map1(%arg7, %arg9)
              %2 = memref.load %arg1[%0, %1] : memref<256x256xf8E4M3FN>
              memref.store %2, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x128xf8E4M3FN, #gpu.address_space<workgroup>>
            }
          }
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c128 step %c1 {
                %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                %1 = memref.load %alloc_0[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x128xf8E4M3FN, #gpu.address_space<workgroup>>
                %2 = arith.extf %1 : f8E4M3FN to f32
                %3 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x128xf8E4M3FN, #gpu.address_space<workgroup>>
                %4 = arith.extf %3 : f8E4M3FN to f32
                %5 = arith.mulf %2, %4 : f32
                %6 = arith.addf %0, %5 : f32
                memref.store %6, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              } {schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.instruction = #schedule.instruction<wgmma, 64x64x128, promote = 1>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        } {schedule.pipeline = #schedule.pipeline<stages = 8>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 240>}
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
            memref.store %0, %alloc[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloc[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<workgroup>>
            %1 = affine.apply #map(%arg4, %arg6)
            %2 = affine.apply #map(%arg5, %arg7)
            memref.store %0, %arg2[%1, %2] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<128x256xf32>
          }
        }
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 5, raster = grouped, group = 2, narrower = 16>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128xi8> {te.name = "A"}, %arg1: memref<256x128xi8> {te.name = "B"}, %arg2: memref<128x256xi32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{persistent: expected tiles narrower by a multiple of 16 below their 64 columns, got 8}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %alloc = memref.alloc() {te.stage = "C.shared"} : memref<64x64xi32, #gpu.address_space<workgroup>>
        %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xi32, #gpu.address_space<private>>
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %c0_i32 = arith.constant 0 : i32
            memref.store %c0_i32, %alloca[%arg7, %arg8] : memref<64x64xi32, #gpu.address_space<private>>
          }
        }
        scf.for %arg7 = %c0 to %c1 step %c1 {
          %alloc_0 = memref.alloc() {te.stage = "As"} : memref<64x128xi8, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c128 step %c1 {
              %0 = affine.apply #map(%arg4, %arg8)
              %1 = memref.load %arg0[%0, %arg9] : memref<128x128xi8>
              memref.store %1, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x128xi8, #gpu.address_space<workgroup>>
            }
          }
          %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x128xi8, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c128 step %c1 {
              %0 = affine.apply #map(%arg5, %arg8)
              %1 = memref.load %arg1[%0, %arg9] : memref<256x128xi8>
              memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x128xi8, #gpu.address_space<workgroup>>
            }
          }
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c128 step %c1 {
                %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xi32, #gpu.address_space<private>>
                %1 = memref.load %alloc_0[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x128xi8, #gpu.address_space<workgroup>>
                %2 = arith.extsi %1 : i8 to i32
                %3 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x128xi8, #gpu.address_space<workgroup>>
                %4 = arith.extsi %3 : i8 to i32
                %5 = arith.muli %2, %4 : i32
                %6 = arith.addi %0, %5 : i32
                memref.store %6, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xi32, #gpu.address_space<private>>
              } {schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.instruction = #schedule.instruction<wgmma, 64x64x128>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        } {schedule.pipeline = #schedule.pipeline<stages = 8>}
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloca[%arg7, %arg8] : memref<64x64xi32, #gpu.address_space<private>>
            memref.store %0, %alloc[%arg7, %arg8] : memref<64x64xi32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloc[%arg6, %arg7] : memref<64x64xi32, #gpu.address_space<workgroup>>
            %1 = affine.apply #map(%arg4, %arg6)
            %2 = affine.apply #map(%arg5, %arg7)
            memref.store %0, %arg2[%1, %2] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<128x256xi32>
          }
        }
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 5, raster = grouped, group = 2, narrower = 8>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128xbf16> {te.name = "A"}, %arg1: memref<256x128xbf16> {te.name = "B"}, %arg2: memref<128x256xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{persistent: expected 5 tiles of 64 and 56 columns, at least one of 64, to have the 256 columns of a row, got 8 less}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %alloc = memref.alloc() {te.stage = "C.shared"} : memref<64x64xf32, #gpu.address_space<workgroup>>
        %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %cst = arith.constant 0.000000e+00 : f32
            memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          }
        }
        scf.for %arg7 = %c0 to %c2 step %c1 {
          %alloc_0 = memref.alloc() {te.stage = "As"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = affine.apply #map(%arg4, %arg8)
              %1 = affine.apply #map(%arg7, %arg9)
              %2 = memref.load %arg0[%0, %1] : memref<128x128xbf16>
              memref.store %2, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = affine.apply #map(%arg5, %arg8)
              %1 = affine.apply #map(%arg7, %arg9)
              %2 = memref.load %arg1[%0, %1] : memref<256x128xbf16>
              memref.store %2, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                %1 = memref.load %alloc_0[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                %2 = arith.extf %1 : bf16 to f32
                %3 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                %4 = arith.extf %3 : bf16 to f32
                %5 = arith.mulf %2, %4 : f32
                %6 = arith.addf %0, %5 : f32
                memref.store %6, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              } {schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        } {schedule.pipeline = #schedule.pipeline<stages = 8>}
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
            memref.store %0, %alloc[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloc[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<workgroup>>
            %1 = affine.apply #map(%arg4, %arg6)
            %2 = affine.apply #map(%arg5, %arg7)
            memref.store %0, %arg2[%1, %2] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<128x256xf32>
          }
        }
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 5, raster = grouped, group = 2, narrower = 8>}
  return
}
