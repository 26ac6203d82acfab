// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 * 48 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c48 = arith.constant 48 : index
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "A.shared"} : memref<128x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c3 step %c1 {
        scf.for %arg8 = %c0 to %c48 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7, %arg8)
            %2 = affine.apply #map1(%arg6, %arg9)
            %3 = memref.load %arg0[%0, %2] : memref<128x128xf16>
            // expected-error @below {{copy_by: stage 'A.shared': expected loops that go through all of the buffer}}
            memref.store %3, %alloc[%0, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
          }
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
          %1 = memref.load %arg0[%0, %arg7] : memref<128x128xf16>
          // expected-error @below {{copy_by: stage 'F': expected a tile of rows and columns, whose columns are elements of the tensor that lie together}}
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

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 * 8 + d1)>
#map2 = affine_map<()[s0, s1] -> (s0 * 8 + s1)>
func.func @main(%arg0: memref<1000xf16> {te.name = "A"}) {
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
          %1 = affine.apply #map1(%arg7, %0)
          %c1000 = arith.constant 1000 : index
          %2 = arith.cmpi slt, %1, %c1000 : index
          %3 = scf.if %2 -> (f16) {
            %4 = affine.apply #map2()[%arg7, %0]
            %5 = memref.load %arg0[%4] : memref<1000xf16>
            scf.yield %5 : f16
          } else {
            %cst = arith.constant 0.000000e+00 : f16
            scf.yield %cst : f16
          }
          // expected-error @below {{copy_by: stage 'F': expected elements that are all inside of dimension 0 of A, along which several loops of the copy go}}
          memref.store %3, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf16, #gpu.address_space<workgroup>>
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
        // expected-error @below {{copy_by: stage 'C': expected rows at once that divide the tile's 64, got 48}}
        memref.store %0, %arg2[%arg5, %arg6] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 48>} : memref<64x64xf32>
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}, %arg1: memref<64x128xf16> {te.name = "B"}, %arg2: memref<128x64xf32> {te.name = "C", te.output}) {
  %c64 = arith.constant 64 : index
  %c2 = arith.constant 2 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %alloc = memref.alloc() {te.stage = "C.shared"} : memref<96x64xf32, #gpu.address_space<workgroup>>
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
        // expected-error @below {{wgmma of stage 'P': expected a result of which the 64 rows of a warpgroup are a box, got 96 rows}}
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
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %0 = memref.load %alloca[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          %1 = affine.apply #map(%arg6, %arg7)
          memref.store %0, %alloc[%1, %arg8] : memref<96x64xf32, #gpu.address_space<workgroup>>
        }
      }
    } {schedule.bind = #schedule.thread<threadIdx.y>}
    scf.for %arg6 = %c0 to %c96 step %c1 {
      scf.for %arg7 = %c0 to %c64 step %c1 {
        %0 = memref.load %alloc[%arg6, %arg7] : memref<96x64xf32, #gpu.address_space<workgroup>>
        memref.store %0, %arg2[%arg6, %arg7] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<128x64xf32>
      }
    }
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
          // expected-error @below {{copy_by: stage 'C': expected a copy of a stage in shared memory}}
          memref.store %0, %arg2[%1, %arg7] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xf32>
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
