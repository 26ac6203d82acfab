// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(distribute-fragments{arch=sm_80}))' --split-input-file --verify-diagnostics

func.func @no_marks(%C: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    // expected-error @below {{expected loops and accesses that say what they multiply (schedule.matrix_axis, schedule.operand), as apply-schedule leaves them, got none}}
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
          %x = memref.load %A[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xbf16>
          %y = memref.load %B[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xbf16>
          %sum = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xbf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : bf16
          %more = arith.addf %sum, %product : bf16
          memref.store %more, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xbf16, #gpu.address_space<private>>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
    gpu.terminator
  }
  return
}

// -----

func.func @small_tile(%A: memref<16x8xf16>, %B: memref<8x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() : memref<16x8xf16, #gpu.address_space<private>>
    // expected-error @below {{mma_sync of stage 'C': expected tiles of 16 x 8 x 16, got 16 x 8 x 8}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c8 step %c1 {
          %x = memref.load %A[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x8xf16>
          %y = memref.load %B[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x8xf16>
          %sum = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : f16
          %more = arith.addf %sum, %product : f16
          memref.store %more, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16, #gpu.address_space<private>>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x8>, schedule.matrix_axis = #schedule.matrix_axis<m>}
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
          %x = memref.load %A[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
          %y = memref.load %B[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
          %sum = memref.load %c[%at, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<32x8xf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : f16
          %more = arith.addf %sum, %product : f16
          memref.store %more, %c[%at, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<32x8xf16, #gpu.address_space<private>>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
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
            %x = memref.load %A[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
            %y = memref.load %B[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
            %sum = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16, #gpu.address_space<private>>
            %product = arith.mulf %x, %y : f16
            %more = arith.addf %sum, %product : f16
            memref.store %more, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16, #gpu.address_space<private>>
          } {schedule.matrix_axis = #schedule.matrix_axis<k>}
        } {schedule.matrix_axis = #schedule.matrix_axis<n>}
      } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
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
          %x = memref.load %A[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
          %y = memref.load %B[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
          %sum = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : f16
          %more = arith.addf %sum, %product : f16
          memref.store %more, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16, #gpu.address_space<private>>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
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
          %x = memref.load %A[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
          %y = memref.load %B[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
          %sum = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : f16
          %more = arith.addf %sum, %product : f16
          memref.store %more, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16, #gpu.address_space<private>>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
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
          %x = memref.load %A[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
          %y = memref.load %B[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
          %sum = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16, #gpu.address_space<private>>
          %product = arith.mulf %x, %y : f16
          %more = arith.addf %sum, %product : f16
          memref.store %more, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16, #gpu.address_space<private>>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
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
          %x = memref.load %A[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
          %y = memref.load %B[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xbf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : bf16 to f32
          %sum = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x16xf32, #gpu.address_space<private>>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
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

func.func @four_loops(%A: memref<16x16xf16>, %B: memref<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = memref.alloca() {te.stage = "C"} : memref<16x16xf32, #gpu.address_space<private>>
    // expected-error @below {{expected one loop for each of m, n and k, got 4}}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %u = %c0 to %c1 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %A[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
          %y = memref.load %B[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
          %xe = arith.extf %x : f16 to f32
          %ye = arith.extf %y : f16 to f32
          %sum = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x16xf32, #gpu.address_space<private>>
          %product = arith.mulf %xe, %ye : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x16xf32, #gpu.address_space<private>>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
    gpu.terminator
  }
  return
}
