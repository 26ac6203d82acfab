// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @from_one(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got one that does not run from 0 by 1 to a constant}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      // expected-note @below {{this is in them}}
      scf.for %k = %c1 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @no_axis(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got one without schedule.matrix_axis}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      // expected-note @below {{this is in them}}
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      }
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @two_stores(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got more than one statement}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        memref.store %x, %a[%i, %k] {schedule.operand = #schedule.operand<accumulator>} : memref<16x16xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        // expected-note @below {{this is in them}}
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @barrier(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got 'gpu.barrier'}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        // expected-note @below {{this is in them}}
        gpu.barrier
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @store_without_operand(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got a store without schedule.operand of the accumulator}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        // expected-note @below {{this is in them}}
        memref.store %new, %c[%i, %j] : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @load_without_operand(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got a load without schedule.operand}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        // expected-note @below {{this is in them}}
        %x = memref.load %a[%i, %k] : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @two_of_a(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got two loads of operand a}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        // expected-note @below {{this is in them}}
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<a>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @not_a_sum(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got a store of something else than a sum}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.subf %old, %xy : f16
        // expected-note @below {{this is in them}}
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @other_sum(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got a sum without the accumulator}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        // expected-note @below {{this is in them}}
        %new = arith.addf %x, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @not_a_product(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got a sum with something else than A times B}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.addf %x, %y : f16
        // expected-note @below {{this is in them}}
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @square(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got a multiplication of something else than A and B}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        // expected-note @below {{this is in them}}
        %xy = arith.mulf %x, %x : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @elsewhere(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got an accumulator that is stored elsewhere than where it is loaded from}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%j, %i] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        // expected-note @below {{this is in them}}
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @of_itself(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got a multiplication of the accumulator's elements}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %c[%k, %j] {schedule.operand = #schedule.operand<b>} : memref<16x8xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        // expected-note @below {{this is in them}}
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @a_stays(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got operand A that does not change with the loop over m}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%k, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @b_changes(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got operand B that changes with the loop over m}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%i, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @sum_of_each_step(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got the accumulator that changes with the loop over k}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %at = affine.apply affine_map<(j, k) -> (j + k)>(%j, %k)
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %at] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %at] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @sum_of_one_column(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got the accumulator that does not change with the loop over n}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %c0] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %c0] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @shape(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected loops of m, n and k iterations as #schedule.instruction<mma_sync, 16x8x16> has, got 16, 8 and 8}}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c8 step %c1 {
        %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16>
        %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16>
        %old = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
        %xy = arith.mulf %x, %y : f16
        %new = arith.addf %old, %xy : f16
        memref.store %new, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf16>
      } {schedule.matrix_axis = #schedule.matrix_axis<k>}
    } {schedule.matrix_axis = #schedule.matrix_axis<n>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @no_store(%a: memref<16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got none that store}}
  scf.for %i = %c0 to %c16 step %c1 {
    %x = memref.load %a[%i] {schedule.operand = #schedule.operand<a>} : memref<16xf16>
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @no_loads(%a: memref<16xf16>, %x: f16) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got none that load A, B and the accumulator}}
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %x, %a[%i] {schedule.operand = #schedule.operand<accumulator>} : memref<16xf16>
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @carries(%x: f16) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got one that carries values}}
  %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%s = %x) -> (f16) {
    scf.yield %s : f16
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @condition(%x: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got a condition}}
  scf.for %i = %c0 to %c16 step %c1 {
    // expected-note @below {{this is in them}}
    scf.if %x {
    }
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}

// -----

func.func @iterations() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 9223372036854775807 : index
  // expected-error @below {{'scf.for' op expected the loops of one matmul, got more iterations than 63 bits count}}
  scf.for %i = %c0 to %many step %c1 {
    // expected-note @below {{this is in them}}
    scf.for %j = %c0 to %many step %c1 {
    } {schedule.matrix_axis = #schedule.matrix_axis<m>}
  } {schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
  return
}
