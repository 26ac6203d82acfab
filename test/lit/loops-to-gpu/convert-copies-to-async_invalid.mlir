// RUN: tilewright-opt %s --tilewright-pipeline="from=loops to=gpu arch=sm_75" --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 * 16 + d1)>
#map5 = affine_map<(d0, d1) -> (d0 * 8 + d1)>
func.func @product(%arg1: memref<32x32xf32> {te.name = "B"}) {
  %c32 = arith.constant 32 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c2 step %c1 {
    scf.for %arg4 = %c0 to %c2 step %c1 {
      scf.for %arg7 = %c0 to %c4 step %c1 {
        %alloc_0 = memref.alloc() {schedule.pipelined, te.stage = "B.shared"} : memref<8x16xf32, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c16 step %c1 {
          scf.for %arg9 = %c0 to %c16 step %c1 {
            %3 = affine.apply #map(%arg8, %arg9)
            %4 = arith.cmpi slt, %3, %c128 : index
            %5 = arith.cmpi slt, %arg8, %c8 : index
            %7 = affine.apply #map5(%arg7, %arg8)
            %10 = affine.apply #map(%arg4, %arg9)
            %11 = memref.load %arg1[%7, %10] : memref<32x32xf32>
            // expected-error @below {{software_pipeline: expected an architecture from sm_80 on for asynchronous copies, got sm_75}}
            memref.store %11, %alloc_0[%arg8, %arg9] : memref<8x16xf32, #gpu.address_space<workgroup>>
          }
        }
      } {schedule.pipeline = #schedule.pipeline<stages = 2, async = true>}
    }
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}
