// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(distribute-fragments{arch=sm_80}))' --split-input-file --verify-diagnostics

func.func @no_product(%C: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    // expected-error @below {{expected the loops of one product, got none that store}}
    scf.for %i = %c0 to %c16 step %c1 {
      %x = memref.load %C[%i] : memref<16xf32>
    } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @sums_of_another_type(%A: memref<16x16xbf16>, %B: memref<8x16xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() : memref<16x8xbf16, #gpu.address_space<private>>
    // expected-error @below {{mma_sync of stage 'C': expected types that mma.sync multiplies, got 'bf16' to 'bf16'}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xbf16>
          %y = memref.load %B[%j, %k] : memref<8x16xbf16>
          %sum = memref.load %c[%i, %j] : memref<16x8xbf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : bf16
          %more = arith.addf %sum, %product : bf16
          memref.store %more, %c[%i, %j] : memref<16x8xbf16, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @small_tile(%A: memref<8x16xf16>, %B: memref<16x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() : memref<8x16xf16, #gpu.address_space<private>>
    // expected-error @below {{mma_sync of stage 'C': expected tiles of 16 x 8 x 16, got 8 x 16 x 16}}
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c16 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<8x16xf16>
          %y = memref.load %B[%j, %k] : memref<16x16xf16>
          %sum = memref.load %c[%i, %j] : memref<8x16xf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : f16
          %more = arith.addf %sum, %product : f16
          memref.store %more, %c[%i, %j] : memref<8x16xf16, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @tiles_apart(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<32x8xf16, #gpu.address_space<private>>
    // expected-error @below {{mma_sync of stage 'C': expected 'C' to hold whole tiles of 16 x 8, one beside the other, got 'memref<32x8xf16, #gpu.address_space<private>>'}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %at = affine.apply affine_map<(i) -> (i * 2)>(%i)
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xf16>
          %sum = memref.load %c[%at, %j] : memref<32x8xf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : f16
          %more = arith.addf %sum, %product : f16
          memref.store %more, %c[%at, %j] : memref<32x8xf16, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @one_lane(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x8xf16, #gpu.address_space<private>>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
      // expected-error @below {{mma_sync of stage 'C': expected a tile that the lanes of a warp compute together, got one in a loop or predicate that depends on threadIdx.x}}
      scf.for %i = %c0 to %c16 step %c1 {
        scf.for %j = %c0 to %c8 step %c1 {
          scf.for %k = %c0 to %c16 step %c1 {
            %x = memref.load %A[%i, %k] : memref<16x16xf16>
            %y = memref.load %B[%j, %k] : memref<8x16xf16>
            %sum = memref.load %c[%i, %j] : memref<16x8xf16, #gpu.address_space<private>>
            %product = arith.mulf %x, %y : f16
            %more = arith.addf %sum, %product : f16
            memref.store %more, %c[%i, %j] : memref<16x8xf16, #gpu.address_space<private>>
          }
        }
      } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    }
    gpu.terminator
  }
  return
}

// -----

func.func @uses(%A: memref<16x16xf16>, %B: memref<8x16xf16>, %t: memref<16x16xf16, #gpu.address_space<private>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x8xf16, #gpu.address_space<private>>
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xf16>
          %sum = memref.load %c[%i, %j] : memref<16x8xf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : f16
          %more = arith.addf %sum, %product : f16
          memref.store %more, %c[%i, %j] : memref<16x8xf16, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    // expected-error @below {{mma_sync of stage 'C': expected loads and stores of 'C', got 'memref.dim'}}
    %d = memref.dim %c, %c0 : memref<16x8xf16, #gpu.address_space<private>>
    gpu.terminator
  }
  return
}

// -----

func.func @atomic(%A: memref<16x16xf16>, %B: memref<8x16xf16>, %S: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x8xf16, #gpu.address_space<private>>
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xf16>
          %sum = memref.load %c[%i, %j] : memref<16x8xf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : f16
          %more = arith.addf %sum, %product : f16
          memref.store %more, %c[%i, %j] : memref<16x8xf16, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        %x = memref.load %c[%i, %j] : memref<16x8xf16, #gpu.address_space<private>>
        // expected-error @below {{mma_sync of stage 'C': expected loops on 'C', which the lanes of a warp share out, that compute one element from one element, got 'memref.atomic_rmw'}}
        %old = memref.atomic_rmw addf %x, %S[%i, %j] : (f16, memref<16x8xf16>) -> f16
      }
    }
    gpu.terminator
  }
  return
}

