// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<128x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{persistent: expected tiles along blockIdx.x and blockIdx.y for Hilbert's curve, got none along blockIdx.x}}
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
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 2>}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = affine.apply #map(%arg5, %arg6)
          memref.store %0, %arg2[%1, %arg7] : memref<128x64xf32>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 132, raster = hilbert, group = 8>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 128 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map2 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map3 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 * 64 + d2)>
func.func @main(%arg0: memref<1024x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<1024x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{persistent: expected one set of consumer warpgroups for stream_k, got 2, which take tiles in turn}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c8 step %c1 {
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
              %0 = affine.apply #map(%arg4, %arg7)
              %1 = affine.apply #map1(%arg6, %arg8)
              %2 = memref.load %arg0[%0, %1] : memref<1024x128xf16>
              memref.store %2, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
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
        } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 232, consumers = 2>}
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
            %1 = affine.apply #map3(%arg4, %arg5, %arg6)
            memref.store %0, %arg2[%1, %arg7] : memref<1024x64xf32>
          }
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 132, raster = row, group = 8, stream_k = true>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<256x128xbf16> {te.name = "A"}, %arg1: memref<128x64xbf16> {te.name = "B"}, %arg2: memref<256x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{persistent: expected at least the 2 blocks of a cluster, got 1}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c4 step %c1 {
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
            %2 = memref.load %arg0[%0, %1] : memref<256x128xbf16>
            memref.store %2, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          }
        }
        %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg8)
            %1 = memref.load %arg1[%0, %arg9] : memref<128x64xbf16>
            memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %1 = memref.load %alloc_0[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
              %2 = arith.extf %1 : bf16 to f32
              %3 = memref.load %alloc_1[%arg10, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
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
          memref.store %0, %arg2[%1, %arg7] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<256x64xf32>
        }
      }
    } {schedule.bind = #schedule.thread<blockIdx.y>, schedule.cluster = 2 : i64}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 1, raster = grouped, stream_k = true>}
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
  // expected-error @below {{persistent: expected roles for stream_k, warps that copy beside those that multiply: use s[P].specialize(k.outer)}}
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
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = affine.apply #map(%arg5, %arg6)
          memref.store %0, %arg2[%1, %arg7] : memref<128x64xf32>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 132, raster = row, group = 8, stream_k = true>}
  return
}

// -----

#map = affine_map<()[s0] -> (s0 * 8)>
#map1 = affine_map<()[s0] -> ((s0 * 8) ceildiv 64)>
#map2 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map3 = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: memref<72x64xbf16> {te.name = "A"}, %arg1: memref<64x?xbf16> {te.divisible_by = array<i64: 1, 8>, te.name = "B", te.symbols = ["", "N"]}, %arg2: memref<72x?xf32> {te.divisible_by = array<i64: 1, 8>, te.name = "C", te.output, te.symbols = ["", "N"]}) {
  %c72 = arith.constant 72 : index
  %c64 = arith.constant 64 : index
  %c8 = arith.constant 8 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %dim = memref.dim %arg1, %c1 : memref<64x?xbf16>
  %0 = arith.divui %dim, %c8 : index
  %1 = affine.apply #map()[%0]
  // expected-error @below {{persistent: expected constant extents for Hilbert's curve, whose squares are laid when the program is compiled, got a symbolic one of axis 'C.i1.outer': use raster="grouped"}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      %2 = affine.apply #map1()[%0]
      scf.for %arg5 = %c0 to %2 step %c1 {
        %alloc = memref.alloc() {te.stage = "C.shared"} : memref<64x64xf32, #gpu.address_space<workgroup>>
        %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %cst = arith.constant 0.000000e+00 : f32
            memref.store %cst, %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          }
        }
        scf.for %arg7 = %c0 to %c1 step %c1 {
          %alloc_0 = memref.alloc() {te.stage = "As"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %3 = affine.apply #map2(%arg4, %arg8)
              %4 = arith.cmpi slt, %3, %c72 : index
              %5 = scf.if %4 -> (bf16) {
                %6 = memref.load %arg0[%3, %arg9] : memref<72x64xbf16>
                scf.yield %6 : bf16
              } else {
                %cst = arith.constant 0.000000e+00 : bf16
                scf.yield %cst : bf16
              }
              memref.store %5, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %3 = affine.apply #map2(%arg5, %arg9)
              %4 = arith.cmpi slt, %3, %1 : index
              %5 = scf.if %4 -> (bf16) {
                %6 = memref.load %arg1[%arg8, %3] : memref<64x?xbf16>
                scf.yield %6 : bf16
              } else {
                %cst = arith.constant 0.000000e+00 : bf16
                scf.yield %cst : bf16
              }
              memref.store %5, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %3 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
                %4 = memref.load %alloc_0[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                %5 = arith.extf %4 : bf16 to f32
                %6 = memref.load %alloc_1[%arg10, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
                %7 = arith.extf %6 : bf16 to f32
                %8 = arith.mulf %5, %7 : f32
                %9 = arith.addf %3, %8 : f32
                memref.store %9, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              } {schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        } {schedule.pipeline = #schedule.pipeline<stages = 8>}
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %3 = affine.apply #map2(%arg4, %arg7)
            %5 = affine.apply #map2(%arg5, %arg8)
            %8 = affine.apply #map3(%arg4, %arg7)
            %9 = affine.apply #map3(%arg5, %arg8)
            %10 = memref.load %alloca[%8, %9] : memref<64x64xf32, #gpu.address_space<private>>
            memref.store %10, %alloc[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg6 = %c0 to %c64 step %c1 {
          scf.for %arg7 = %c0 to %c64 step %c1 {
            %3 = affine.apply #map2(%arg4, %arg6)
            %4 = arith.cmpi slt, %3, %c72 : index
            %5 = affine.apply #map2(%arg5, %arg7)
            %6 = arith.cmpi slt, %5, %1 : index
            %8 = memref.load %alloc[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<workgroup>>
            memref.store %8, %arg2[%3, %5] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<72x?xf32>
          }
        }
      } {schedule.axis = #schedule.axis<"i1.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 2, raster = hilbert>}
  return
}
