// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(loops-to-tile))' --split-input-file --verify-diagnostics

// What loops say that no schedule in Python comes to, or that it would take much of one to.

func.func @no_block() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // expected-error @below {{wgmma of stage 'P': expected loops bound to blocks around it}}
  scf.for %m = %c0 to %c64 step %c1 {
  } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
  return
}

// -----

func.func @pipeline_in_a_condition(%is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.if %is {
      // expected-error @below {{software_pipeline: expected the pipelined loop right inside the loops on blocks and warpgroups, got it inside a condition}}
      scf.for %k = %c0 to %c2 step %c1 {
        scf.for %m = %c0 to %c64 step %c1 {
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
      } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    }
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @unknown_number_of_steps(%sizes: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    %n = memref.load %sizes[%c0] : memref<1xindex>
    // expected-error @below {{software_pipeline: expected the extent of axis 'P.k' to be known when the kernel is launched}}
    scf.for %k = %c0 to %n step %c1 {
      scf.for %m = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @no_step() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    // expected-error @below {{software_pipeline: expected at least 1 iteration with wgmma, got 0}}
    scf.for %k = %c0 to %c0 step %c1 {
      scf.for %m = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @another_stage_in_the_pipeline(%A: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      // expected-error @below {{software_pipeline: expected a loop with wgmma to fill shared buffers and to multiply, got another stage in it}}
      memref.store %x, %A[%k] : memref<8xf32>
      scf.for %m = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @lanes_are_bound(%A: memref<128xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %t = %c0 to %c128 step %c1 {
      scf.for %k = %c0 to %c2 step %c1 {
        // expected-error @below {{wgmma of stage 'P': expected no loop bound to threadIdx.x, whose threads are the lanes of the instruction}}
        scf.for %m = %c0 to %c64 step %c1 {
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
      } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
      memref.store %x, %A[%t] : memref<128xf32>
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @other_loops() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      scf.for %k = %c0 to %c2 step %c1 {
        // expected-error @below {{expected loops and accesses that say what they multiply (schedule.matrix_axis, schedule.operand), as apply-schedule leaves them, got none}}
        scf.for %m = %c0 to %c64 step %c1 {
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
      } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

func.func @unknown_number_of_blocks() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    %n = affine.apply affine_map<(d0) -> (d0 + 1)>(%b)
    // expected-error @below {{wgmma: expected the extent of axis 'C.j' to be known when the kernel is launched}}
    scf.for %c = %c0 to %n step %c1 {
      scf.for %m = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.y>}
  return
}

// -----

// Rows that are summed over may be few where columns are many.
#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
func.func @steps_of_8(%A: memref<64x128xf16>, %B: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      %sum = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #private>
      scf.for %ko = %c0 to %c8 step %c1 {
        %a = memref.alloc() {te.stage = "As"} : memref<8x64xf16, #shared>
        scf.for %k = %c0 to %c8 step %c1 {
          scf.for %i = %c0 to %c64 step %c1 {
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%ko, %k)
            %column = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%b, %i)
            %x = memref.load %A[%row, %column] : memref<64x128xf16>
            memref.store %x, %a[%k, %i] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<8x64xf16, #shared>
          }
        }
        %c = memref.alloc() {te.stage = "Bs"} : memref<8x64xf16, #shared>
        scf.for %k = %c0 to %c8 step %c1 {
          scf.for %j = %c0 to %c64 step %c1 {
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%ko, %k)
            %x = memref.load %B[%row, %j] : memref<64x64xf16>
            memref.store %x, %c[%k, %j] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<8x64xf16, #shared>
          }
        }
        // expected-error @below {{wgmma of stage 'P': expected steps of a multiple of 16 elements of 'f16', got 8}}
        scf.for %m = %c0 to %c64 step %c1 {
          scf.for %n = %c0 to %c64 step %c1 {
            scf.for %k = %c0 to %c8 step %c1 {
              %old = memref.load %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
              %x = memref.load %a[%k, %m] {schedule.operand = #schedule.operand<a>} : memref<8x64xf16, #shared>
              %y = memref.load %c[%k, %n] {schedule.operand = #schedule.operand<b>} : memref<8x64xf16, #shared>
              %xe = arith.extf %x : f16 to f32
              %ye = arith.extf %y : f16 to f32
              %xy = arith.mulf %xe, %ye : f32
              %new = arith.addf %old, %xy : f32
              memref.store %new, %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x8>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// The last of loops on one index would be the kernel's only one.
func.func @blocks_twice() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  // expected-note @below {{axis 'C.i' is bound here}}
  scf.for %i = %c0 to %c2 step %c1 {
    // expected-error @below {{expected one loop on blockIdx.x, or an inner one that does the same in each iteration of the outer, got axis 'C.j' inside of axis 'C.i'}}
    scf.for %j = %c0 to %c2 step %c1 {
      scf.for %k = %c0 to %c2 step %c1 {
        scf.for %m = %c0 to %c64 step %c1 {
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x128x64>}
      } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// Sums that begin at zero in the first of two columns alone.
#private = #gpu.address_space<private>
func.func @a_part_is_set() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      %sum = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #private>
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c2 step %c1 {
          // expected-error @below {{wgmma: expected loops that set all of stage 'P'}}
          memref.store %zero, %sum[%i, %j] : memref<64x64xf32, #private>
        }
      }
      scf.for %k = %c0 to %c2 step %c1 {
        scf.for %m = %c0 to %c64 step %c1 {
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
      } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// A loop without a constant extent between the pipelined loop and the matmul.
func.func @unknown_number_of_matmuls(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        // expected-error @below {{wgmma of stage 'P': expected nothing but loops of constant extents between it and the pipelined loop, got a symbolic extent}}
        scf.for %m = %c0 to %c64 step %c1 {
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
      }
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// A stage before the product that none of its operands is.
func.func @a_stage_before(%A: memref<128xf32> {te.name = "A"}, %B: memref<128xf32> {te.name = "B"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      // expected-error @below {{wgmma: expected stages that are computed before the matmul to be its operands, got stage 'B'}}
      scf.for %i = %c0 to %c128 step %c1 {
        %x = memref.load %A[%i] : memref<128xf32>
        memref.store %x, %B[%i] : memref<128xf32>
      }
      scf.for %k = %c0 to %c2 step %c1 {
        scf.for %m = %c0 to %c64 step %c1 {
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
      } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// An accumulator that nothing sets before the loop.
#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
func.func @sums_of_nothing(%A: memref<256x128xf16>, %B: memref<256x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      %sum = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #private>
      scf.for %ko = %c0 to %c16 step %c1 {
        %a = memref.alloc() {te.stage = "As"} : memref<16x64xf16, #shared>
        scf.for %k = %c0 to %c16 step %c1 {
          scf.for %i = %c0 to %c64 step %c1 {
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%ko, %k)
            %column = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%b, %i)
            %x = memref.load %A[%row, %column] : memref<256x128xf16>
            memref.store %x, %a[%k, %i] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<16x64xf16, #shared>
          }
        }
        %c = memref.alloc() {te.stage = "Bs"} : memref<16x64xf16, #shared>
        scf.for %k = %c0 to %c16 step %c1 {
          scf.for %j = %c0 to %c64 step %c1 {
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%ko, %k)
            %x = memref.load %B[%row, %j] : memref<256x64xf16>
            memref.store %x, %c[%k, %j] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<16x64xf16, #shared>
          }
        }
        // expected-error @below {{wgmma of stage 'P': expected an accumulator that begins at zero, got stage 'P' without a value before them}}
        scf.for %m = %c0 to %c64 step %c1 {
          scf.for %n = %c0 to %c64 step %c1 {
            scf.for %k = %c0 to %c16 step %c1 {
              %old = memref.load %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
              %x = memref.load %a[%k, %m] {schedule.operand = #schedule.operand<a>} : memref<16x64xf16, #shared>
              %y = memref.load %c[%k, %n] {schedule.operand = #schedule.operand<b>} : memref<16x64xf16, #shared>
              %xe = arith.extf %x : f16 to f32
              %ye = arith.extf %y : f16 to f32
              %xy = arith.mulf %xe, %ye : f32
              %new = arith.addf %old, %xy : f32
              memref.store %new, %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// A matmul after the loop that fetches the tiles of another.
func.func @outside_of_the_pipeline() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    // expected-error @below {{wgmma of stage 'P': expected a loop around it that is a software_pipeline, which fetches the tiles}}
    scf.for %m = %c0 to %c64 step %c1 {
    } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// Two matmuls, of which the second is outside of the loop that fetches the tiles.
#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
func.func @second_outside_of_the_pipeline(%A: memref<256x128xf16>, %B: memref<256x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      %sum = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #private>
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          memref.store %zero, %sum[%i, %j] : memref<64x64xf32, #private>
        }
      }
      scf.for %ko = %c0 to %c16 step %c1 {
        %a = memref.alloc() {te.stage = "As"} : memref<16x64xf16, #shared>
        scf.for %k = %c0 to %c16 step %c1 {
          scf.for %i = %c0 to %c64 step %c1 {
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%ko, %k)
            %column = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%b, %i)
            %x = memref.load %A[%row, %column] : memref<256x128xf16>
            memref.store %x, %a[%k, %i] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<16x64xf16, #shared>
          }
        }
        %c = memref.alloc() {te.stage = "Bs"} : memref<16x64xf16, #shared>
        scf.for %k = %c0 to %c16 step %c1 {
          scf.for %j = %c0 to %c64 step %c1 {
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%ko, %k)
            %x = memref.load %B[%row, %j] : memref<256x64xf16>
            memref.store %x, %c[%k, %j] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<16x64xf16, #shared>
          }
        }
        scf.for %m = %c0 to %c64 step %c1 {
          scf.for %n = %c0 to %c64 step %c1 {
            scf.for %k = %c0 to %c16 step %c1 {
              %old = memref.load %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
              %x = memref.load %a[%k, %m] {schedule.operand = #schedule.operand<a>} : memref<16x64xf16, #shared>
              %y = memref.load %c[%k, %n] {schedule.operand = #schedule.operand<b>} : memref<16x64xf16, #shared>
              %xe = arith.extf %x : f16 to f32
              %ye = arith.extf %y : f16 to f32
              %xy = arith.mulf %xe, %ye : f32
              %new = arith.addf %old, %xy : f32
              memref.store %new, %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
      // expected-error @below {{wgmma of stage 'P': expected a loop around it that is a software_pipeline, which fetches the tiles}}
      scf.for %m = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// Indices of an accumulator that XOR makes.
#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
func.func @indices_of_an_accumulator(%A: memref<256x128xf16>, %B: memref<256x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      %sum = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #private>
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          memref.store %zero, %sum[%i, %j] : memref<64x64xf32, #private>
        }
      }
      scf.for %ko = %c0 to %c16 step %c1 {
        %a = memref.alloc() {te.stage = "As"} : memref<16x64xf16, #shared>
        scf.for %k = %c0 to %c16 step %c1 {
          scf.for %i = %c0 to %c64 step %c1 {
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%ko, %k)
            %column = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%b, %i)
            %x = memref.load %A[%row, %column] : memref<256x128xf16>
            memref.store %x, %a[%k, %i] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<16x64xf16, #shared>
          }
        }
        %c = memref.alloc() {te.stage = "Bs"} : memref<16x64xf16, #shared>
        scf.for %k = %c0 to %c16 step %c1 {
          scf.for %j = %c0 to %c64 step %c1 {
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%ko, %k)
            %x = memref.load %B[%row, %j] : memref<256x64xf16>
            memref.store %x, %c[%k, %j] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<16x64xf16, #shared>
          }
        }
        // expected-error @below {{wgmma of stage 'P': expected the loops of one matmul, got indices that are no sums of multiples of loops}}
        scf.for %m = %c0 to %c64 step %c1 {
          scf.for %n = %c0 to %c64 step %c1 {
            scf.for %k = %c0 to %c16 step %c1 {
              %xored = arith.xori %m, %c1 : index
              %old = memref.load %sum[%xored, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
              %x = memref.load %a[%k, %m] {schedule.operand = #schedule.operand<a>} : memref<16x64xf16, #shared>
              %y = memref.load %c[%k, %n] {schedule.operand = #schedule.operand<b>} : memref<16x64xf16, #shared>
              %xe = arith.extf %x : f16 to f32
              %ye = arith.extf %y : f16 to f32
              %xy = arith.mulf %xe, %ye : f32
              %new = arith.addf %old, %xy : f32
              memref.store %new, %sum[%xored, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// Indices of an operand that XOR makes.
#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
func.func @indices_of_an_operand(%A: memref<256x128xf16>, %B: memref<256x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      %sum = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #private>
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          memref.store %zero, %sum[%i, %j] : memref<64x64xf32, #private>
        }
      }
      scf.for %ko = %c0 to %c16 step %c1 {
        %a = memref.alloc() {te.stage = "As"} : memref<16x64xf16, #shared>
        scf.for %k = %c0 to %c16 step %c1 {
          scf.for %i = %c0 to %c64 step %c1 {
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%ko, %k)
            %column = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%b, %i)
            %x = memref.load %A[%row, %column] : memref<256x128xf16>
            memref.store %x, %a[%k, %i] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<16x64xf16, #shared>
          }
        }
        %c = memref.alloc() {te.stage = "Bs"} : memref<16x64xf16, #shared>
        scf.for %k = %c0 to %c16 step %c1 {
          scf.for %j = %c0 to %c64 step %c1 {
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%ko, %k)
            %x = memref.load %B[%row, %j] : memref<256x64xf16>
            memref.store %x, %c[%k, %j] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<16x64xf16, #shared>
          }
        }
        // expected-error @below {{wgmma of stage 'P': expected the loops of one matmul, got indices that are no sums of multiples of loops}}
        scf.for %m = %c0 to %c64 step %c1 {
          scf.for %n = %c0 to %c64 step %c1 {
            scf.for %k = %c0 to %c16 step %c1 {
              %xored = arith.xori %m, %c1 : index
              %old = memref.load %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
              %x = memref.load %a[%k, %xored] {schedule.operand = #schedule.operand<a>} : memref<16x64xf16, #shared>
              %y = memref.load %c[%k, %n] {schedule.operand = #schedule.operand<b>} : memref<16x64xf16, #shared>
              %xe = arith.extf %x : f16 to f32
              %ye = arith.extf %y : f16 to f32
              %xy = arith.mulf %xe, %ye : f32
              %new = arith.addf %old, %xy : f32
              memref.store %new, %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
            } {schedule.matrix_axis = #schedule.matrix_axis<k>}
          } {schedule.matrix_axis = #schedule.matrix_axis<n>}
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
      } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

func.func @a_condition_in_the_pipeline(%is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      scf.if %is {
        // expected-error @below {{wgmma of stage 'P': expected nothing but loops of constant extents between it and the pipelined loop, got a condition}}
        scf.for %m = %c0 to %c64 step %c1 {
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
      }
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @a_condition_in_an_unrolled_loop(%is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      scf.for %l = %c0 to %c2 step %c1 {
        scf.if %is {
          // expected-error @below {{wgmma of stage 'P': expected nothing but loops of constant extents between it and the pipelined loop, got a condition}}
          scf.for %m = %c0 to %c64 step %c1 {
          } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
        }
      }
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

func.func @another_stage_beside_the_matmul(%A: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      scf.for %l = %c0 to %c2 step %c1 {
        // expected-error @below {{software_pipeline: expected a loop with wgmma to fill shared buffers and to multiply, got another stage in it}}
        memref.store %x, %A[%l] : memref<8xf32>
        scf.for %m = %c0 to %c64 step %c1 {
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
      }
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// A buffer that is filled twice.
#shared = #gpu.address_space<workgroup>
func.func @filled_twice(%A: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      %a = memref.alloc() {te.stage = "As"} : memref<64x64xf16, #shared>
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          %x = memref.load %A[%i, %j] : memref<64x64xf16>
          memref.store %x, %a[%i, %j] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #shared>
        }
      }
      // expected-error @below {{software_pipeline: expected a loop with wgmma to fill shared buffers and to multiply, got another stage in it}}
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          %x = memref.load %A[%i, %j] : memref<64x64xf16>
          memref.store %x, %a[%i, %j] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #shared>
        }
      }
      scf.for %m = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

#shared = #gpu.address_space<workgroup>
func.func @bits(%A: memref<64x128xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      %a = memref.alloc() {te.stage = "As"} : memref<64x128xi1, #shared>
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c128 step %c1 {
          %x = memref.load %A[%i, %j] : memref<64x128xi1>
          // expected-error @below {{copy_by: stage 'As': expected elements of whole bytes, got 'i1'}}
          memref.store %x, %a[%i, %j] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x128xi1, #shared>
        }
      }
      scf.for %m = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

#shared = #gpu.address_space<workgroup>
func.func @six_dimensions(%A: memref<2x2x2x2x64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      %a = memref.alloc() {te.stage = "As"} : memref<64x64xf16, #shared>
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          %x = memref.load %A[%b, %b, %b, %k, %i, %j] : memref<2x2x2x2x64x64xf16>
          // expected-error @below {{copy_by: stage 'As': expected at most 5 dimensions, got 6}}
          memref.store %x, %a[%i, %j] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16, #shared>
        }
      }
      scf.for %m = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}

// -----

// The engine stores what is in shared memory without sums.
#shared = #gpu.address_space<workgroup>
func.func @a_copy_of_no_sums(%A: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %c2 step %c1 {
    %a = memref.alloc() {te.stage = "As"} : memref<64x64xf16, #shared>
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        %x = memref.load %a[%i, %j] : memref<64x64xf16, #shared>
        memref.store %x, %A[%i, %j] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xf16>
      }
    }
    scf.for %k = %c0 to %c2 step %c1 {
      // expected-error @below {{wgmma of stage 'P': expected a stage that reads the accumulator, got none in the kernel}}
      scf.for %m = %c0 to %c64 step %c1 {
      } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
    } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
  } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  return
}
