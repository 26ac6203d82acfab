// RUN: tilewright-opt %s --convert-tile-to-sim | FileCheck %s

// An op of tiles becomes the instruction that it is on a GPU, and that a call of the run time with the thread's state.
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %[[STATE:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: llvm.call @tw_sim_fence(%[[STATE]],
// CHECK: llvm.call @tw_sim_named_barrier(%[[STATE]],
// CHECK-NOT: tile.
// CHECK-NOT: nvvm.
func.func @k(%state: !llvm.ptr, %params: !llvm.ptr) attributes {tilewright.sim_kernel} {
  tile.fence_async
  tile.sync_warpgroup
  return
}
