// RUN: tilewright-opt %s --tilewright-pipeline="from=loops to=gpu arch=sm_90a" --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 * 16 + d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0 * 16 + d1 * 2 + d2 floordiv 8)>
#map2 = affine_map<(d0, d1) -> (d0 * 8 + d1 mod 8)>
#map3 = affine_map<(d0, d1) -> (d0 * 2 + d1 floordiv 8)>
#map4 = affine_map<(d0) -> (d0 mod 8)>
func.func @product(%arg0: memref<32x32xf32> {te.name = "A"}) {
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
        %alloc = memref.alloc() {schedule.pipelined, te.stage = "D"} : memref<16x8xf32, #gpu.address_space<workgroup>>
        scf.for %arg8 = %c0 to %c16 step %c1 {
          scf.for %arg9 = %c0 to %c16 step %c1 {
            %3 = affine.apply #map(%arg8, %arg9)
            %4 = arith.cmpi slt, %3, %c128 : index
            %5 = arith.cmpi slt, %arg8, %c8 : index
            %7 = affine.apply #map1(%arg3, %arg8, %arg9)
            %10 = affine.apply #map2(%arg7, %arg9)
            %11 = memref.load %arg0[%7, %10] : memref<32x32xf32>
            %cst_1 = arith.constant 2.000000e+00 : f32
            %12 = arith.mulf %11, %cst_1 : f32
            %13 = affine.apply #map3(%arg8, %arg9)
            %14 = affine.apply #map4(%arg9)
            // expected-error @below {{software_pipeline: expected a stage that copies a global tensor, which can be done asynchronously, got one that computes its elements}}
            memref.store %12, %alloc[%13, %14] : memref<16x8xf32, #gpu.address_space<workgroup>>
          }
        }
      } {schedule.pipeline = #schedule.pipeline<stages = 2, async = true>}
    }
  } {schedule.bind = #schedule.thread<blockIdx.y>}
  return
}
