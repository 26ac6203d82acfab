// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(loops-to-tile))' --split-input-file --verify-diagnostics

// Operand A in registers, where these have 16 bits.
#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
func.func @wide_operand(%A: memref<256x128xf16>, %B: memref<256x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      %sum = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #private>
      %q = memref.alloca() {te.stage = "Q"} : memref<64x64xf32, #private>
      %nothing = arith.constant 0.0 : f32
      %zero = arith.constant 0.0 : f32
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          memref.store %zero, %sum[%i, %j] : memref<64x64xf32, #private>
        }
      }
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          memref.store %nothing, %q[%i, %j] : memref<64x64xf32, #private>
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
        // expected-error @below {{wgmma of stage 'P': expected operand A of 16-bit elements or of f8E4M3FN in registers, or of f32 with tf32x3, got 'Q', operand A of 'f32'}}
        scf.for %m = %c0 to %c64 step %c1 {
          scf.for %n = %c0 to %c64 step %c1 {
            scf.for %k = %c0 to %c16 step %c1 {
              %old = memref.load %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
              %x = memref.load %q[%m, %k] {schedule.operand = #schedule.operand<a>} : memref<64x64xf32, #private>
              %y = memref.load %c[%k, %n] {schedule.operand = #schedule.operand<b>} : memref<16x64xf16, #shared>
              %ye = arith.extf %y : f16 to f32
              %xy = arith.mulf %x, %ye : f32
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

// Operand A in registers, of which a part is multiplied.
#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
func.func @part_of_an_operand(%A: memref<256x128xf16>, %B: memref<256x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      %sum = memref.alloca() {te.stage = "P"} : memref<64x64xf32, #private>
      %q = memref.alloca() {te.stage = "Q"} : memref<64x64xf16, #private>
      %nothing = arith.constant 0.0 : f16
      %zero = arith.constant 0.0 : f32
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          memref.store %zero, %sum[%i, %j] : memref<64x64xf32, #private>
        }
      }
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c64 step %c1 {
          memref.store %nothing, %q[%i, %j] : memref<64x64xf16, #private>
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
        // expected-error @below {{wgmma of stage 'P': expected to sum over all columns of 'Q', which is in registers}}
        scf.for %m = %c0 to %c64 step %c1 {
          scf.for %n = %c0 to %c64 step %c1 {
            scf.for %k = %c0 to %c16 step %c1 {
              %old = memref.load %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
              %x = memref.load %q[%m, %k] {schedule.operand = #schedule.operand<a>} : memref<64x64xf16, #private>
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

// One element a row, which only registers hold for the rows of their own.
#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
func.func @rows_to_shared_memory() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %c0 to %c128 step %c1 {
    scf.for %b = %c0 to %c2 step %c1 {
      %most = memref.alloca() {te.stage = "M"} : memref<64xf32, #private>
      %kept = memref.alloc() {te.stage = "K"} : memref<64xf32, #shared>
      scf.for %i = %c0 to %c64 step %c1 {
        memref.store %zero, %most[%i] : memref<64xf32, #private>
      }
      scf.for %i = %c0 to %c64 step %c1 {
        %x = memref.load %most[%i] : memref<64xf32, #private>
        // expected-error @below {{wgmma: stage 'K' of the accumulator of 'P': expected one element a row to stay in registers or to go to global memory}}
        memref.store %x, %kept[%i] : memref<64xf32, #shared>
      }
      scf.for %k = %c0 to %c2 step %c1 {
        scf.for %m = %c0 to %c64 step %c1 {
        } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x16>}
      } {schedule.axis = #schedule.axis<"k" of "P">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
