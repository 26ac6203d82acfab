// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(expand-tile-roles,canonicalize)))' | FileCheck %s

!ring = !tile.ring<1, !tile.buffer<8x16xf32>>
// CHECK-LABEL: gpu.func @f(
// CHECK-SAME: schedule.min_blocks = 1 : i64
gpu.module @kernels {
  gpu.func @f(%map: !tile.tensor_map<8x16xf32>, %out: memref<3xindex>) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
    // CHECK-DAG: %[[THREAD:.*]] = gpu.thread_id x
    // CHECK: %[[WARP:.*]] = arith.divui %[[THREAD]], %{{.*}} : index
    // CHECK: %[[RING:.*]] = tile.ring
    %r = tile.ring consumers 1 at 0 barriers at 1024 : !ring
    // CHECK: arith.cmpi eq, %[[THREAD]], %{{.*}} : index
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: tile.init %[[RING]]
    // CHECK-NEXT: nvvm.fence.mbarrier.init
    // CHECK-NEXT: %[[MAP:.*]] = builtin.unrealized_conversion_cast %{{.*}} : !tile.tensor_map<8x16xf32> to !llvm.ptr
    // CHECK-NEXT: nvvm.prefetch tensormap, %[[MAP]]
    // CHECK: nvvm.cluster.arrive.relaxed {aligned}
    // CHECK-NEXT: nvvm.cluster.wait {aligned}
    tile.roles {
      // CHECK: arith.cmpi ult, %[[WARP]], %[[C8]] : index
      // CHECK-NEXT: scf.if
      // CHECK-NEXT: nvvm.setmaxregister increase 208
      // CHECK: %[[NUMBER:.*]] = arith.divui %[[THREAD]], %{{.*}} : index
      // CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[NUMBER]]]
      tile.role "consumer" warps 8 registers 208 {
      ^bb0(%warpgroup: index):
        memref.store %warpgroup, %out[%warpgroup] : memref<3xindex>
        // CHECK: %[[IN:.*]] = arith.remui %[[WARP]], %{{.*}} : index
        // CHECK-NEXT: arith.cmpi eq, %[[IN]], %{{.*}} : index
        // CHECK-NEXT: scf.if
        // CHECK-NEXT: %[[ELECTED:.*]] = nvvm.elect.sync -> i1
        // CHECK-NEXT: scf.if %[[ELECTED]]
        // CHECK-NEXT: tile.commit_stores
        tile.elect warpgroup {
          tile.commit_stores
        }
      }
      // CHECK: } else {
      // CHECK-NEXT: nvvm.setmaxregister decrease 24
      // CHECK-NEXT: arith.cmpi eq, %[[WARP]], %[[C8]] : index
      // CHECK-NEXT: scf.if
      // CHECK-NEXT: nvvm.elect.sync
      tile.role "producer" warps 4 registers 24 {
        tile.elect role {
          tile.commit_stores
        }
      }
    }
    // Any block may leave: no other copies to it.
    // CHECK-NOT: nvvm.cluster
    // CHECK: gpu.return
    gpu.return
  }
  // An SM has registers for two such blocks: each is launched with a half of them.
  // CHECK-LABEL: gpu.func @two_blocks(
  // CHECK-SAME: schedule.min_blocks = 2 : i64
  // CHECK: nvvm.setmaxregister increase 232
  // CHECK: nvvm.setmaxregister decrease 24
  gpu.func @two_blocks() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    tile.roles {
      tile.role "consumer" warps 4 registers 232 {
        tile.elect role {
          tile.commit_stores
        }
      }
      tile.role "producer" warps 4 registers 24 {
        tile.elect role {
          tile.commit_stores
        }
      }
    }
    gpu.return
  }
}
