// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(loops-to-tile))' --split-input-file --verify-diagnostics

#map = affine_map<()[s0] -> (s0 ceildiv 64)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: memref<?x128xbf16> {te.name = "A", te.symbols = ["rows", ""]}, %arg1: memref<256x128xbf16> {te.name = "B"}, %arg2: memref<?x256xf32> {te.name = "C", te.output, te.symbols = ["rows", ""]}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %dim = memref.dim %arg0, %c0 : memref<?x128xbf16>
  // expected-error @below {{persistent: expected constant extents for narrower tiles, which are dealt out when the program is compiled, got a symbolic one of axis 'C.i0.outer'}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %0 = affine.apply #map()[%dim]
    scf.for %arg4 = %c0 to %0 step %c1 {
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
              %1 = affine.apply #map1(%arg4, %arg8)
              %2 = affine.apply #map1(%arg7, %arg9)
              %3 = arith.cmpi slt, %1, %dim : index
              %4 = scf.if %3 -> (bf16) {
                %5 = memref.load %arg0[%1, %2] : memref<?x128xbf16>
                scf.yield %5 : bf16
              } else {
                %cst = arith.constant 0.000000e+00 : bf16
                scf.yield %cst : bf16
              }
              memref.store %4, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %1 = affine.apply #map1(%arg5, %arg8)
              %2 = affine.apply #map1(%arg7, %arg9)
              %3 = memref.load %arg1[%1, %2] : memref<256x128xbf16>
              memref.store %3, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %1 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                %2 = memref.load %alloc_0[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                %3 = arith.extf %2 : bf16 to f32
                %4 = memref.load %alloc_1[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                %5 = arith.extf %4 : bf16 to f32
                %6 = arith.mulf %3, %5 : f32
                %7 = arith.addf %1, %6 : f32
                memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              } {schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        } {schedule.pipeline = #schedule.pipeline<stages = 8>}
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %3 = affine.apply #map2(%arg4, %arg7)
            %4 = affine.apply #map2(%arg5, %arg8)
            %5 = memref.load %alloca[%3, %4] : memref<64x64xf32, #gpu.address_space<private>>
            memref.store %5, %alloc[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c64 step %c1 {
            %1 = affine.apply #map1(%arg4, %arg6)
            %3 = memref.load %alloc[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<workgroup>>
            %4 = affine.apply #map1(%arg5, %arg7)
            memref.store %3, %arg2[%1, %4] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<?x256xf32>
          }
        }
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.axis = #schedule.axis<"i0.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.y>}
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
  // expected-error @below {{persistent: expected one set of consumer warpgroups for narrower tiles, got 2, which take tiles in turn}}
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
        } {schedule.pipeline = #schedule.pipeline<stages = 8>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 232, consumers = 2>}
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
#map1 = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: memref<33x128xbf16> {te.name = "A"}, %arg1: memref<255x128xbf16> {te.name = "B"}, %arg2: memref<33x255xf32> {te.name = "C", te.output}) {
  %c255 = arith.constant 255 : index
  %c33 = arith.constant 33 : index
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{persistent: expected a matrix that TMA stores for narrower tiles: use copy_by("tma")}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c1 step %c1 {
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %cst = arith.constant 0.000000e+00 : f32
            memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          }
        }
        scf.for %arg7 = %c0 to %c2 step %c1 {
          %alloc = memref.alloc() {te.stage = "As"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = affine.apply #map(%arg7, %arg9)
              %1 = arith.cmpi slt, %arg8, %c33 : index
              %2 = scf.if %1 -> (bf16) {
                %3 = memref.load %arg0[%arg8, %0] : memref<33x128xbf16>
                scf.yield %3 : bf16
              } else {
                %cst = arith.constant 0.000000e+00 : bf16
                scf.yield %cst : bf16
              }
              memref.store %2, %alloc[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          %alloc_0 = memref.alloc() {te.stage = "Bs"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = affine.apply #map(%arg5, %arg8)
              %1 = affine.apply #map(%arg7, %arg9)
              %2 = arith.cmpi slt, %0, %c255 : index
              %3 = scf.if %2 -> (bf16) {
                %4 = memref.load %arg1[%0, %1] : memref<255x128xbf16>
                scf.yield %4 : bf16
              } else {
                %cst = arith.constant 0.000000e+00 : bf16
                scf.yield %cst : bf16
              }
              memref.store %3, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                %1 = memref.load %alloc[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                %2 = arith.extf %1 : bf16 to f32
                %3 = memref.load %alloc_0[%arg9, %arg10] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
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
            %1 = affine.apply #map(%arg5, %arg8)
            %4 = affine.apply #map1(%arg5, %arg8)
            %5 = memref.load %alloca[%arg7, %4] : memref<64x64xf32, #gpu.address_space<private>>
            memref.store %5, %arg2[%arg7, %1] : memref<33x255xf32>
          }
        }
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.axis = #schedule.axis<"i0.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 3, raster = grouped, group = 2, narrower = 16>}
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
  // expected-error @below {{persistent: expected blocks without a tile in the last wave, for which there are narrower ones, got 8 tiles for 4 blocks}}
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
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 4, raster = grouped, group = 2, narrower = 16>}
  return
}
