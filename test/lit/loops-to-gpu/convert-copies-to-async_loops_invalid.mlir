// RUN: tilewright-opt %s --tilewright-pipeline="from=loops to=gpu arch=sm_90a" --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 * 8 + d1 floordiv 4)>
#map2 = affine_map<(d0, d1, d2) -> (d0 * -16 - (d1 mod 4) * 4 - d2 + 63)>
#map3 = affine_map<(d0, d1) -> ((d0 mod 4) * 4 + d1)>
func.func @f(%arg0: memref<32x64xf32> {te.name = "A"}) {
  %c128 = arith.constant 128 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c0 = arith.constant 0 : index
  scf.for %arg5 = %c0 to %c4 step %c1 {
    %alloc = memref.alloc() {schedule.pipelined, te.stage = "D"} : memref<32x16xf32, #gpu.address_space<workgroup>>
    scf.for %arg6 = %c0 to %c32 step %c1 {
      scf.for %arg7 = %c0 to %c32 step %c1 {
        scf.for %arg8 = %c0 to %c4 step %c1 {
          %1 = affine.apply #map(%arg6, %arg7)
          %2 = arith.cmpi slt, %1, %c128 : index
          %3 = arith.cmpi slt, %arg6, %c4 : index
          %5 = affine.apply #map1(%arg6, %arg7)
          %8 = affine.apply #map2(%arg5, %arg7, %arg8)
          %9 = memref.load %arg0[%5, %8] : memref<32x64xf32>
          %10 = affine.apply #map3(%arg7, %arg8)
          // expected-error @below {{software_pipeline: expected copies of 4, 8 or 16 bytes that lie together, as only these can be asynchronous, got elements of several loads: vectorize an axis along which they lie together, by at most 16 bytes}}
          memref.store %9, %alloc[%5, %10] : memref<32x16xf32, #gpu.address_space<workgroup>>
        } {schedule.vectorize}
      }
    } {schedule.bind = #schedule.thread<threadIdx.y>}
  } {schedule.pipeline = #schedule.pipeline<stages = 2, async = true>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 8 + d1)>
func.func @f(%arg0: memref<32x32xf16> {te.name = "A"}) {
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  scf.for %arg2 = %c0 to %c4 step %c1 {
    scf.for %arg4 = %c0 to %c4 step %c1 {
      %alloc = memref.alloc() {schedule.pipelined, te.stage = "A.shared"} : memref<8x8xf16, #gpu.address_space<workgroup>>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %2 = affine.apply #map(%arg2, %arg5)
          %3 = affine.apply #map(%arg4, %arg6)
          %4 = memref.load %arg0[%2, %3] : memref<32x32xf16>
          // expected-error @below {{software_pipeline: expected copies of 4, 8 or 16 bytes that lie together, as only these can be asynchronous, got 2: vectorize the stage that copies}}
          memref.store %4, %alloc[%arg5, %arg6] : memref<8x8xf16, #gpu.address_space<workgroup>>
        }
      }
    } {schedule.pipeline = #schedule.pipeline<stages = 2, async = true>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 128 + d1 * 16 + d2 * 8 + d3 * 4 + d4 floordiv 8)>
#map3 = affine_map<(d0, d1, d2) -> (d0 * 64 + (d1 mod 8) * 8 + d2)>
#map4 = affine_map<(d0, d1) -> (d0 * 4 + d1 floordiv 8)>
#map5 = affine_map<(d0) -> (d0 mod 8)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0 * 16 + d1 * 8 + d2 * 4 + d3 floordiv 8)>
#map7 = affine_map<(d0, d1) -> (d0 * 8 + d1)>
func.func @mm(%arg0: memref<256x512xf16, strided<[1, ?]>> {te.name = "A", te.stride_divisible_by = array<i64: 1, 8>, te.stride_symbols = ["", "lda"], te.strides = array<i64: 1, -1>}) {
  %c32 = arith.constant 32 : index
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c2 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %alloc = memref.alloc() {schedule.pipelined, te.stage = "As"} : memref<128x64xf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c8 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c32 step %c1 {
                scf.for %arg12 = %c0 to %c8 step %c1 {
                  %0 = affine.apply #map2(%arg3, %arg8, %arg9, %arg10, %arg11)
                  %1 = affine.apply #map3(%arg7, %arg11, %arg12)
                  %2 = memref.load %arg0[%0, %1] : memref<256x512xf16, strided<[1, ?]>>
                  %3 = affine.apply #map4(%arg10, %arg11)
                  %4 = affine.apply #map5(%arg11)
                  %5 = arith.xori %4, %3 : index
                  %6 = affine.apply #map6(%arg8, %arg9, %arg10, %arg11)
                  %7 = affine.apply #map7(%5, %arg12)
                  // expected-error @below {{software_pipeline: expected copies of 4, 8 or 16 bytes that lie together, as only these can be asynchronous, got elements of several loads of A, of whose strides it is not known that elements lie together and aligned: the last must be 1, and te.var has divisible_by}}
                  memref.store %2, %alloc[%6, %7] : memref<128x64xf16, #gpu.address_space<workgroup>>
                } {schedule.vectorize}
              }
            }
          }
        }
      } {schedule.pipeline = #schedule.pipeline<stages = 3, async = true>}
    }
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
func.func @f(%arg0: memref<256x256xf32, strided<[1, ?]>> {te.name = "A", te.stride_symbols = ["", "ld"], te.strides = array<i64: 1, -1>}) {
  %c64 = arith.constant 64 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %c0 = arith.constant 0 : index
  scf.for %arg2 = %c0 to %c256 step %c1 {
    scf.for %arg3 = %c0 to %c4 step %c1 {
      %alloc = memref.alloc() {schedule.pipelined, te.stage = "A.shared"} : memref<1x64xf32, #gpu.address_space<workgroup>>
      scf.for %arg4 = %c0 to %c64 step %c1 {
        %0 = affine.apply #map(%arg3, %arg4)
        %1 = memref.load %arg0[%arg2, %0] : memref<256x256xf32, strided<[1, ?]>>
        // expected-error @below {{software_pipeline: expected to copy from rows of elements that lie side by side, got A, whose last stride is not 1}}
        memref.store %1, %alloc[%c0, %arg4] : memref<1x64xf32, #gpu.address_space<workgroup>>
      }
    } {schedule.pipeline = #schedule.pipeline<stages = 2, async = true>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}
