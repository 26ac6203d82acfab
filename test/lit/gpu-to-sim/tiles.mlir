// RUN: tilewright-opt %s --gpu-to-sim="checks=true" | FileCheck %s

// Of a kernel of tiles each instruction is a call of the run time, with what the instruction takes.

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!tile = !tile.buffer<64x64xbf16, swizzle = 128>
!ring = !tile.ring<2, !tile>
!sum = !tile.accumulator<64x64xf32>
!fragment = !tile.fragment<64x64xf32>

// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %[[STATE:.*]]: !llvm.ptr, %[[PARAMS:.*]]: !llvm.ptr)
// CHECK: llvm.call @tw_sim_start_barrier(%[[STATE]],
// CHECK: llvm.call @tw_sim_fence(%[[STATE]],
// CHECK: llvm.call @tw_sim_barrier(%[[STATE]],
// CHECK: %[[ELECTED:.*]] = llvm.call @tw_sim_elect(%[[STATE]],
// CHECK: llvm.trunc %[[ELECTED]] : i32 to i1
// CHECK: llvm.call @tw_sim_wait_phase(%[[STATE]],
// CHECK: llvm.call @tw_sim_load_tile(%[[STATE]],
// CHECK: llvm.call @tw_sim_arrive(%[[STATE]],
// CHECK: llvm.call @tw_sim_wait_phase(%[[STATE]],
// The descriptors of 4 instructions for each operand: the second begins 32 bytes on.
// CHECK: %[[PLACE:.*]] = llvm.lshr %{{.*}}, %{{.*}} : i32
// CHECK: %[[FIRST:.*]] = llvm.mlir.constant(65536 : i32) : i32
// CHECK: llvm.add %[[PLACE]], %[[FIRST]] : i32
// CHECK: %[[SECOND:.*]] = llvm.mlir.constant(65538 : i32) : i32
// CHECK: llvm.add %[[PLACE]], %[[SECOND]] : i32
// CHECK: %[[SUM:.*]] = llvm.call @tw_sim_begin_matmul(%[[STATE]], {{.*}}) : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> i64
// CHECK: llvm.call @tw_sim_commit_matmuls(%[[STATE]])
// CHECK: llvm.call @tw_sim_wait_matmuls(%[[STATE]],
// CHECK: llvm.call @tw_sim_read_accumulator(%[[STATE]], %{{.*}}, %[[SUM]], %[[SLOT:.*]]) : (
// CHECK: llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.struct<(f32, f32,
// CHECK: llvm.call @tw_sim_store_matrices(%[[STATE]],
// CHECK: llvm.call @tw_sim_fence(%[[STATE]],
// CHECK: llvm.call @tw_sim_named_barrier(%[[STATE]],
// CHECK: llvm.call @tw_sim_store_tile(%[[STATE]],
// CHECK: llvm.call @tw_sim_commit_stores(%[[STATE]])
// CHECK: llvm.call @tw_sim_wait_stores(%[[STATE]],
// CHECK: llvm.call @tw_sim_end(%[[STATE]],
// It synchronizes, cells of 8 bytes, asynchronous tiles, a cluster of one block, two regions, one argument that is no memory; a ring of
// 2 slots of 8 KiB with its barriers, and a buffer.
// CHECK: llvm.mlir.global external constant @k_info(dense<[1, 8, 0, 1, 1, 1, 1, 2, 1, 0, 0, 0, 0, 0, 8192, 2, 24576, 16384, 8192, 1, -1]>
// CHECK: llvm.mlir.global external constant @k_arguments("argument 0\00ring\00c\00")
module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024}
    gpu.func @k(%map: !map) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : index
      %slot = arith.constant 0 : i32
      %ring = tile.ring consumers 1 at 0 barriers at 24576 : !ring loc("ring"("k.py":1:0))
      %c = tile.alloc at 16384 : !tile loc("c"("k.py":2:0))
      tile.elect role {
        %into = tile.acquire %ring[%slot, %slot] : !ring
        tile.tma_load %map[%c0, %c0] to %into signal %ring[%slot] : !map, !tile, !ring
        tile.commit %ring[%slot] : !ring
      }
      %a = tile.wait %ring[%slot, %slot] : !ring
      %sum = tile.wgmma %a, %a : !tile, !tile -> !sum
      tile.wgmma_commit
      %total = tile.wgmma_wait 0 for %sum : !sum -> !fragment
      tile.store_fragment %total to %c : !fragment, !tile
      tile.fence_async
      tile.sync_warpgroup
      tile.elect role {
        tile.tma_store %c to %map[%c0, %c0] : !tile, !map
        tile.commit_stores
      }
      tile.wait_stores 0
      gpu.return
    }
  }
}
