// RUN: tilewright-opt %s --rewrite-scheduled-dataflow --split-input-file | FileCheck %s

// A cache is a stage between a tensor and its readers; a written cache takes over the computation.
// CHECK-LABEL: func.func @caches
// CHECK:       %A.shared = te.compute "A.shared" (%ax0: 64, %ax1: 32) {
// CHECK:         te.read %arg0[%ax0, %ax1] : tensor<64x32xf32>
// CHECK:       %C.local = te.compute "C.local" (%i: 64) sum (%k: 32) {
// CHECK:         te.read %A.shared[%i, %k]
// CHECK:       %C = te.compute "C" (%i: 64) {
// CHECK:         te.read %C.local[%i]
// CHECK:       return %C
// CHECK:       schedule.of @caches
// CHECK:         %C_local = schedule.stage "C.local"
// CHECK-NEXT:    schedule.set_scope %C_local to <local>
// CHECK:         %A_shared = schedule.stage "A.shared"
// CHECK-NEXT:    schedule.set_scope %A_shared to <shared>
// CHECK:         schedule.compute_at %A_shared at %C_local, %k
func.func @caches(%A: tensor<64x32xf32> {te.name = "A"}, %out: tensor<64xf32> {te.name = "C", te.output}) -> tensor<64xf32> {
  %C = te.compute "C" (%i: 64) sum (%k: 32) {
    %a = te.read %A[%i, %k] : tensor<64x32xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  return %C : tensor<64xf32>
}
schedule.of @caches {
  %C = schedule.stage "C"
  %CL = schedule.cache_write %C in <local> as "C.local"
  %AS = schedule.cache_read "A" in <shared> for %CL as "A.shared"
  %k = schedule.reduce_axes %CL ["k"] : !schedule.axis
  schedule.compute_at %AS at %CL, %k
}

// -----

// Padding is computed where it is read: the indices compose, in the condition and in the guarded read.
// CHECK-LABEL: func.func @inline
// CHECK-NOT:   te.compute "pad"
// CHECK:       te.compute "C" (%i: 8) sum (%r: 3) {
// CHECK-DAG:     %[[AT:.*]] = affine.apply #{{.*}}(%i, %r)
// CHECK:         arith.cmpi sge, %[[AT]]
// CHECK:         scf.if
// CHECK:           te.read %arg0[%i + %r - 1] : tensor<8xf32>
// CHECK:       schedule.of @inline
// CHECK-NOT:   compute_inline
func.func @inline(%A: tensor<8xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "C", te.output}) -> tensor<8xf32> {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %pad = te.compute "pad" (%y: 10) {
    %low = arith.cmpi sge, %y, %c1 : index
    %high = arith.cmpi slt, %y, %c9 : index
    %inside = arith.andi %low, %high : i1
    %a = scf.if %inside -> f32 {
      %read = te.read %A[%y - 1] : tensor<8xf32>
      scf.yield %read : f32
    } else {
      scf.yield %zero : f32
    }
    te.yield %a : f32
  } : tensor<10xf32>
  %C = te.compute "C" (%i: 8) sum (%r: 3) {
    %p = te.read %pad[%i + %r] : tensor<10xf32>
    te.yield %p : f32
  } : tensor<8xf32>
  return %C : tensor<8xf32>
}
schedule.of @inline {
  %pad = schedule.stage "pad"
  schedule.compute_inline %pad
}

// -----

