// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1, d2) -> (d0 * 8 + d1 * 64 + d2)>
func.func @main(%arg0: memref<?xf16> {te.name = "A", te.symbols = ["m"]}) {
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
          %0 = affine.apply #map(%arg7, %arg6, %arg8)
          %1 = memref.load %arg0[%0] : memref<?xf16>
          // expected-error @below {{copy_by: stage 'F': expected constant extents of A, along whose dimensions the tile does not go one by one, got 'memref<?xf16>'}}
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
func.func @main(%arg0: memref<128x132xf16> {te.name = "A"}) {
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
          %1 = memref.load %arg0[%arg7, %0] : memref<128x132xf16>
          // expected-error @below {{copy_by: stage 'A.shared': expected a tensor with rows of a multiple of 16 bytes, which TMA can step over, got 132 elements of 'f16', 264 bytes, of A}}
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

#map = affine_map<(d0, d1) -> (d0 * 64 + d1 + 4)>
func.func @main(%arg0: memref<128x256xf16> {te.name = "A"}) {
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
          %1 = memref.load %arg0[%arg7, %0] : memref<128x256xf16>
          // expected-error @below {{copy_by: stage 'F': expected boxes that begin at multiples of 16 bytes of a row of A, of 8 elements, as TMA copies them}}
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

#map = affine_map<(d0, d1, d2) -> (d0 * 4 + d1 + d2)>
#map1 = affine_map<()[s0] -> (s0 - 1)>
func.func @main(%arg0: memref<1x16x16x64xf16> {te.name = "X"}) {
  %c64 = arith.constant 64 : index
  %c17 = arith.constant 17 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c4 step %c1 {
    scf.for %arg6 = %c0 to %c2 step %c1 {
      %alloc = memref.alloc() {te.stage = "A"} : memref<1x17x4x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c17 step %c1 {
        scf.for %arg8 = %c0 to %c4 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg4, %arg6, %arg8)
            %1 = arith.cmpi sge, %arg7, %c1 : index
            %2 = arith.cmpi sgt, %0, %c0 : index
            %3 = arith.andi %1, %2 : i1
            %4 = scf.if %3 -> (f16) {
              %5 = affine.apply #map1()[%arg7]
              %6 = affine.apply #map1()[%0]
              %7 = memref.load %arg0[%c0, %5, %6, %arg9] : memref<1x16x16x64xf16>
              scf.yield %7 : f16
            } else {
              %cst = arith.constant 0.000000e+00 : f16
              scf.yield %cst : f16
            }
            // expected-error @below {{copy_by: stage 'A': expected a multiple of 8 rows, after which the swizzle is the same again, got 68}}
            memref.store %4, %alloc[%c0, %arg7, %arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<1x17x4x64xf16, #gpu.address_space<workgroup>>
          }
        }
      }
      scf.for %arg8 = %c0 to %c1 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1, d2) -> (d0 * 4 + d1 * 64 + d2)>
func.func @main(%arg0: memref<640xf16> {te.name = "A"}) {
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
          %0 = affine.apply #map(%arg7, %arg6, %arg8)
          %1 = memref.load %arg0[%0] : memref<640xf16>
          // expected-error @below {{copy_by: stage 'F': expected steps of multiples of 16 bytes along a dimension, got 8}}
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

#map = affine_map<(d0, d1) -> (d0 * 32 + d1)>
func.func @main(%arg0: memref<128x128xf16> {te.name = "A"}) {
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg4 = %c0 to %c1 step %c1 {
    scf.for %arg6 = %c0 to %c4 step %c1 {
      %alloc = memref.alloc() {te.stage = "A.shared"} : memref<128x32xf16, #gpu.address_space<workgroup>>
      scf.for %arg7 = %c0 to %c128 step %c1 {
        scf.for %arg8 = %c0 to %c32 step %c1 {
          %0 = affine.apply #map(%arg6, %arg8)
          %1 = memref.load %arg0[%arg7, %0] : memref<128x128xf16>
          // expected-error @below {{copy_by: stage 'A.shared': expected a tile with rows of whole swizzle spans of 128 bytes, got 32 elements of 'f16', 64 bytes}}
          memref.store %1, %alloc[%arg7, %arg8] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x32xf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg7 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x32>}
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

func.func @mm(%arg0: memref<128x64xbf16, strided<[1, ?]>> {te.name = "A", te.stride_divisible_by = array<i64: 1, 8>, te.stride_symbols = ["", "lda"], te.strides = array<i64: 1, -1>}) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg5 = %c0 to %c1 step %c1 {
    scf.for %arg7 = %c0 to %c1 step %c1 {
      %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xbf16, #gpu.address_space<workgroup>>
      scf.for %arg8 = %c0 to %c128 step %c1 {
        scf.for %arg9 = %c0 to %c64 step %c1 {
          %0 = memref.load %arg0[%arg8, %arg9] : memref<128x64xbf16, strided<[1, ?]>>
          // expected-error @below {{copy_by: stage 'As': expected a tensor whose last stride is 1, as TMA copies rows, got A as 'memref<128x64xbf16, strided<[1, ?]>>'}}
          memref.store %0, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg8 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 5>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @mm(%arg0: memref<128x64xbf16, strided<[100, 1]>> {te.name = "A", te.strides = array<i64: 100, 1>}) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg5 = %c0 to %c1 step %c1 {
    scf.for %arg7 = %c0 to %c1 step %c1 {
      %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xbf16, #gpu.address_space<workgroup>>
      scf.for %arg8 = %c0 to %c128 step %c1 {
        scf.for %arg9 = %c0 to %c64 step %c1 {
          %0 = memref.load %arg0[%arg8, %arg9] : memref<128x64xbf16, strided<[100, 1]>>
          // expected-error @below {{copy_by: stage 'As': expected strides of multiples of 16 bytes, 8 elements of 'bf16', which TMA can step over, got 100 in dimension 0 of A}}
          memref.store %0, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg8 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 5>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @mm(%arg0: memref<128x64xbf16, strided<[?, 1]>> {te.name = "A", te.stride_divisible_by = array<i64: 2, 1>, te.stride_symbols = ["lda", ""], te.strides = array<i64: -1, 1>}) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg5 = %c0 to %c1 step %c1 {
    scf.for %arg7 = %c0 to %c1 step %c1 {
      %alloc_0 = memref.alloc() {te.stage = "As"} : memref<128x64xbf16, #gpu.address_space<workgroup>>
      scf.for %arg8 = %c0 to %c128 step %c1 {
        scf.for %arg9 = %c0 to %c64 step %c1 {
          %0 = memref.load %arg0[%arg8, %arg9] : memref<128x64xbf16, strided<[?, 1]>>
          // expected-error @below {{copy_by: stage 'As': expected strides of multiples of 16 bytes, 8 elements of 'bf16', which TMA can step over, got one that may be any multiple of 2 (te.var has divisible_by) in dimension 0 of A}}
          memref.store %0, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xbf16, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg8 = %c0 to %c64 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 5>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

#map = affine_map<(d0) -> (d0 floordiv 3)>
#map1 = affine_map<(d0) -> (d0 mod 3)>
#map2 = affine_map<(d0, d1) -> (d0 * 2 + d1 - 1)>
#map3 = affine_map<()[s0, s1] -> (s0 * 2 + s1 - 1)>
func.func @conv(%arg0: memref<1x16x16x64xf16, strided<[?, ?, 64, 1]>> {te.name = "X", te.stride_divisible_by = array<i64: 8, 8, 1, 1>, te.stride_symbols = ["image", "row", "", ""], te.strides = array<i64: -1, -1, 64, 1>}) {
  %c64 = arith.constant 64 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c6 = arith.constant 6 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg5 = %c0 to %c1 step %c1 {
    scf.for %arg7 = %c0 to %c6 step %c1 {
      %alloc_0 = memref.alloc() {te.stage = "As"} : memref<1x9x8x1x1x64xf16, #gpu.address_space<workgroup>>
      scf.for %arg8 = %c0 to %c9 step %c1 {
        scf.for %arg9 = %c0 to %c8 step %c1 {
          scf.for %arg10 = %c0 to %c64 step %c1 {
            %0 = affine.apply #map(%arg7)
            %1 = affine.apply #map1(%arg7)
            %2 = affine.apply #map2(%arg8, %0)
            %3 = arith.cmpi sge, %2, %c0 : index
            %c16 = arith.constant 16 : index
            %4 = arith.cmpi slt, %2, %c16 : index
            %5 = arith.andi %3, %4 : i1
            %6 = affine.apply #map2(%arg9, %1)
            %7 = arith.cmpi sge, %6, %c0 : index
            %8 = arith.andi %5, %7 : i1
            %9 = scf.if %8 -> (f16) {
              %10 = affine.apply #map3()[%arg8, %0]
              %11 = affine.apply #map3()[%arg9, %1]
              %12 = memref.load %arg0[%c0, %10, %11, %arg10] : memref<1x16x16x64xf16, strided<[?, ?, 64, 1]>>
              scf.yield %12 : f16
            } else {
              %cst = arith.constant 0.000000e+00 : f16
              scf.yield %cst : f16
            }
            // expected-error @below {{copy_by: stage 'As': expected a copy of boxes of X as it is, for it has strides that only a call knows}}
            memref.store %9, %alloc_0[%c0, %arg8, %arg9, %c0, %c0, %arg10] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<1x9x8x1x1x64xf16, #gpu.address_space<workgroup>>
          }
        }
      }
      scf.for %arg9 = %c0 to %c1 step %c1 {
      } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 8>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}
