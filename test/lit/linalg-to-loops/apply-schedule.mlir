// RUN: tilewright-opt %s --tilewright-pipeline="to=loops" --split-input-file | FileCheck %s

// Block and thread tiles; shared buffers that no thread was given are filled by all threads together, without a
// predicate where the buffer is a multiple of the threads; accumulators live in the written cache.
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1, d2) -> (d0 * 32 + d1 * 8 + d2)>
// CHECK-LABEL: func.func @gemm(%arg0: memref<64x32xf32>
// CHECK:       scf.for %[[BY:.*]] = %c0 to %c2
// CHECK:         scf.for %[[BX:.*]] = %c0 to %c3
// CHECK:           scf.for %[[TY:.*]] = %c0 to %c8
// CHECK:             scf.for %[[TX:.*]] = %c0 to %c8
// CHECK:               %[[ACC:.*]] = memref.alloca() {te.stage = "C.local"} : memref<4x2xf32, #gpu.address_space<private>>
// CHECK:               memref.store %cst, %[[ACC]]
// CHECK:               scf.for %[[KO:.*]] = %c0 to %c4
// CHECK:                 %[[AS:.*]] = memref.alloc() {te.stage = "A.shared"} : memref<32x8xf32, #gpu.address_space<workgroup>>
// CHECK:                 scf.for %[[S:.*]] = %c0 to %c4
// CHECK:                   scf.for %[[FY:.*]] = %c0 to %c8
// CHECK:                     scf.for %[[FX:.*]] = %c0 to %c8
// CHECK-NOT:                   scf.if
// CHECK:                       affine.apply #[[$ROW]](%[[BY]], %[[S]], %[[FY]])
// CHECK:                     } {schedule.axis = #schedule.axis<"ax0.ax1.fused.inner" of "A.shared">, schedule.bind = #schedule.thread<threadIdx.x>}
// CHECK:                 memref.alloc() {te.stage = "B.shared"} : memref<8x16xf32, #gpu.address_space<workgroup>>
// CHECK:                 } {schedule.axis = #schedule.axis<"k.inner" of "C.local">, schedule.unroll}
// CHECK:               } {schedule.axis = #schedule.axis<"k.outer" of "C.local">}
// CHECK:               } {schedule.axis = #schedule.axis<"i.inner.inner" of "C">}
// CHECK:             } {schedule.axis = #schedule.axis<"j.inner.outer" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
// CHECK:       } {schedule.axis = #schedule.axis<"i.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.y>}
func.func @gemm(%A: tensor<64x32xf32> {te.name = "A"}, %B: tensor<32x48xf32> {te.name = "B"},
                %out: tensor<64x48xf32> {te.name = "C", te.output}) -> tensor<64x48xf32> {
  %C = te.compute "C" (%i: 64, %j: 48) sum (%k: 32) {
    %a = te.read %A[%i, %k] : tensor<64x32xf32>
    %b = te.read %B[%k, %j] : tensor<32x48xf32>
    %ab = arith.mulf %a, %b : f32
    te.yield %ab : f32
  } : tensor<64x48xf32>
  return %C : tensor<64x48xf32>
}
schedule.of @gemm {
  %C = schedule.stage "C"
  %CL = schedule.cache_write %C in <local> as "C.local"
  %AS = schedule.cache_read "A" in <shared> for %CL as "A.shared"
  %BS = schedule.cache_read "B" in <shared> for %CL as "B.shared"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %by, %bx, %ii, %ji = schedule.tile %i, %j by 32, 16
  %ty, %i2 = schedule.split %ii by 4
  %tx, %j2 = schedule.split %ji by 2
  schedule.reorder %by, %bx, %ty, %tx, %i2, %j2
  schedule.bind %by to <blockIdx.y>
  schedule.bind %bx to <blockIdx.x>
  schedule.bind %ty to <threadIdx.y>
  schedule.bind %tx to <threadIdx.x>
  schedule.compute_at %CL at %C, %tx
  %ci, %cj = schedule.axes %CL ["i", "j"] : !schedule.axis, !schedule.axis
  %k = schedule.reduce_axes %CL ["k"] : !schedule.axis
  %ko, %ki = schedule.split %k by 8
  schedule.reorder %ko, %ki, %ci, %cj
  schedule.unroll %ki
  schedule.compute_at %AS at %CL, %ko
  schedule.compute_at %BS at %CL, %ko
}

