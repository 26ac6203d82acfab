// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

func.func @main() {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{cluster: expected a kernel that multiplies by wgmma, got one that does not}}
  scf.for %arg2 = %c0 to %c8 step %c1 {
  } {schedule.bind = #schedule.thread<blockIdx.x>, schedule.cluster = 2 : i64}
  return
}

// -----

func.func @main() {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c1 step %c1 {
    %alloc = memref.alloc() {te.stage = "C.shared"} : memref<128x64xf32, #gpu.address_space<workgroup>>
    scf.for %arg4 = %c0 to %c2 step %c1 {
      // expected-error @below {{wgmma of stage 'P': expected warpgroups along threadIdx.y, got axis 'C.shared.i.outer' on threadIdx.x}}
      scf.for %arg6 = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.axis = #schedule.axis<"i.outer" of "C.shared">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

func.func @main() {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c1 step %c1 {
    scf.for %arg5 = %c0 to %c2 step %c1 {
      // expected-error @below {{wgmma of stage 'P': expected 128 threads along threadIdx.x, a warpgroup, which multiply together: use s[...].env_threads of the kernel's stage with te.thread_axis((0, 128), "threadIdx.x")}}
      scf.for %arg6 = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

func.func @main() {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  // expected-error @below {{wgmma: expected loops from 0 by 1, got axis 'P.k.outer'}}
  scf.for %arg7 = %c1 to %c2 step %c1 {
    scf.for %arg8 = %c0 to %c64 step %c1 {
    } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
  } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 8>}
  return
}

// -----

func.func @main() {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c2 step %c1 {
    scf.for %arg6 = %c0 to %c4 step %c1 {
      // expected-error @below {{wgmma of stage 'P': expected no loop bound to threadIdx.x, whose threads are the lanes of the instruction, got axis 'S.i.outer.inner': compute stage 'S' in a kernel of its own, in global memory, by s[S].compute_root()}}
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 3>}
    scf.for %arg6 = %c0 to %c128 step %c1 {
    } {schedule.axis = #schedule.axis<"i.outer.inner" of "S">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @main() {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    // expected-error @below {{specialize: expected a kernel whose blocks go through several tiles, which 2 consumer warpgroups take in turn: use s[...].persistent of the kernel's stage}}
    scf.for %arg6 = %c0 to %c2 step %c1 {
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 232, consumers = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 128 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map2 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<256x256xbf16> {te.name = "A"}, %arg1: memref<256x256xbf16> {te.align = 8 : i64, te.name = "B"}, %arg2: memref<256x256xf32> {te.name = "C", te.output}) {
  %c256 = arith.constant 256 : index
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "C.shared"} : memref<128x256xf32, #gpu.address_space<workgroup>>
      scf.for %arg6 = %c0 to %c2 step %c1 {
        %alloca = memref.alloca() {te.stage = "P"} : memref<64x256xf32, #gpu.address_space<private>>
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c256 step %c1 {
            %cst = arith.constant 0.000000e+00 : f32
            memref.store %cst, %alloca[%arg7, %arg8] : memref<64x256xf32, #gpu.address_space<private>>
          }
        }
        scf.for %arg7 = %c0 to %c4 step %c1 {
          %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c128 step %c1 {
            scf.for %arg9 = %c0 to %c64 step %c1 {
              %0 = affine.apply #map(%arg4, %arg8)
              %1 = affine.apply #map1(%arg7, %arg9)
              %2 = memref.load %arg0[%0, %1] : memref<256x256xbf16>
              memref.store %2, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
            }
          }
          %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x256xbf16, #gpu.address_space<workgroup>>
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c256 step %c1 {
              %0 = affine.apply #map1(%arg7, %arg8)
              %1 = memref.load %arg1[%0, %arg9] : memref<256x256xbf16>
              memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x256xbf16, #gpu.address_space<workgroup>>
            }
          }
          // expected-error @below {{wgmma of stage 'P': expected tensors aligned to 16 bytes, as TMA needs them, got B, aligned to 8}}
          scf.for %arg8 = %c0 to %c64 step %c1 {
            scf.for %arg9 = %c0 to %c256 step %c1 {
              scf.for %arg10 = %c0 to %c64 step %c1 {
                %0 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x256xf32, #gpu.address_space<private>>
                %1 = affine.apply #map2(%arg8, %arg6)
                %2 = memref.load %alloc_0[%1, %arg10] {schedule.operand = #schedule.operand<a>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
                %3 = arith.extf %2 : bf16 to f32
                %4 = memref.load %alloc_1[%arg10, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x256xbf16, #gpu.address_space<workgroup>>
                %5 = arith.extf %4 : bf16 to f32
                %6 = arith.mulf %3, %5 : f32
                %7 = arith.addf %0, %6 : f32
                memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x256xf32, #gpu.address_space<private>>
              } {schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x256x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        } {schedule.pipeline = #schedule.pipeline<stages = 4>}
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c256 step %c1 {
            %0 = memref.load %alloca[%arg7, %arg8] : memref<64x256xf32, #gpu.address_space<private>>
            %1 = affine.apply #map1(%arg6, %arg7)
            memref.store %0, %alloc[%1, %arg8] : memref<128x256xf32, #gpu.address_space<workgroup>>
          }
        }
      } {schedule.bind = #schedule.thread<threadIdx.y>}
      scf.for %arg6 = %c0 to %c128 step %c1 {
        scf.for %arg7 = %c0 to %c256 step %c1 {
          %0 = memref.load %alloc[%arg6, %arg7] : memref<128x256xf32, #gpu.address_space<workgroup>>
          %1 = affine.apply #map(%arg4, %arg6)
          memref.store %0, %arg2[%1, %arg7] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<256x256xf32>
        }
      }
    } {schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 2, raster = grouped, group = 2>}
  return
}
