// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(expand-tile-roles)),emit-cuda-source)' | FileCheck %s

// One warp fills the slots of a ring by TMA, a warpgroup multiplies and stores: instructions are functions at the top,
// the accumulator is a variable that wgmma adds to, and names are those of the tensors.
#s = #schedule.axis<"k.outer" of "C">
module attributes {gpu.container_module} {
  // CHECK: tilewright.cuda = "
  // CHECK-SAME: struct alignas(64) CUtensorMap
  // CHECK-SAME: asm volatile(\22cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];\22
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2,
  // CHECK-SAME: const __grid_constant__ CUtensorMap A_map,
  // CHECK-SAME: unsigned char *const ring_A = shared_memory;\0A
  // CHECK-SAME: ring_A_full = reinterpret_cast<unsigned long long *>(shared_memory + 16384), *const ring_A_empty = ring_A_full + 2;
  // CHECK-SAME: mbarrier_init(&ring_A_full[slot], 1);
  // CHECK-SAME: mbarrier_init(&ring_A_empty[slot], 1);
  // CHECK-SAME: fence_barrier_init();
  // CHECK-SAME: prefetch_tma_descriptor(&A_map);
  // CHECK-SAME: warpgroup_reg_dealloc<40>();
  // CHECK-SAME: elect_one_sync();
  // CHECK-SAME: #pragma unroll 1
  // CHECK-SAME: mbarrier_wait(&ring_A_empty[slot], phase ^ 1);
  // CHECK-SAME: unsigned char *const A_tile = ring_A + slot * 8192;
  // CHECK-SAME: tma_load_2d(A_tile, &A_map, &ring_A_full[slot], {{[^;]*}}, 0
  // CHECK-SAME: mbarrier_arrive_and_expect_tx(&ring_A_full[slot], 8192);
  // CHECK-SAME: const int next_slot = slot + 1 == 2 ? 0 : slot + 1;
  // CHECK-SAME: const int next_phase = slot + 1 == 2 ? phase ^ 1 : phase;
  // CHECK-SAME: warpgroup_reg_dealloc<232>();
  // CHECK-SAME: Fragment<float, 32> accumulator = {};
  // CHECK-SAME: mbarrier_wait(&ring_A_full[slot], phase);
  // CHECK-SAME: const MatrixDescriptor descriptor_a = matrix_descriptor<1, 64, 1>(A_tile);
  // CHECK-SAME: warpgroup_fence_operand(accumulator);\0A
  // CHECK-SAME: warpgroup_arrive();\0A
  // CHECK-SAME: wgmma_m64n64k16_f32_bf16_bf16<1, 0, 0>(accumulator, descriptor_a, descriptor_b);\0A
  // CHECK-SAME: wgmma_m64n64k16_f32_bf16_bf16<1, 0, 0>(accumulator, descriptor_a + 2, descriptor_b + 2);\0A
  // CHECK-SAME: warpgroup_commit_batch();\0A
  // CHECK-SAME: warpgroup_wait<0>();\0A
  // CHECK-SAME: if (threadIdx.x % 128 == 0) mbarrier_arrive(&ring_A_empty[slot]);
  // CHECK-SAME: warpgroup_wait<0>();\0A
  // CHECK-SAME: warpgroup_fence_operand(accumulator);\0A
  // CHECK-SAME: store_fragment<__nv_bfloat16, 0, 64, false, 128, 8192, true>(C_tile, accumulator);
  // CHECK-SAME: tma_store_fence();
  // CHECK-SAME: named_barrier_sync(1 + int(threadIdx.x / 128), 128);
  // CHECK-SAME: tma_store_2d(C_tile, &C_map, {{[^;]*}});
  // CHECK-SAME: tma_store_arrive();
  // CHECK-SAME: tma_store_wait<0>();
  gpu.module @kernels {
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
    gpu.func @k(%a: !tile.tensor_map<64x64xbf16, swizzle = 128>, %c: !tile.tensor_map<64x64xbf16, swizzle = 128>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0 : i32
      %ring = tile.ring consumers 1 at 0 barriers at 16384 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
      %out = tile.alloc at 17408 : !tile.buffer<64x64xbf16, swizzle = 128>
      tile.roles {
        tile.role "producer" warps 4 registers 40 {
          tile.elect role {
            %r:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%slot = %zero, %phase = %zero) -> (i32, i32) {
              %x = tile.acquire %ring[%slot, %phase] : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
              %at = arith.muli %k, %c64 : index
              tile.tma_load %a[%c0, %at] to %x signal %ring[%slot] : !tile.tensor_map<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
              tile.commit %ring[%slot] : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
              %n, %p = tile.advance %ring[%slot, %phase] : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
              scf.yield %n, %p : i32, i32
            } {schedule.axis = #s}
          }
        }
        tile.role "consumer" warps 4 registers 232 {
          %none = tile.zero : !tile.accumulator<64x64xf32>
          %r:3 = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %none, %slot = %zero, %phase = %zero) -> (!tile.accumulator<64x64xf32>, i32, i32) {
            %x = tile.wait %ring[%slot, %phase] : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
            %more = tile.wgmma %x, %x into %acc : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.accumulator<64x64xf32>
            tile.wgmma_commit
            tile.wgmma_wait 0
            tile.release %ring[%slot] : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
            %n, %p = tile.advance %ring[%slot, %phase] : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
            scf.yield %more, %n, %p : !tile.accumulator<64x64xf32>, i32, i32
          }
          %sum = tile.wgmma_wait 0 for %r#0 : !tile.accumulator<64x64xf32> -> !tile.fragment<64x64xf32>
          tile.store_fragment %sum to %out : !tile.fragment<64x64xf32>, !tile.buffer<64x64xbf16, swizzle = 128>
          tile.fence_async
          tile.sync_warpgroup
          tile.elect warpgroup {
            tile.tma_store %out to %c[%c0, %c0] : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.tensor_map<64x64xbf16, swizzle = 128>
            tile.commit_stores
          }
          tile.wait_stores 0 read
        }
      }
      gpu.return
    }
  }
  func.func @main(%x: memref<64x256xbf16> {te.name = "A", te.dtype = bf16}, %y: memref<64x64xbf16> {te.name = "C", te.dtype = bf16}) {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %a = tile.encode %x : memref<64x256xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
    %c = tile.encode %y : memref<64x64xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(%a : !tile.tensor_map<64x64xbf16, swizzle = 128>, %c : !tile.tensor_map<64x64xbf16, swizzle = 128>)
    return
  }
}
