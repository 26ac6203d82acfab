// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

#map = affine_map<(d0) -> (d0 mod 8)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map2 = affine_map<()[s0] -> (s0 mod 16)>
func.func @main(%arg0: memref<2x8xi32> {te.dtype = i32, te.name = "T"}, %arg1: memref<2x64x64xf16> {te.dtype = f16, te.name = "A"}, %arg2: memref<12x16x64xf16> {te.dtype = f16, te.name = "B"}, %arg3: memref<2x64x128xf32> {te.dtype = f32, te.name = "C", te.output}) attributes {schedule.bound = [#schedule.thread<blockIdx.x>, #schedule.thread<blockIdx.y>, #schedule.thread<threadIdx.x>, #schedule.thread<threadIdx.y>]} {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c128 step %c1 {
    scf.for %arg5 = %c0 to %c2 step %c1 {
      scf.for %arg6 = %c0 to %c2 step %c1 {
        scf.for %arg7 = %c0 to %c1 step %c1 {
          %alloca = memref.alloca() {te.stage = "C.local"} : memref<1x64x64xf32, #gpu.address_space<private>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %cst = arith.constant 0.000000e+00 : f32
              memref.store %cst, %alloca[%c0, %arg8, %arg9] : memref<1x64x64xf32, #gpu.address_space<private>>
            }
          }
          scf.for %arg8 = %c0 to %c1 step %c1 {
            %alloc = memref.alloc() {schedule.pipelined, te.stage = "B.tile"} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = affine.apply #map(%arg9)
                %1 = memref.load %arg0[%arg5, %0] : memref<2x8xi32>
                %2 = affine.apply #map1(%arg6, %arg9)
                %3 = arith.index_cast %1 : i32 to index
                %4 = affine.apply #map2()[%2]
                %5 = memref.load %arg2[%3, %4, %arg10] : memref<12x16x64xf16>
                // expected-error @below {{copy_by: stage 'B.tile': expected one index read from memory for each of so many rows that follow one another, got indices of other elements in dimension 0 of B}}
                memref.store %5, %alloc[%c0, %arg9, %arg10] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
              }
            }
            %alloc_0 = memref.alloc() {schedule.pipelined, te.stage = "A.shared"} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = memref.load %arg1[%arg5, %arg9, %arg10] : memref<2x64x64xf16>
                memref.store %0, %alloc_0[%c0, %arg9, %arg10] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
              }
            }
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                scf.for %arg11 = %c0 to %c64 step %c1 {
                  %0 = memref.load %alloca[%c0, %arg9, %arg10] {schedule.operand = #schedule.operand<accumulator>} : memref<1x64x64xf32, #gpu.address_space<private>>
                  %1 = memref.load %alloc_0[%c0, %arg9, %arg11] {schedule.operand = #schedule.operand<a>} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
                  %2 = arith.extf %1 : f16 to f32
                  %3 = memref.load %alloc[%c0, %arg10, %arg11] {schedule.operand = #schedule.operand<b>} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
                  %4 = arith.extf %3 : f16 to f32
                  %5 = arith.mulf %2, %4 fastmath<contract> : f32
                  %6 = arith.addf %0, %5 fastmath<contract> : f32
                  memref.store %6, %alloca[%c0, %arg9, %arg10] {schedule.operand = #schedule.operand<accumulator>} : memref<1x64x64xf32, #gpu.address_space<private>>
                } {schedule.matrix_axis = #schedule.matrix_axis<k>}
              } {schedule.matrix_axis = #schedule.matrix_axis<n>}
            } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 232>}
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%c0, %arg8, %arg9] : memref<1x64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map1(%arg6, %arg9)
              memref.store %0, %arg3[%arg5, %arg8, %1] : memref<2x64x128xf32>
            }
          }
        } {schedule.bind = #schedule.thread<threadIdx.y>}
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0) -> (d0 floordiv 4)>
#map2 = affine_map<()[s0] -> (s0 mod 4)>
func.func @main(%arg0: memref<2x32xi32> {te.dtype = i32, te.name = "T"}, %arg1: memref<2x64x64xf16> {te.dtype = f16, te.name = "A"}, %arg2: memref<12x4x64xf16> {te.dtype = f16, te.name = "B"}, %arg3: memref<2x64x128xf32> {te.dtype = f32, te.name = "C", te.output}) attributes {schedule.bound = [#schedule.thread<blockIdx.x>, #schedule.thread<blockIdx.y>, #schedule.thread<threadIdx.x>, #schedule.thread<threadIdx.y>]} {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c128 step %c1 {
    scf.for %arg5 = %c0 to %c2 step %c1 {
      scf.for %arg6 = %c0 to %c2 step %c1 {
        scf.for %arg7 = %c0 to %c1 step %c1 {
          %alloca = memref.alloca() {te.stage = "C.local"} : memref<1x64x64xf32, #gpu.address_space<private>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %cst = arith.constant 0.000000e+00 : f32
              memref.store %cst, %alloca[%c0, %arg8, %arg9] : memref<1x64x64xf32, #gpu.address_space<private>>
            }
          }
          scf.for %arg8 = %c0 to %c1 step %c1 {
            %alloc = memref.alloc() {schedule.pipelined, te.stage = "B.tile"} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = affine.apply #map(%arg6, %arg9)
                %1 = affine.apply #map1(%0)
                %c31 = arith.constant 31 : index
                %2 = arith.minsi %1, %c31 : index
                %3 = memref.load %arg0[%arg5, %2] : memref<2x32xi32>
                %4 = arith.index_cast %3 : i32 to index
                %5 = affine.apply #map2()[%0]
                %6 = memref.load %arg2[%4, %5, %arg10] : memref<12x4x64xf16>
                // expected-error @below {{copy_by: stage 'B.tile': expected a multiple of 8 rows for each index read from memory, got 4}}
                memref.store %6, %alloc[%c0, %arg9, %arg10] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
              }
            }
            %alloc_0 = memref.alloc() {schedule.pipelined, te.stage = "A.shared"} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = memref.load %arg1[%arg5, %arg9, %arg10] : memref<2x64x64xf16>
                memref.store %0, %alloc_0[%c0, %arg9, %arg10] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
              }
            }
            scf.for %arg9 = %c0 to %c64 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                scf.for %arg11 = %c0 to %c64 step %c1 {
                  %0 = memref.load %alloca[%c0, %arg9, %arg10] {schedule.operand = #schedule.operand<accumulator>} : memref<1x64x64xf32, #gpu.address_space<private>>
                  %1 = memref.load %alloc_0[%c0, %arg9, %arg11] {schedule.operand = #schedule.operand<a>} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
                  %2 = arith.extf %1 : f16 to f32
                  %3 = memref.load %alloc[%c0, %arg10, %arg11] {schedule.operand = #schedule.operand<b>} : memref<1x64x64xf16, #gpu.address_space<workgroup>>
                  %4 = arith.extf %3 : f16 to f32
                  %5 = arith.mulf %2, %4 fastmath<contract> : f32
                  %6 = arith.addf %0, %5 fastmath<contract> : f32
                  memref.store %6, %alloca[%c0, %arg9, %arg10] {schedule.operand = #schedule.operand<accumulator>} : memref<1x64x64xf32, #gpu.address_space<private>>
                } {schedule.matrix_axis = #schedule.matrix_axis<k>}
              } {schedule.matrix_axis = #schedule.matrix_axis<n>}
            } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 232>}
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = memref.load %alloca[%c0, %arg8, %arg9] : memref<1x64x64xf32, #gpu.address_space<private>>
              %1 = affine.apply #map(%arg6, %arg9)
              memref.store %0, %arg3[%arg5, %arg8, %1] : memref<2x64x128xf32>
            }
          }
        } {schedule.bind = #schedule.thread<threadIdx.y>}
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