// -----

func.func @carried(%A: memref<16x16xf16>, %B: memref<8x16xf16>, %S: memref<16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f16
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x8xf16, #gpu.address_space<private>>
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xf16>
          %sum = memref.load %c[%i, %j] : memref<16x8xf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : f16
          %more = arith.addf %sum, %product : f16
          memref.store %more, %c[%i, %j] : memref<16x8xf16, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    scf.for %i = %c0 to %c16 step %c1 {
      // expected-error @below {{mma_sync of stage 'C': expected loops on 'C', which the lanes of a warp share out, that compute one element from one element, got a loop that carries values}}
      %total = scf.for %j = %c0 to %c8 step %c1 iter_args(%t = %zero) -> (f16) {
        %x = memref.load %c[%i, %j] : memref<16x8xf16, #gpu.address_space<private>>
        %u = arith.addf %t, %x : f16
        scf.yield %u : f16
      }
    }
    gpu.terminator
  }
  return
}

// -----

func.func @sum_of_each_step(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x16xf32, #gpu.address_space<private>>
    // expected-error @below {{expected the loops of one product, got a sum that does not change with the loop over columns}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : f16 to f32
          %sum = memref.load %c[%i, %k] : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %k] : memref<16x16xf32, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @sum_of_one_column(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x16xf32, #gpu.address_space<private>>
    // expected-error @below {{expected the loops of one product, got a sum that does not change with the loop over columns}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : f16 to f32
          %sum = memref.load %c[%i, %c0] : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %c0] : memref<16x16xf32, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @no_operand_of_columns(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x16xf32, #gpu.address_space<private>>
    // expected-error @below {{expected the loops of one product, got a second operand that does not change with the loop over columns}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%c0, %k] : memref<8x16xf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : f16 to f32
          %sum = memref.load %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @operand_that_stays(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x16xf32, #gpu.address_space<private>>
    // expected-error @below {{expected the loops of one product, got a second operand that does not change with the loop over what is summed over}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %c0] : memref<8x16xf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : f16 to f32
          %sum = memref.load %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @operand_of_all(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x16xf32, #gpu.address_space<private>>
    // expected-error @below {{expected the loops of one product, got a first operand that changes with the loop over columns}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %at = arith.xori %j, %k : index
          %x = memref.load %A[%i, %at] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : f16 to f32
          %sum = memref.load %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @two_types(%A: memref<16x16xf16>, %B: memref<8x16xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x16xf32, #gpu.address_space<private>>
    // expected-error @below {{mma_sync of stage 'C': expected operands of one type, got 'f16' and 'bf16'}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xbf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : bf16 to f32
          %sum = memref.load %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @of_warpgroups(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x16xf32, #gpu.address_space<private>>
    // expected-error @below {{expected no loops of wgmma in a launch: run raise-to-tile-ops before loops are mapped}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : f16 to f32
          %sum = memref.load %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<wgmma, 64x8x4>}
    gpu.terminator
  }
  return
}

// -----

func.func @difference(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x16xf32, #gpu.address_space<private>>
    // expected-error @below {{expected the loops of one product, got a store of something else than a sum}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : f16 to f32
          %sum = memref.load %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.subf %sum, %product : f32
          // expected-note @below {{this is in them}}
          memref.store %more, %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}

// -----

func.func @four_loops(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x16xf32, #gpu.address_space<private>>
    // expected-error @below {{expected the loops of one product, got 4 in place of 3}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %u = %c0 to %c1 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] : memref<16x16xf16>
          %y = memref.load %B[%j, %k] : memref<8x16xf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : f16 to f32
          %sum = memref.load %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %j] : memref<16x16xf32, #gpu.address_space<private>>
        }
        }
      }
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
    gpu.terminator
  }
  return
}
