// RUN: tilewright-opt %s --tilewright-pipeline="from=loops to=gpu arch=sm_90a" --split-input-file --verify-diagnostics

#map = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
func.func @mm() {
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg2 = %c0 to %c32 step %c1 {
    scf.for %arg3 = %c0 to %c1 step %c1 {
      %alloca = memref.alloca() {te.stage = "A.local"} : memref<32x32xf16, #gpu.address_space<private>>
      %alloca_0 = memref.alloca() {te.stage = "C.local"} : memref<32x32xf32, #gpu.address_space<private>>
      scf.for %arg4 = %c0 to %c2 step %c1 {
        scf.for %arg5 = %c0 to %c2 step %c1 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %c16 = arith.constant 16 : index
            // expected-error @below {{mma_sync of stage 'C.local': expected 'A.local' to be operand B wherever an instruction takes it, got one that takes it in another place}}
            scf.for %arg7 = %c0 to %c16 step %c1 {
              %c8 = arith.constant 8 : index
              scf.for %arg8 = %c0 to %c8 step %c1 {
                scf.for %arg9 = %c0 to %c16 step %c1 {
                  %0 = affine.apply #map(%arg7, %arg5)
                  %1 = affine.apply #map1(%arg8, %arg6)
                  %2 = memref.load %alloca_0[%0, %1] {schedule.operand = #schedule.operand<accumulator>} : memref<32x32xf32, #gpu.address_space<private>>
                  %3 = affine.apply #map(%arg9, %arg4)
                  %4 = memref.load %alloca[%0, %3] {schedule.operand = #schedule.operand<a>} : memref<32x32xf16, #gpu.address_space<private>>
                  %5 = arith.extf %4 : f16 to f32
                  %6 = memref.load %alloca[%1, %3] {schedule.operand = #schedule.operand<b>} : memref<32x32xf16, #gpu.address_space<private>>
                  %7 = arith.extf %6 : f16 to f32
                  %8 = arith.mulf %5, %7 : f32
                  %9 = arith.addf %2, %8 : f32
                  memref.store %9, %alloca_0[%0, %1] {schedule.operand = #schedule.operand<accumulator>} : memref<32x32xf32, #gpu.address_space<private>>
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

// -----

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
      %alloca = memref.alloca() {te.stage = "C"} : memref<32x32xf32, #gpu.address_space<private>>
      scf.for %arg5 = %c0 to %c2 step %c1 {
        scf.for %arg6 = %c0 to %c2 step %c1 {
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %c16 = arith.constant 16 : index
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
            } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          }
        }
      }
      scf.for %arg5 = %c0 to %c32 step %c1 {
        scf.for %arg6 = %c0 to %c32 step %c1 {
          // expected-error @below {{mma_sync of stage 'C': expected axis 'D.i.inner' to go along the same side of all tiles, got 'C' and 'C', whose lanes differ}}
          %0 = memref.load %alloca[%arg5, %arg6] : memref<32x32xf32, #gpu.address_space<private>>
          %1 = memref.load %alloca[%arg6, %arg5] : memref<32x32xf32, #gpu.address_space<private>>
        }
      } {schedule.axis = #schedule.axis<"i.inner" of "D">}
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
func.func @mm(%arg0: memref<32x32xf16> {te.name = "A"}, %arg1: memref<32x32xf16> {te.name = "B"}, %arg2: memref<32xf32> {te.name = "D", te.output}) {
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c32 step %c1 {
    scf.for %arg4 = %c0 to %c1 step %c1 {
      %alloca = memref.alloca() {te.stage = "C"} : memref<32x32xf32, #gpu.address_space<private>>
      scf.for %arg5 = %c0 to %c2 step %c1 {
        scf.for %arg6 = %c0 to %c2 step %c1 {
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %c16 = arith.constant 16 : index
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
            } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          }
        }
      }
      scf.for %arg5 = %c0 to %c32 step %c1 {
        %alloca_0 = memref.alloca() {te.stage = "D"} : memref<f32, #gpu.address_space<private>>
        scf.for %arg6 = %c0 to %c32 step %c1 {
          %2 = memref.load %alloca[%arg5, %arg6] : memref<32x32xf32, #gpu.address_space<private>>
        }
        %0 = memref.load %alloca_0[] : memref<f32, #gpu.address_space<private>>
        // expected-error @below {{mma_sync of stage 'C': expected loops on 'C', which the lanes of a warp share out, that compute one element from one element, got a store to 'D' that is for several}}
        memref.store %0, %arg2[%arg5] : memref<32xf32>
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

func.func @mm() {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c1 step %c1 {
    %c16 = arith.constant 16 : index
    // expected-error @below {{mma_sync of stage 'C.local': expected the 32 lanes of a warp along threadIdx.x, got none: bind a loop of 32 iterations of what fills shared memory to it, or use env_threads}}
    scf.for %arg7 = %c0 to %c16 step %c1 {
    } {schedule.axis = #schedule.axis<"m" of "C.local">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
func.func @mm(%arg0: memref<32x32xf16> {te.name = "A"}, %arg1: memref<32x32xf16> {te.name = "B"}, %arg2: memref<32x32xf32> {te.name = "C", te.output}) {
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c32 step %c1 {
    scf.for %arg4 = %c0 to %c1 step %c1 {
      scf.for %arg5 = %c0 to %c2 step %c1 {
        scf.for %arg6 = %c0 to %c2 step %c1 {
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %c16 = arith.constant 16 : index
            // expected-error @below {{mma_sync of stage 'C': expected an accumulator in registers, got 'C' in other memory: cache_write it in scope local and tensorize that}}
            scf.for %arg8 = %c0 to %c16 step %c1 {
              %c8 = arith.constant 8 : index
              scf.for %arg9 = %c0 to %c8 step %c1 {
                scf.for %arg10 = %c0 to %c16 step %c1 {
                  %0 = affine.apply #map(%arg8, %arg6)
                  %1 = affine.apply #map1(%arg9, %arg7)
                  %2 = memref.load %arg2[%0, %1] {schedule.operand = #schedule.operand<accumulator>} : memref<32x32xf32>
                  %3 = affine.apply #map(%arg10, %arg5)
                  %4 = memref.load %arg0[%0, %3] {schedule.operand = #schedule.operand<a>} : memref<32x32xf16>
                  %5 = arith.extf %4 : f16 to f32
                  %6 = memref.load %arg1[%1, %3] {schedule.operand = #schedule.operand<b>} : memref<32x32xf16>
                  %7 = arith.extf %6 : f16 to f32
                  %8 = arith.mulf %5, %7 : f32
                  %9 = arith.addf %2, %8 : f32
                  memref.store %9, %arg2[%0, %1] {schedule.operand = #schedule.operand<accumulator>} : memref<32x32xf32>
                } {schedule.matrix_axis = #schedule.matrix_axis<k>}
              } {schedule.matrix_axis = #schedule.matrix_axis<n>}
            } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          }
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
func.func @mm(%arg0: memref<128x16xf16> {te.name = "A"}, %arg1: memref<128x16xf16> {te.name = "B"}) {
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c32 step %c1 {
    scf.for %arg4 = %c0 to %c1 step %c1 {
      %alloca = memref.alloca() {te.stage = "C.local"} : memref<128x128xf32, #gpu.address_space<private>>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c16 step %c1 {
          // expected-error @below {{mma_sync of stage 'C.local': expected tiles that fit 232 registers of each of the block's 32 threads, got 518: 4 of 'A', 2 of 'B', 512 of 'C.local': give a warp a smaller tile, or a block fewer warps}}
          scf.for %arg7 = %c0 to %c16 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              scf.for %arg9 = %c0 to %c16 step %c1 {
                %0 = affine.apply #map(%arg7, %arg5)
                %1 = affine.apply #map1(%arg8, %arg6)
                %2 = memref.load %alloca[%0, %1] {schedule.operand = #schedule.operand<accumulator>} : memref<128x128xf32, #gpu.address_space<private>>
                %3 = memref.load %arg0[%0, %arg9] {schedule.operand = #schedule.operand<a>} : memref<128x16xf16>
                %4 = arith.extf %3 : f16 to f32
                %5 = memref.load %arg1[%1, %arg9] {schedule.operand = #schedule.operand<b>} : memref<128x16xf16>
                %6 = arith.extf %5 : f16 to f32
                %7 = arith.mulf %4, %6 : f32
                %8 = arith.addf %2, %7 : f32
                memref.store %8, %alloca[%0, %1] {schedule.operand = #schedule.operand<accumulator>} : memref<128x128xf32, #gpu.address_space<private>>
              } {schedule.matrix_axis = #schedule.matrix_axis<k>}
            } {schedule.matrix_axis = #schedule.matrix_axis<n>}
          } {schedule.axis = #schedule.axis<"m" of "C.local">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map2 = affine_map<(d0, d1) -> (d0 * 4 + d1)>
func.func @mm(%arg0: memref<32x32xf16> {te.name = "A"}, %arg1: memref<32x32xf16> {te.name = "B"}) {
  %c8 = arith.constant 8 : index
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
            scf.for %arg8 = %c0 to %c16 step %c1 {
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
      scf.for %arg5 = %c0 to %c32 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %0 = affine.apply #map2(%arg6, %arg7)
            // expected-error @below {{mma_sync of stage 'C.local': expected a loop over multiples of 8 along the columns of 'C.local', which the lanes of a warp share out, got none around this access: leave its loops whole}}
            %1 = memref.load %alloca[%arg5, %0] : memref<32x32xf32, #gpu.address_space<private>>
          }
        }
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0 + d1 * 16)>
func.func @mm(%arg0: memref<512x16xf16> {te.name = "A"}, %arg1: memref<8x16xf16> {te.name = "B"}) {
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c0 = arith.constant 0 : index
  scf.for %arg3 = %c0 to %c32 step %c1 {
    %alloca = memref.alloca() {te.stage = "C.local"} : memref<16x8xf32, #gpu.address_space<private>>
    // expected-error @below {{mma_sync of stage 'C.local': expected a tile that the lanes of a warp compute together, got one that depends on threadIdx.x: bind no loop around it to that}}
    scf.for %arg4 = %c0 to %c16 step %c1 {
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %0 = memref.load %alloca[%arg4, %arg5] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf32, #gpu.address_space<private>>
          %1 = affine.apply #map(%arg4, %arg3)
          %2 = memref.load %arg0[%1, %arg6] {schedule.operand = #schedule.operand<a>} : memref<512x16xf16>
          %3 = arith.extf %2 : f16 to f32
          %4 = memref.load %arg1[%arg5, %arg6] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
          %5 = arith.extf %4 : f16 to f32
          %6 = arith.mulf %3, %5 : f32
          %7 = arith.addf %0, %6 : f32
          memref.store %7, %alloca[%arg4, %arg5] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf32, #gpu.address_space<private>>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.axis = #schedule.axis<"m" of "C.local">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
