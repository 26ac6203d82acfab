// RUN: tilewright-opt %s --tilewright-pipeline="from=loops to=gpu arch=sm_75" --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
func.func @mm(%arg0: memref<32x32xf16> {te.name = "A"}, %arg1: memref<32x32xf16> {te.name = "B"}) {
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c32 step %c1 {
    scf.for %arg4 = %c0 to %c1 step %c1 {
      %alloca = memref.alloca() {te.stage = "C.local"} : memref<32x32xf32, #gpu.address_space<private>>
      scf.for %arg5 = %c0 to %c2 step %c1 {
        scf.for %arg6 = %c0 to %c2 step %c1 {
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %c16 = arith.constant 16 : index
            // expected-error @below {{mma_sync of stage 'C.local': expected a target of sm_80 or later, got sm_75}}
            scf.for %arg8 = %c0 to %c16 step %c1 {
              %c8 = arith.constant 8 : index
              scf.for %arg9 = %c0 to %c8 step %c1 {
                scf.for %arg10 = %c0 to %c16 step %c1 {
                  %0 = affine.apply #map(%arg8, %arg6)
                  %1 = affine.apply #map1(%arg9, %arg7)
                  %2 = memref.load %alloca[%0, %1] {schedule.operand = #schedule.operand<accumulator>} : memref<32x32xf32, #gpu.address_space<private>>
                  %3 = affine.apply #map(%arg10, %arg5)
                  %4 = memref.load %arg0[%0, %3] {schedule.operand = #schedule.operand<a>} : memref<32x32xf16>
                  %5 = arith.extf %4 : f16 to f32
                  %6 = memref.load %arg1[%1, %3] {schedule.operand = #schedule.operand<b>} : memref<32x32xf16>
                  %7 = arith.extf %6 : f16 to f32
                  %8 = arith.mulf %5, %7 : f32
                  %9 = arith.addf %2, %8 : f32
                  memref.store %9, %alloca[%0, %1] {schedule.operand = #schedule.operand<accumulator>} : memref<32x32xf32, #gpu.address_space<private>>
                } {schedule.matrix_axis = #schedule.matrix_axis<k>}
              } {schedule.matrix_axis = #schedule.matrix_axis<n>}
            } {schedule.axis = #schedule.axis<"m" of "C.local">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          }
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
