// Round trip: what is printed reads back as the same.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

func.func @mmult(%A: tensor<64x32xf32>) -> tensor<64x32xf32> {
  return %A : tensor<64x32xf32>
}

// CHECK: schedule.of @mmult {
schedule.of @mmult {
  // CHECK-NEXT: %C = schedule.stage "C"
  %C = schedule.stage "C"
  // CHECK-NEXT: %C_local = schedule.cache_write %C in <local> as "C.local"
  %CL = schedule.cache_write %C in <local> as "C.local"
  // CHECK-NEXT: %A_shared = schedule.cache_read "A" in <shared> for %C_local as "A.shared"
  %AS = schedule.cache_read "A" in <shared> for %CL as "A.shared"
  // CHECK-NEXT: %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  // CHECK-NEXT: %k = schedule.reduce_axes %C_local ["k"] : !schedule.axis
  %k = schedule.reduce_axes %CL ["k"] : !schedule.axis
  // CHECK-NEXT: %i_outer, %j_outer, %i_inner, %j_inner = schedule.tile %i, %j by 16, 8
  %io, %jo, %ii, %ji = schedule.tile %i, %j by 16, 8
  // CHECK-NEXT: %k_outer, %k_inner = schedule.split %k by 4
  %ko, %ki = schedule.split %k by 4
  // CHECK-NEXT: %k_outer_outer, %k_outer_inner = schedule.split %k_outer into 2
  %koo, %koi = schedule.split %ko into 2
  // CHECK-NEXT: schedule.reorder %j_outer, %i_outer
  schedule.reorder %jo, %io
  // CHECK-NEXT: %j_outer_i_outer_fused = schedule.fuse %j_outer, %i_outer
  %f = schedule.fuse %jo, %io
  // CHECK-NEXT: schedule.bind %j_outer_i_outer_fused to <blockIdx.x>
  schedule.bind %f to <blockIdx.x>
  // CHECK-NEXT: schedule.bind %i_inner to <threadIdx.y> extent 16
  schedule.bind %ii to <threadIdx.y> extent 16
  // CHECK-NEXT: schedule.bind %k_outer_outer to <blockIdx.y> reduce_add
  schedule.bind %koo to <blockIdx.y> reduce_add
  // CHECK-NEXT: schedule.vectorize %j_inner
  schedule.vectorize %ji
  // CHECK-NEXT: schedule.unroll %k_inner
  schedule.unroll %ki
  // CHECK-NEXT: schedule.compute_at %C_local at %C, %j_inner
  schedule.compute_at %CL at %C, %ji
  // CHECK-NEXT: schedule.set_scope %A_shared to <shared>
  schedule.set_scope %AS to <shared>
  // CHECK-NEXT: schedule.set_scope %A_shared to <warp>
  schedule.set_scope %AS to <warp>
  // CHECK-NEXT: schedule.compute_root %A_shared
  schedule.compute_root %AS
  // CHECK-NEXT: schedule.compute_inline %A_shared
  schedule.compute_inline %AS
}

// CHECK: schedule.of @marks {
func.func @marks() { return }
schedule.of @marks {
  %C = schedule.stage "C"
  %D = schedule.stage "D"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // CHECK: %k_outer, %k_inner = schedule.split %k by 4 exact
  %ko, %ki = schedule.split %k by 4 exact
  // CHECK-NEXT: schedule.parallel %i
  schedule.parallel %i
  // CHECK-NEXT: schedule.auto_unroll %k_inner max_step 16
  schedule.auto_unroll %ki max_step 16
  // CHECK-NEXT: %singleton = schedule.singleton %C
  %s = schedule.singleton %C
  // CHECK-NEXT: %singleton_i_fused = schedule.fuse %singleton, %i
  %f = schedule.fuse %s, %i
  // CHECK-NEXT: schedule.set_store_predicate %C on <threadIdx.x> to 1
  schedule.set_store_predicate %C on <threadIdx.x> to 1
  // CHECK-NEXT: schedule.set_store_predicate %C on <threadIdx.y> from 2
  schedule.set_store_predicate %C on <threadIdx.y> from 2
  // CHECK-NEXT: schedule.decompose_reduction %C at %j
  schedule.decompose_reduction %C at %j
  // CHECK-NEXT: schedule.reverse_compute_at %D at %C, %j
  schedule.reverse_compute_at %D at %C, %j
  // CHECK-NEXT: schedule.reverse_compute_inline %D into %C
  schedule.reverse_compute_inline %D into %C
}

// CHECK: schedule.of @asynchronous {
func.func @asynchronous() { return }
schedule.of @asynchronous {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %k = schedule.reduce_axes %C ["k"] : !schedule.axis
  // CHECK: schedule.copy_by <tma> %C swizzle 128 columns 64 deferred
  schedule.copy_by <tma> %C swizzle 128 columns 64 deferred
  // CHECK-NEXT: schedule.specialize %k producer 40 consumer 232 consumers 2
  schedule.specialize %k producer 40 consumer 232 consumers 2
  // CHECK-NEXT: schedule.cluster %i blocks 2
  schedule.cluster %i blocks 2
  // CHECK-NEXT: schedule.persistent %C on 132 <hilbert> by 8 stream_k
  schedule.persistent %C on 132 <hilbert> by 8 stream_k
}

// CHECK-LABEL: schedule.of @two_widths
func.func @two_widths(%A: tensor<8xf32>) { return }
schedule.of @two_widths {
  %C = schedule.stage "C"
  // CHECK: schedule.persistent %C on 132 <grouped> by 8 narrower 16 serpentine_k
  schedule.persistent %C on 132 <grouped> by 8 narrower 16 serpentine_k
}

// CHECK-LABEL: schedule.of @by_names
func.func @by_names(%A: tensor<8xf32>) { return }
schedule.of @by_names {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  // CHECK: %i_outer, %i_inner = schedule.split %i by_symbol "n"
  %io, %ii = schedule.split %i by_symbol "n"
  // CHECK-NEXT: schedule.split %i_inner into_symbol "m" exact
  %iio, %iii = schedule.split %ii into_symbol "m" exact
}
