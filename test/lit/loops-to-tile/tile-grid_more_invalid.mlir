// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops{arch=sm_90a}))' --split-input-file --verify-diagnostics

#map = affine_map<()[s0] -> (s0 ceildiv 64)>
#map1 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: memref<?x64xbf16> {te.name = "A", te.symbols = ["M", ""]}, %arg1: memref<64x64xbf16> {te.name = "B"}, %arg2: memref<?x64xf32> {te.name = "C", te.output, te.symbols = ["M", ""]}) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %dim = memref.dim %arg0, %c0 : memref<?x64xbf16>
  // expected-error @below {{persistent: expected constant extents for stream_k, which deals out the steps of tiles when the program is compiled, got a symbolic one of axis 'C.i0.outer'}}
  scf.for %arg3 = %c0 to %c128 step %c1 {
    %0 = affine.apply #map()[%dim]
    scf.for %arg4 = %c0 to %0 step %c1 {
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
            %1 = affine.apply #map1(%arg4, %arg8)
            %2 = arith.cmpi slt, %1, %dim : index
            %3 = scf.if %2 -> (bf16) {
              %4 = memref.load %arg0[%1, %arg9] : memref<?x64xbf16>
              scf.yield %4 : bf16
            } else {
              %cst = arith.constant 0.000000e+00 : bf16
              scf.yield %cst : bf16
            }
            memref.store %3, %alloc_0[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          }
        }
        %alloc_1 = memref.alloc() {te.stage = "Bs"} : memref<64x64xbf16, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            %1 = memref.load %arg1[%arg8, %arg9] : memref<64x64xbf16>
            memref.store %1, %alloc_1[%arg8, %arg9] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg8 = %c0 to %c64 step %c1 {
          scf.for %arg9 = %c0 to %c64 step %c1 {
            scf.for %arg10 = %c0 to %c64 step %c1 {
              %1 = memref.load %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
              %2 = memref.load %alloc_0[%arg8, %arg10] {schedule.operand = #schedule.operand<a>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
              %3 = arith.extf %2 : bf16 to f32
              %4 = memref.load %alloc_1[%arg10, %arg9] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #gpu.address_space<workgroup>>
              %5 = arith.extf %4 : bf16 to f32
              %6 = arith.mulf %3, %5 : f32
              %7 = arith.addf %1, %6 : f32
              memref.store %7, %alloca[%arg8, %arg9] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #gpu.address_space<private>>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.pipeline = #schedule.pipeline<stages = 8>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 240>}
      scf.for %arg7 = %c0 to %c64 step %c1 {
        scf.for %arg8 = %c0 to %c64 step %c1 {
          %3 = affine.apply #map2(%arg4, %arg7)
          %4 = memref.load %alloca[%3, %arg8] : memref<64x64xf32, #gpu.address_space<private>>
          memref.store %4, %alloc[%arg7, %arg8] : memref<64x64xf32, #gpu.address_space<workgroup>>
        }
      }
      scf.for %arg6 = %c0 to %c64 step %c1 {
        scf.for %arg7 = %c0 to %c64 step %c1 {
          %1 = affine.apply #map1(%arg4, %arg6)
          %3 = memref.load %alloc[%arg6, %arg7] : memref<64x64xf32, #gpu.address_space<workgroup>>
          memref.store %3, %arg2[%1, %arg7] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 64>} : memref<?x64xf32>
        }
      }
    } {schedule.axis = #schedule.axis<"i0.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.y>}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 2, raster = grouped, stream_k = true>}
  return
}
