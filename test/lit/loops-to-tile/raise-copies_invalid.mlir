// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg1: memref<64x128xf16> {te.name = "B"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg5 = %c0 to %c1 step %c1 {
    scf.for %arg7 = %c0 to %c2 step %c1 {
      %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg8 = %c0 to %c64 step %c1 {
        scf.for %arg9 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg7, %arg9)
          %1 = memref.load %arg1[%arg8, %0] : memref<64x128xf16>
          %2 = arith.cmpi slt, %arg8, %c64 : index
          scf.if %2 {
          } else {
            // expected-error @below {{copy_by: stage 'Bs': expected a copy where a condition holds, got one where it does not}}
            memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
          }
        }
      }
      scf.for %arg8 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 8>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1, d2) -> (d0 * 32 + (d1 + d2) floordiv 2)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "F"} : memref<128x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c128 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg6, %arg7, %arg8)
          %1 = affine.apply #map1(%arg6, %arg8)
          %2 = memref.load %arg0[%0, %1] : memref<128x128xf16>
          // expected-error @below {{copy_by: stage 'F': expected a copy of boxes, at indices that are sums of multiples of loops}}
          memref.store %2, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "F"} : memref<128x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c128 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg6, %arg8)
          %1 = memref.load %arg0[%arg7, %arg7, %0] : memref<128x128x128xf16>
          // expected-error @below {{copy_by: stage 'F': expected each dimension of the buffer to go along one of the tensor}}
          memref.store %1, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

#map = affine_map<(d0) -> (d0 * 9)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<1152x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "F"} : memref<128x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c128 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg7)
          %1 = affine.apply #map1(%arg6, %arg8)
          %2 = memref.load %arg0[%0, %1] : memref<1152x128xf16>
          // expected-error @below {{copy_by: stage 'F': expected every element of a dimension, or one in up to 8, got one in 9}}
          memref.store %2, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

