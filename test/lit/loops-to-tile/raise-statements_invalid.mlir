// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

func.func @main() {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg5 = %c0 to %c1 step %c1 {
    scf.for %arg7 = %c0 to %c2 step %c1 {
      // expected-error @below {{software_pipeline: expected a loop with wgmma to fill shared buffers and to multiply, got 'gpu.barrier' in it}}
      gpu.barrier
      scf.for %arg8 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 8>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
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
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
      // expected-error @below {{wgmma: expected loops that load, compute and store beside those of the matmul, got 'gpu.barrier'}}
      gpu.barrier
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 4 + d1 floordiv 32)>
#map1 = affine_map<(d0, d1, d2) -> (d0 * 64 + (d1 mod 32) * 2 + d2)>
#map2 = affine_map<(d0, d1) -> ((d0 mod 32) * 2 + d1)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c32 = arith.constant 32 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c1 step %c1 {
    // expected-error @below {{software_pipeline: expected shared buffers that TMA fills for wgmma, got stage 'F', which computes its elements: compute it in global memory, and copy that with cache_read and copy_by("tma")}}
    scf.for %arg5 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "F"} : memref<128x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg6 = %c0 to %c32 step %c1 {
        scf.for %arg7 = %c0 to %c128 step %c1 {
          scf.for %arg8 = %c0 to %c2 step %c1 {
            %0 = affine.apply #map(%arg6, %arg7)
            %1 = affine.apply #map1(%arg5, %arg7, %arg8)
            %2 = memref.load %arg0[%0, %1] : memref<128x128xf16>
            %cst = arith.constant 2.000000e+00 : f16
            %3 = arith.mulf %2, %cst : f16
            %4 = affine.apply #map2(%arg7, %arg8)
            memref.store %3, %alloc[%0, %4] : memref<128x64xf16, #gpu.address_space<workgroup>>
          }
        }
      }
      scf.for %arg6 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
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
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
    } {schedule.bind = #schedule.thread<threadIdx.y>}
    // expected-error @below {{wgmma: expected stage 'C' to be computed by each warpgroup of its own rows, got it outside of them}}
    scf.for %arg6 = %c0 to %c128 step %c1 {
      scf.for %arg7 = %c0 to %c64 step %c1 {
        %0 = memref.load %alloc[%arg6, %arg7] : memref<128x64xf32, #gpu.address_space<workgroup>>
        memref.store %0, %arg2[%arg6, %arg7] : memref<128x64xf32>
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<128xf32> {te.name = "bias"}) {
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
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
    } {schedule.bind = #schedule.thread<threadIdx.y>}
    %row = memref.alloc() {te.stage = "S"} : memref<128xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{wgmma: expected stage 'S' to be computed by each warpgroup of its own rows, got it outside of them: leave out the cache_read of 'bias', which then comes from global memory}}
    scf.for %arg6 = %c0 to %c128 step %c1 {
      %0 = memref.load %arg2[%arg6] : memref<128xf32>
      memref.store %0, %row[%arg6] : memref<128xf32, #gpu.address_space<workgroup>>
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<128xf32> {te.name = "bias"}) {
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
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
    } {schedule.bind = #schedule.thread<threadIdx.y>}
    %row = memref.alloc() {te.stage = "S"} : memref<128xf32, #gpu.address_space<workgroup>>
    // expected-error @below {{wgmma: expected stage 'S' to be computed by each warpgroup of its own rows, got it outside of them: compute stage 'S' in a kernel of its own, in global memory, by s[S].compute_root()}}
    scf.for %arg6 = %c0 to %c128 step %c1 {
      %0 = memref.load %arg2[%arg6] : memref<128xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %row[%arg6] : memref<128xf32, #gpu.address_space<workgroup>>
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

func.func @main() {
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c2 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      // expected-error @below {{wgmma: expected stages that read the accumulator beside the matmul, got the reduction of stage 'S': compute stage 'S' in a kernel of its own, in global memory, by s[S].compute_root()}}
      %alloca = memref.alloca() {te.stage = "S"} : memref<f32, #gpu.address_space<private>>
    }
    scf.for %arg6 = %c0 to %c4 step %c1 {
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 3>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
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
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>}
      // expected-error @below {{wgmma: expected loops that store to one buffer beside those of the matmul, got 2 stores}}
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = affine.apply #map(%arg6, %arg7)
          memref.store %0, %alloc[%1, %arg8] : memref<128x64xf32, #gpu.address_space<workgroup>>
          memref.store %0, %alloc[%1, %arg8] : memref<128x64xf32, #gpu.address_space<workgroup>>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map1 = affine_map<(d0, d1) -> (d0 * 4 + d1 floordiv 32)>
#map2 = affine_map<(d0, d1, d2) -> (d0 * 64 + (d1 mod 32) * 2 + d2)>
#map3 = affine_map<(d0, d1) -> ((d0 mod 32) * 2 + d1)>
func.func @main(%arg1: memref<64x128xf16> {te.name = "B"}) {
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c1 step %c1 {
    // expected-error @below {{software_pipeline: expected shared buffers that TMA fills for wgmma, got stage 'B.shared': use s[B.shared].copy_by("tma")}}
    scf.for %arg5 = %c0 to %c2 step %c1 {
      %alloc_0 = memref.alloc() {te.stage = "B.shared"} : memref<64x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg6 = %c0 to %c16 step %c1 {
        scf.for %arg7 = %c0 to %c128 step %c1 {
          scf.for %arg8 = %c0 to %c2 step %c1 {
            %0 = affine.apply #map1(%arg6, %arg7)
            %1 = affine.apply #map2(%arg5, %arg7, %arg8)
            %2 = memref.load %arg1[%0, %1] : memref<64x128xf16>
            %3 = affine.apply #map3(%arg7, %arg8)
            memref.store %2, %alloc_0[%0, %3] : memref<64x64xf16, #gpu.address_space<workgroup>>
          }
        }
      }
      scf.for %arg6 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
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
  scf.for %arg4 = %c0 to %c1 step %c1 {
    // expected-error @below {{software_pipeline: expected roles for a promoted accumulator, a producer warp beside consumer warpgroups: use s[P].specialize(k.outer)}}
    scf.for %arg6 = %c0 to %c2 step %c1 {
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64, promote = 1>}
    } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

#map1 = affine_map<()[s0] -> ((s0 * 8) ceildiv 64)>
func.func @main(%arg0: memref<72x?xbf16> {te.divisible_by = array<i64: 1, 8>, te.name = "A", te.symbols = ["", "K"]}) {
  %c64 = arith.constant 64 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %dim = memref.dim %arg0, %c1 : memref<72x?xbf16>
  %0 = arith.divui %dim, %c8 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %2 = affine.apply #map1()[%0]
    // expected-error @below {{specialize: expected a constant number of iterations for 2 consumer warpgroups, each of which passes over the slots of the others' tiles, got a symbolic extent of axis 'P.k.outer'}}
    scf.for %arg7 = %c0 to %2 step %c1 {
      scf.for %arg8 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 8>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 232, consumers = 2>}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 2, raster = grouped>}
  return
}

// -----

#map1 = affine_map<()[s0] -> ((s0 * 16) ceildiv 128)>
func.func @main(%arg0: memref<72x?xf8E4M3FN> {te.divisible_by = array<i64: 1, 16>, te.name = "A", te.symbols = ["", "K"]}) {
  %c64 = arith.constant 64 : index
  %c16 = arith.constant 16 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %dim = memref.dim %arg0, %c1 : memref<72x?xf8E4M3FN>
  %0 = arith.divui %dim, %c16 : index
  scf.for %arg5 = %c0 to %c2 step %c1 {
    %2 = affine.apply #map1()[%0]
    // expected-error @below {{wgmma of stage 'P': expected a constant number of iterations, of each 2 of which the accumulator is promoted together, got a symbolic extent of axis 'P.k.outer': promote after each}}
    scf.for %arg7 = %c0 to %2 step %c1 {
      scf.for %arg8 = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x128, promote = 2>}
    } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 8>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 240>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}