// A cache of an inlined stage is computed from what the stage read, whichever primitive came first.
// CHECK-LABEL: func.func @cached
// CHECK-NOT:   te.compute "B"
// CHECK:       te.compute "B.shared" (%ax0: 8) {
// CHECK:         te.read %arg0[%ax0]
// CHECK:       te.compute "C"
// CHECK:         te.read %B.shared[%i]
func.func @cached(%A: tensor<8xf32> {te.name = "A"}, %out: tensor<8xf32> {te.name = "C", te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  %C = te.compute "C" (%i: 8) {
    %b = te.read %B[%i] : tensor<8xf32>
    te.yield %b : f32
  } : tensor<8xf32>
  return %C : tensor<8xf32>
}
schedule.of @cached {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  schedule.compute_inline %B
  %BS = schedule.cache_read "B" in <shared> for %C as "B.shared"
  %i = schedule.axes %C ["i"] : !schedule.axis
  schedule.compute_at %BS at %C, %i
}

// -----

// A copy has the extents of the stage, not dimensions of its tensor: one may be inlined, and one that takes over the
// computation has them, too.
// CHECK-LABEL: func.func @extents
// CHECK-NOT:   tensor.dim %{{[BC]}}
// CHECK:       %C.local = te.compute "C.local" (%i: %dim) {
// CHECK:       %C = te.compute "C" (%i: %dim) {
// CHECK:         te.read %C.local[%i]
func.func @extents(%A: tensor<?xf32> {te.name = "A"}, %out: tensor<?xf32> {te.name = "C", te.output}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : tensor<?xf32>
  %B = te.compute "B" (%i: %n) {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  } : tensor<?xf32>
  %C = te.compute "C" (%i: %n) {
    %b = te.read %B[%i] : tensor<?xf32>
    te.yield %b : f32
  } : tensor<?xf32>
  return %C : tensor<?xf32>
}
schedule.of @extents {
  %C = schedule.stage "C"
  %CL = schedule.cache_write %C in <local> as "C.local"
  %BL = schedule.cache_read "B" in <local> for %CL as "B.local"
  %B = schedule.stage "B"
  schedule.compute_inline %B
}

// -----

// The tensor of a written cache lies in the order of the loops that there are before.
// CHECK-LABEL: func.func @relayout
// CHECK:       %B.global = te.compute "B.global" (%i.outer.c: 3, %j.c: 4, %i.inner.c: 8) {
// CHECK:         scf.if
// CHECK:           te.read %arg0
// CHECK:       te.compute "B" (%i: 20, %j: 4) {
// CHECK:         te.read %B.global[%i floordiv 8, %j, %i mod 8]
// CHECK:       schedule.of @relayout
// CHECK-NEXT:    schedule.stage "B"
// CHECK-NEXT:    %[[S:.+]] = schedule.stage "B.global"
// CHECK-NEXT:    schedule.set_scope %[[S]] to <global>
// CHECK-NEXT:  }
func.func @relayout(%A: tensor<20x4xf32> {te.name = "A"}, %out: tensor<20x4xf32> {te.name = "B", te.output}) -> tensor<20x4xf32> {
  %B = te.compute "B" (%i: 20, %j: 4) {
    %a = te.read %A[%i, %j] : tensor<20x4xf32>
    te.yield %a : f32
  } : tensor<20x4xf32>
  return %B : tensor<20x4xf32>
}
schedule.of @relayout {
  %B = schedule.stage "B"
  %i, %j = schedule.axes %B ["i", "j"] : !schedule.axis, !schedule.axis
  %io, %ii = schedule.split %i by 8
  schedule.reorder %io, %j, %ii
  %BC = schedule.cache_write %B in <global> as "B.global"
}

// -----

// The last of the primitives that say where a stage is computed counts.
// CHECK-LABEL: schedule.of @last
// CHECK-NOT:   compute_inline
// CHECK:       schedule.compute_root
func.func @last(%A: tensor<20xf32> {te.name = "A"}, %out: tensor<20xf32> {te.name = "C", te.output}) -> tensor<20xf32> {
  %B = te.compute "B" (%i: 20) {
    %a = te.read %A[%i] : tensor<20xf32>
    te.yield %a : f32
  } : tensor<20xf32>
  %C = te.compute "C" (%i: 20) {
    %b = te.read %B[%i] : tensor<20xf32>
    te.yield %b : f32
  } : tensor<20xf32>
  return %C : tensor<20xf32>
}
schedule.of @last {
  %B = schedule.stage "B"
  schedule.compute_inline %B
  schedule.compute_root %B
}