#map = affine_map<(d0) -> (d0 * 3)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<384x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "F"} : memref<128x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c128 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg7)
          %1 = affine.apply #map1(%arg6, %arg8)
          %2 = memref.load %arg0[%0, %1] : memref<384x128xf16>
          // expected-error @below {{copy_by: stage 'F': expected a box across at most 256 elements of a dimension, got 384}}
          memref.store %2, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<64x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<64x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %alloc = memref.alloc() {te.stage = "C.shared"} : memref<64x64xf32, #gpu.address_space<workgroup>>
    %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
    scf.for %arg6 = %c0 to %c64 step %c1 {
      scf.for %arg7 = %c0 to %c64 step %c1 {
        %cst = arith.constant 0.000000e+00 : f32
        memref.store %cst, %alloca[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<private>>
      }
    }
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc_0 = memref.alloc() {te.stage = "A.shared"} : memref<64x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg6, %arg8)
          %1 = memref.load %arg0[%arg7, %0] : memref<64x128xf16>
          memref.store %1, %alloc_0[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
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
            %1 = memref.load %alloc_0[%arg7, %arg9] {schedule.operand = #schedule.operand<a>} : memref<64x64xf16, #gpu.address_space<workgroup>>
            %2 = arith.extf %1 : f16 to f32
            %3 = memref.load %alloc_1[%arg8, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
            %4 = arith.extf %3 : f16 to f32
            %5 = arith.mulf %2, %4 : f32
            %6 = arith.addf %0, %5 : f32
            memref.store %6, %alloca[%arg7, %arg8] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
          } {schedule.matrix_axis = #schedule.matrix_axis<k>}
        } {schedule.matrix_axis = #schedule.matrix_axis<n>}
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    scf.for %arg6 = %c0 to %c64 step %c1 {
      scf.for %arg7 = %c0 to %c64 step %c1 {
        %0 = memref.load %alloca[%arg7, %arg6] : memref<64x64xf32, #gpu.address_space<private>>
        memref.store %0, %alloc[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<workgroup>>
      }
    }
    scf.for %arg5 = %c0 to %c64 step %c1 {
      scf.for %arg6 = %c0 to %c64 step %c1 {
        %0 = memref.load %alloc[%arg5, %arg6] : memref<64x64xf32, #gpu.address_space<workgroup>>
        // expected-error @below {{copy_by: stage 'C': expected rows at once that are a multiple of 16, got 8}}
        memref.store %0, %arg2[%arg5, %arg6] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 8>} : memref<64x64xf32>
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 8 + d1)>
func.func @main(%arg0: memref<64x64xf16> {te.name = "A"}, %arg1: memref<64x64xf16> {te.name = "B"}, %arg2: memref<8x8x64xf32> {te.name = "C", te.output}) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %alloc = memref.alloc() {te.stage = "C.shared"} : memref<8x8x64xf32, #gpu.address_space<workgroup>>
    %alloca = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #gpu.address_space<private>>
    scf.for %arg5 = %c0 to %c64 step %c1 {
      scf.for %arg6 = %c0 to %c64 step %c1 {
        %cst = arith.constant 0.000000e+00 : f32
        memref.store %cst, %alloca[%arg5, %arg6] : memref<64x64xf32, #gpu.address_space<private>>
      }
    }
    scf.for %arg5 = %c0 to %c1 step %c1 {
      %alloc_0 = memref.alloc() {te.stage = "A.shared"} : memref<64x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %arg0[%arg6, %arg7] : memref<64x64xf16>
          memref.store %0, %alloc_0[%arg6, %arg7] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
        }
      }
      %alloc_1 = memref.alloc() {te.stage = "B.shared"} : memref<64x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %arg1[%arg6, %arg7] : memref<64x64xf16>
          memref.store %0, %alloc_1[%arg6, %arg7] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #gpu.address_space<workgroup>>
        }
      }
      // expected-error @below {{wgmma of stage 'P': expected rows of the result along one dimension where they are columns of the accumulator, got 8 x 8 rows}}
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          scf.for %arg8 = %c0 to %c64 step %c1 {
            %0 = memref.load %alloca[%arg6, %arg7] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            %1 = memref.load %alloc_0[%arg6, %arg8] {schedule.operand = #schedule.operand<a>} : memref<64x64xf16, #gpu.address_space<workgroup>>
            %2 = arith.extf %1 : f16 to f32
            %3 = memref.load %alloc_1[%arg7, %arg8] {schedule.operand = #schedule.operand<b>} : memref<64x64xf16, #gpu.address_space<workgroup>>
            %4 = arith.extf %3 : f16 to f32
            %5 = arith.mulf %2, %4 : f32
            %6 = arith.addf %0, %5 : f32
            memref.store %6, %alloca[%arg6, %arg7] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
          } {schedule.matrix_axis = #schedule.matrix_axis<k>}
        } {schedule.matrix_axis = #schedule.matrix_axis<n>}
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    scf.for %arg5 = %c0 to %c8 step %c1 {
      scf.for %arg6 = %c0 to %c8 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg5, %arg6)
          %1 = memref.load %alloca[%arg7, %0] : memref<64x64xf32, #gpu.address_space<private>>
          memref.store %1, %alloc[%arg5, %arg6, %arg7] : memref<8x8x64xf32, #gpu.address_space<workgroup>>
        }
      }
    }
    scf.for %arg5 = %c0 to %c8 step %c1 {
      scf.for %arg6 = %c0 to %c8 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloc[%arg5, %arg6, %arg7] : memref<8x8x64xf32, #gpu.address_space<workgroup>>
          memref.store %0, %arg2[%arg5, %arg6, %arg7] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<8x8x64xf32>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "F"} : memref<128x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c128 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg6, %arg8)
          %1 = memref.load %arg0[%arg7, %0] : memref<128x128xf16>
          %cst = arith.constant 2.000000e+00 : f16
          %2 = arith.mulf %1, %cst : f16
          // expected-error @below {{copy_by: stage 'F': expected a copy of a tensor in global memory, zero at most where that ends}}
          memref.store %2, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "A.shared"} : memref<128x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c128 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg6, %arg8)
          %1 = memref.load %arg0[%arg7, %0] : memref<128x128xf16>
          // expected-error @below {{copy_by: stage 'A.shared': expected a result to be deferred, got a copy to shared memory}}
          memref.store %1, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, deferred = true>} : memref<128x64xf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "A.shared"} : memref<128x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c128 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg6, %arg8)
          %1 = memref.load %arg0[%arg7, %0] : memref<128x128xf16>
          // expected-error @below {{copy_by: stage 'A.shared': expected TMA to copy to shared memory, got threads}}
          memref.store %1, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = threads, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "F"} : memref<128x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c128 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = affine.apply #map(%arg6, %arg8)
          %c50 = arith.constant 50 : index
          %1 = arith.cmpi sge, %arg7, %c50 : index
          %2 = scf.if %1 -> (f16) {
            %3 = memref.load %arg0[%arg7, %0] : memref<128x128xf16>
            scf.yield %3 : f16
          } else {
            %cst = arith.constant 0.000000e+00 : f16
            scf.yield %cst : f16
          }
          // expected-error @below {{copy_by: stage 'F': expected zeros where the tensor ends and nowhere else, as TMA fills them in}}
          memref.store %2, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}