// -----

// A factor that does not divide: the iterations beyond are predicated off, in a symbolic extent too. A reduction to
// global memory accumulates in a private buffer.
// CHECK-LABEL: func.func @predicates
// CHECK-DAG:   %[[N:.*]] = memref.dim %arg0, %c0
// CHECK:       scf.for %[[IO:.*]] = %c0 to %[[BLOCKS:.*]] step
// CHECK:         scf.for %[[II:.*]] = %c0 to %c32
// CHECK:           %[[ACC:.*]] = memref.alloca() {te.stage = "S"} : memref<f32, #gpu.address_space<private>>
// CHECK:           memref.store %cst, %[[ACC]][]
// CHECK:           scf.for %[[KO:.*]] = %c0 to %c5
// CHECK:             scf.for %[[KI:.*]] = %c0 to %c8
// CHECK-DAG:           %[[I:.*]] = affine.apply #{{.*}}(%[[IO]], %[[II]])
// CHECK-DAG:           arith.cmpi slt, %[[I]], %[[N]]
// CHECK-DAG:           %[[K:.*]] = affine.apply #{{.*}}(%[[KO]], %[[KI]])
// CHECK-DAG:           arith.cmpi slt, %[[K]], %c37
// CHECK:               scf.if
// CHECK:                 memref.load %arg0[%[[I]], %[[K]]]
// CHECK:           arith.cmpi slt, %{{.*}}, %[[N]]
// CHECK-NEXT:      scf.if
// CHECK:             memref.store %{{.*}}, %arg1
func.func @predicates(%A: tensor<?x37xf32> {te.name = "A", te.symbols = ["n", ""]},
                      %out: tensor<?xf32> {te.name = "S", te.output, te.symbols = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : tensor<?x37xf32>
  %S = te.compute "S" (%i: %n) sum (%k: 37) {
    %a = te.read %A[%i, %k] : tensor<?x37xf32>
    te.yield %a : f32
  } : tensor<?xf32>
  return %S : tensor<?xf32>
}
schedule.of @predicates {
  %S = schedule.stage "S"
  %i = schedule.axes %S ["i"] : !schedule.axis
  %k = schedule.reduce_axes %S ["k"] : !schedule.axis
  %io, %ii = schedule.split %i by 32
  %ko, %ki = schedule.split %k by 8
  schedule.bind %io to <blockIdx.x>
  schedule.bind %ii to <threadIdx.x>
}

// -----

// A stencil's cache holds the tile and its rim; without a scope of its own it is shared inside a block.
// CHECK-LABEL: func.func @stencil
// CHECK:       scf.for %[[IO:.*]] = %c0 to %c4
// CHECK:         %[[BUF:.*]] = memref.alloc() {te.stage = "P"} : memref<18xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.load %[[BUF]][%[[II:.*]]]
// CHECK:         memref.load %[[BUF]][%{{.*}}]
func.func @stencil(%A: tensor<66xf32> {te.name = "A"}, %out: tensor<64xf32> {te.name = "B", te.output}) -> tensor<64xf32> {
  %P = te.compute "P" (%y: 66) {
    %a = te.read %A[%y] : tensor<66xf32>
    %twice = arith.addf %a, %a : f32
    te.yield %twice : f32
  } : tensor<66xf32>
  %B = te.compute "B" (%i: 64) {
    %l = te.read %P[%i] : tensor<66xf32>
    %r = te.read %P[%i + 2] : tensor<66xf32>
    %s = arith.addf %l, %r : f32
    te.yield %s : f32
  } : tensor<64xf32>
  return %B : tensor<64xf32>
}
schedule.of @stencil {
  %B = schedule.stage "B"
  %P = schedule.stage "P"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 16
  schedule.bind %io to <blockIdx.x>
  schedule.bind %ii to <threadIdx.x>
  schedule.compute_at %P at %B, %io
}
