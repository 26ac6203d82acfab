// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(distribute-fragments{arch=sm_80}),canonicalize,cse)' | FileCheck %s

// One product of 16 x 16 and 16 x 8, the first factor in shared memory with its granules exchanged.

// CHECK-LABEL: func.func @product
func.func @product(%A: memref<16x16xf16>, %B: memref<8x16xf16>, %C: memref<16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %shared = memref.alloc() : memref<16x16xf16, #gpu.address_space<workgroup>>
    // A lane has four sums: two beside each other in each of two rows.
    // CHECK: %[[C:.*]] = memref.alloca() {alignment = 16 : i64} : memref<1x1x4xf32, #gpu.address_space<private>>
    // CHECK: %[[A:.*]] = memref.alloca() {alignment = 16 : i64} : memref<1x1x8xf16, #gpu.address_space<private>>
    // CHECK: %[[B:.*]] = memref.alloca() {alignment = 8 : i64} : memref<1x1x4xf16, #gpu.address_space<private>>
    %c = memref.alloca() : memref<16x8xf32, #gpu.address_space<private>>
    %a = memref.alloca() : memref<16x16xf16, #gpu.address_space<private>>
    %b = memref.alloca() : memref<8x16xf16, #gpu.address_space<private>>
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        memref.store %zero, %c[%i, %j] : memref<16x8xf32, #gpu.address_space<private>>
      }
    }
    // The matrices are in the order of the registers: those below one another first.
    // CHECK: %[[GRANULE:.*]] = arith.xori
    // CHECK: nvgpu.ldmatrix %{{.*}}[%{{.*}}, %{{.*}}] {numTiles = 4 : i32, transpose = false}
    // CHECK-SAME: memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %column = affine.apply affine_map<(k) -> (k floordiv 8)>(%k)
        %row = affine.apply affine_map<(i) -> (i mod 2)>(%i)
        %granule = arith.xori %column, %row : index
        %at = affine.apply affine_map<(g, k) -> (g * 8 + k mod 8)>(%granule, %k)
        %x = memref.load %shared[%i, %at] : memref<16x16xf16, #gpu.address_space<workgroup>>
        memref.store %x, %a[%i, %k] : memref<16x16xf16, #gpu.address_space<private>>
      }
    }
    // From global memory each lane loads its own, two at a time.
    // CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
    // CHECK: scf.for %[[E:.*]] = %c0 to %c2 step %c1
    // CHECK: %[[X:.*]] = memref.load %arg1
    // CHECK: memref.store %[[X]], %[[B]]
    // CHECK: schedule.vectorize
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %B[%j, %k] : memref<8x16xf16>
        memref.store %x, %b[%j, %k] : memref<8x16xf16, #gpu.address_space<private>>
      }
    }
    // CHECK: nvgpu.mma.sync(%{{.*}}, %{{.*}}, %{{.*}}) {mmaShape = [16, 8, 16]}
    // CHECK-SAME: (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          %x = memref.load %a[%i, %k] {schedule.operand = #schedule.operand<a>} : memref<16x16xf16, #gpu.address_space<private>>
          %y = memref.load %b[%j, %k] {schedule.operand = #schedule.operand<b>} : memref<8x16xf16, #gpu.address_space<private>>
          %sum = memref.load %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf32, #gpu.address_space<private>>
          %wideX = arith.extf %x : f16 to f32
          %wideY = arith.extf %y : f16 to f32
          %product = arith.mulf %wideX, %wideY : f32
          %more = arith.addf %sum, %product : f32
          memref.store %more, %c[%i, %j] {schedule.operand = #schedule.operand<accumulator>} : memref<16x8xf32, #gpu.address_space<private>>
        } {schedule.matrix_axis = #schedule.matrix_axis<k>}
      } {schedule.matrix_axis = #schedule.matrix_axis<n>}
    } {schedule.axis = #schedule.axis<"m" of "C">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>, schedule.matrix_axis = #schedule.matrix_axis<m>}
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        %x = memref.load %c[%i, %j] : memref<16x8xf32, #gpu.address_space<private>>
        memref.store %x, %C[%i, %j] : memref<16x8xf32>
      }
    }
    gpu.terminator
  }
  return
}
