// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<576x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<576x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c576 = arith.constant 576 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg5 = %c0 to %c9 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f32
          memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
        }
      }
      // expected-error @below {{software_pipeline: expected at most 1024 threads a block, got 1152: those of 9 warpgroups that multiply}}
      scf.for %arg6 = %c0 to %c2 step %c1 {
        %alloc = memref.alloc() {te.stage = "A.shared"} : memref<576x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c576 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg6, %arg8)
            %1 = memref.load %arg0[%arg7, %0] : memref<576x128xf16>
            memref.store %1, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<576x64xf16, #gpu.address_space<workgroup>>
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
              %2 = memref.load %alloc[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<576x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_0[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = affine.apply #map(%arg5, %arg6)
          memref.store %0, %arg2[%1, %arg7] : memref<576x64xf32>
        }
      }
    } {schedule.bind = #schedule.thread<threadIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
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
      // expected-error @below {{specialize: expected at least 56 registers for a thread that multiplies, 32 of which hold its accumulator, got 48}}
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
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = #schedule.specialize<producer = 24, consumer = 48>}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = affine.apply #map(%arg5, %arg6)
          memref.store %0, %arg2[%1, %arg7] : memref<128x64xf32>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<512x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<512x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg5 = %c0 to %c8 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f32
          memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
        }
      }
      // expected-error @below {{specialize: expected at most 1024 threads a block, got 1152: those of 8 warpgroups that multiply and of one that copies}}
      scf.for %arg6 = %c0 to %c2 step %c1 {
        %alloc = memref.alloc() {te.stage = "A.shared"} : memref<512x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c512 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg6, %arg8)
            %1 = memref.load %arg0[%arg7, %0] : memref<512x128xf16>
            memref.store %1, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<512x64xf16, #gpu.address_space<workgroup>>
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
              %2 = memref.load %alloc[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<512x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_0[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = #schedule.specialize<producer = 24, consumer = 56>}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = affine.apply #map(%arg5, %arg6)
          memref.store %0, %arg2[%1, %arg7] : memref<512x64xf32>
        }
      }
    } {schedule.bind = #schedule.thread<threadIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 128 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map2 = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<4096x4096xbf16> {te.name = "A"}, %arg1: memref<4096x4096xbf16> {te.name = "B"}, %arg2: memref<4096x4096xbf16> {te.name = "C", te.output}) {
  %c256 = arith.constant 256 : index
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c32 step %c1 {
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %alloc = memref.alloc() {te.stage = "C.shared"} : memref<128x256xbf16, #gpu.address_space<workgroup>>
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %alloca = memref.alloca() {te.stage = "P"} : memref<64x256xf32, #gpu.address_space<private>>
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c256 step %c1 {
              %cst = arith.constant 0.000000e+00 : f32
              memref.store %cst, %alloca[%arg7, %arg8] : memref<64x256xf32, #gpu.address_space<private>>
            }
          }
          // expected-error @below {{software_pipeline: expected at most 232448 bytes of shared memory a block, got 278608: 5 times 49152 for the tiles of a step, and 32768 for those of stage 'C.shared'}}
          scf.for %arg7 = %c0 to %c64 step %c1 {
            %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xbf16, #gpu.address_space<workgroup>>
            scf.for %arg8 = %c0 to %c128 step %c1 {
              scf.for %arg9 = %c0 to %c64 step %c1 {
                %0 = affine.apply #map(%arg4, %arg8)
                %1 = affine.apply #map1(%arg7, %arg9)
                %2 = memref.load %arg0[%0, %1] : memref<4096x4096xbf16>
                memref.store %2, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
              }
            }
            %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x256xbf16, #gpu.address_space<workgroup>>
            scf.for %arg8 = %c0 to %c64 step %c1 {
              scf.for %arg9 = %c0 to %c256 step %c1 {
                %0 = affine.apply #map1(%arg7, %arg8)
                %1 = affine.apply #map2(%arg5, %arg9)
                %2 = memref.load %arg1[%0, %1] : memref<4096x4096xbf16>
                memref.store %2, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x256xbf16, #gpu.address_space<workgroup>>
              }
            }
            scf.for %arg8 = %c0 to %c64 step %c1 {
              scf.for %arg9 = %c0 to %c256 step %c1 {
                scf.for %arg10 = %c0 to %c64 step %c1 {
                  %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x256xf32, #gpu.address_space<private>>
                  %1 = affine.apply #map3(%arg8, %arg6)
                  %2 = memref.load %alloc_0[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
                  %3 = arith.extf %2 : bf16 to f32
                  %4 = memref.load %alloc_1[%arg10, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x256xbf16, #gpu.address_space<workgroup>>
                  %5 = arith.extf %4 : bf16 to f32
                  %6 = arith.mulf %3, %5 : f32
                  %7 = arith.addf %0, %6 : f32
                  memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x256xf32, #gpu.address_space<private>>
                } {schedule.matrix_axis = #schedule.matrix_axis<k>}
              } {schedule.matrix_axis = #schedule.matrix_axis<n>}
            } {schedule.instruction = #schedule.instruction<wgmma, 64x256x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          } {schedule.pipeline = #schedule.pipeline<stages = 5>}
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c256 step %c1 {
              %0 = memref.load %alloca[%arg7, %arg8] : memref<64x256xf32, #gpu.address_space<private>>
              %1 = arith.truncf %0 : f32 to bf16
              %2 = affine.apply #map1(%arg6, %arg7)
              memref.store %1, %alloc[%2, %arg8] : memref<128x256xbf16, #gpu.address_space<workgroup>>
            }
          }
        } {schedule.bind = #schedule.thread<threadIdx.y>}
        scf.for %arg6 = %c0 to %c128 step %c1 {
          scf.for %arg7 = %c0 to %c256 step %c1 {
            %0 = memref.load %alloc[%arg6, %arg7] : memref<128x256xbf16, #gpu.address_space<workgroup>>
            %1 = affine.apply #map(%arg4, %arg6)
            %2 = affine.apply #map2(%arg5, %arg7)
            memref.store %0, %arg2[%1, %2] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 128, deferred = true>} : memref<4096x4096xbf16>
          }
        }
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 128, raster = grouped, group = 16>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map2 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map3 = affine_map<(d0, d1, d2) -> (d0 * 256 + d1 * 64 + d2)>
func.func @main(%arg0: memref<512x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<512x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c64 step %c1 {
            %cst = arith.constant 0.000000e+00 : f32
            memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
          }
        }
        // expected-error @below {{specialize: expected at most 61440 registers a block of 640 threads, got 128000: 40 for each of 128 threads that copy, and 240 for each of 512 that multiply}}
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %alloc = memref.alloc() {te.stage = "A.shared"} : memref<256x64xf16, #gpu.address_space<workgroup>>
          scf.for %arg7 = %c0 to %c256 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              %0 = affine.apply #map(%arg4, %arg7)
              %1 = affine.apply #map1(%arg6, %arg8)
              %2 = memref.load %arg0[%0, %1] : memref<512x128xf16>
              memref.store %2, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<256x64xf16, #gpu.address_space<workgroup>>
            }
          }
          %alloc_0 = memref.alloc() {te.stage = "B.shared"} : memref<64x64xf16, #gpu.address_space<workgroup>>
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              %0 = affine.apply #map1(%arg6, %arg8)
              %1 = memref.load %arg1[%arg7, %0] : memref<64x128xf16>
              memref.store %1, %alloc_0[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
            }
          }
          scf.for %arg7 = %c0 to %c64 step %c1 {
            scf.for %arg8 = %c0 to %c64 step %c1 {
              scf.for %arg9 = %c0 to %c64 step %c1 {
                %0 = memref.load %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                %1 = affine.apply #map2(%arg7, %arg5)
                %2 = memref.load %alloc[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<256x64xf16, #gpu.address_space<workgroup>>
                %3 = arith.extf %2 : f16 to f32
                %4 = memref.load %alloc_0[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
                %5 = arith.extf %4 : f16 to f32
                %6 = arith.mulf %3, %5 : f32
                %7 = arith.addf %0, %6 : f32
                memref.store %7, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              } {schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 240>}
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
            %1 = affine.apply #map3(%arg4, %arg5, %arg6)
            memref.store %0, %arg2[%1, %arg7] : memref<512x64xf32>
          }
        }
      } {schedule.bind = #schedule.thread<threadIdx.y>}
    } {schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<576x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<576x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c576 = arith.constant 576 : index
  %c2 = arith.constant 2 : index
  %c-1 = arith.constant -1 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg5 = %c0 to %c-1 step %c1 {
      %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %cst = arith.constant 0.000000e+00 : f32
          memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
        }
      }
      scf.for %arg6 = %c0 to %c2 step %c1 {
        %alloc = memref.alloc() {te.stage = "A.shared"} : memref<576x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg7 = %c0 to %c576 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg6, %arg8)
            %1 = memref.load %arg0[%arg7, %0] : memref<576x128xf16>
            memref.store %1, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<576x64xf16, #gpu.address_space<workgroup>>
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
        // expected-error @below {{wgmma of stage '': expected at least one warpgroup along threadIdx.y, got -1}}
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg7, %arg5)
              %2 = memref.load %alloc[%1, %arg9] {schedule.operand = #schedule.operand<a>} : memref<576x64xf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : f16 to f32
              %4 = memref.load %alloc_0[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : f16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %0, %6 : f32
              memref.store %7, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = affine.apply #map(%arg5, %arg6)
          memref.store %0, %arg2[%1, %arg7] : memref<576x64xf32>
        }
      }
    } {schedule.bind = #schedule.thread<threadIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
