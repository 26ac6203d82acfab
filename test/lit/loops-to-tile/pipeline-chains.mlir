// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(pipeline-chains))' | FileCheck %s --check-prefixes=CHECK,CHAIN
// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(pipeline-chains,place-tile-barriers))' | FileCheck %s --check-prefixes=PLACED

// The second matmul and what is done to its accumulator go behind the first of the next iteration, with the tile that it
// takes. The first iteration begins before the loop, and the last ends behind it.
// CHAIN-LABEL: func.func @chain
// CHAIN: %[[Q:.*]] = tile.get
// CHAIN: %[[S0:.*]] = tile.matmul %[[Q]]
// CHAIN: %[[M0:.*]] = tile.row_reduce max %[[S0]]
// CHAIN: %[[P0:.*]] = tile.map %[[S0]]
// CHAIN: %[[LOOP:.*]]:4 = scf.for %{{.*}} = %c1{{.*}} to %c4 step %c1 iter_args(%[[M:.*]] = %[[M0]], %[[O:.*]] = %{{.*}}, %[[F:.*]] = %[[M0]], %[[P:.*]] = %[[P0]])
// CHAIN: %[[S:.*]] = tile.matmul %[[Q]]
// CHAIN-NEXT: %[[RESCALED:.*]] = tile.map %[[O]], %[[F]]
// CHAIN: %[[V:.*]] = tile.get
// CHAIN-NEXT: %[[O1:.*]] = tile.matmul %[[P]], %[[V]] mn_major into %[[RESCALED]]
// CHAIN-NEXT: %[[M1:.*]] = tile.row_reduce max %[[S]] into %[[M]]
// CHAIN-NEXT: %[[P1:.*]] = tile.map %[[S]]
// CHAIN: scf.yield %[[M1]], %[[O1]], %[[M1]], %[[P1]]
// CHAIN: %[[LAST:.*]] = tile.map %[[LOOP]]#1, %[[LOOP]]#2
// CHAIN: %[[END:.*]] = tile.matmul %[[LOOP]]#3, %{{.*}} mn_major into %[[LAST]]
// CHAIN: tile.store %[[END]]

// Both are under way at once: the first is waited for where its result is used, the second at the iteration's end.
// PLACED-LABEL: func.func @chain
// PLACED: scf.for
// PLACED: tile.wait
// PLACED-NEXT: %[[S:.*]] = tile.wgmma
// PLACED-NEXT: tile.wgmma_commit
// PLACED: tile.wait
// PLACED-NEXT: tile.to_accumulator
// PLACED-NEXT: %[[O:.*]] = tile.wgmma
// PLACED-NEXT: tile.wgmma_commit
// PLACED-NEXT: %[[SCORES:.*]] = tile.wgmma_wait 1 for %[[S]]
// PLACED-NEXT: tile.release
// PLACED-NEXT: tile.row_reduce max %[[SCORES]]
// PLACED: tile.wgmma_wait 0 for %[[O]]
// PLACED-NEXT: tile.release
// PLACED: scf.yield
func.func @chain(%C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %rq = tile.ring consumers 1 : !tile.ring<1, !tile.buffer<64x64xbf16, swizzle = 128>>
    %rk = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %rv = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    tile.roles {
      tile.role "consumer" warps 4 registers 232 {
      ^bb0(%warpgroup: index):
        %q = tile.get %rq : !tile.ring<1, !tile.buffer<64x64xbf16, swizzle = 128>>
        %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
        %none = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
        %sum:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%m = %none, %o = %zeros) -> (!tile.fragment<64x1xf32>, !tile.fragment<64x64xf32>) {
          %b = tile.get %rk : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
          %s = tile.matmul %q, %b into %zeros : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
          %m1 = tile.row_reduce max %s into %m : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
          %rescaled = tile.map %o, %m1 : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
          ^bb0(%e: f32, %f: f32, %row: index, %column: index):
            %g = arith.mulf %e, %f : f32
            tile.yield %g : f32
          }
          %p = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xbf16> {
          ^bb0(%e: f32, %row: index, %column: index):
            %g = arith.truncf %e : f32 to bf16
            tile.yield %g : bf16
          }
          %v = tile.get %rv : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
          %next = tile.matmul %p, %v mn_major into %rescaled : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
          scf.yield %m1, %next : !tile.fragment<64x1xf32>, !tile.fragment<64x64xf32>
        } {schedule.pipeline = #schedule.pipeline<stages = 2>}
        tile.store %sum#1 to %C[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
      }
    }
  }
  return
}

// A thread has no registers for what would be under way.
// CHECK-LABEL: func.func @few_registers
// CHECK: scf.for {{.*}} = %c0 to %c4 step %c1 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK-NOT: scf.for
func.func @few_registers(%C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 120] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %rq = tile.ring consumers 1 : !tile.ring<1, !tile.buffer<64x64xbf16, swizzle = 128>>
    %rk = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %rv = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    tile.roles {
      tile.role "consumer" warps 4 registers 120 {
      ^bb0(%warpgroup: index):
        %q = tile.get %rq : !tile.ring<1, !tile.buffer<64x64xbf16, swizzle = 128>>
        %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
        %none = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
        %sum:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%m = %none, %o = %zeros) -> (!tile.fragment<64x1xf32>, !tile.fragment<64x64xf32>) {
          %b = tile.get %rk : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
          %s = tile.matmul %q, %b into %zeros : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
          %m1 = tile.row_reduce max %s into %m : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
          %rescaled = tile.map %o, %m1 : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
          ^bb0(%e: f32, %f: f32, %row: index, %column: index):
            %g = arith.mulf %e, %f : f32
            tile.yield %g : f32
          }
          %p = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xbf16> {
          ^bb0(%e: f32, %row: index, %column: index):
            %g = arith.truncf %e : f32 to bf16
            tile.yield %g : bf16
          }
          %v = tile.get %rv : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
          %next = tile.matmul %p, %v mn_major into %rescaled : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
          scf.yield %m1, %next : !tile.fragment<64x1xf32>, !tile.fragment<64x64xf32>
        } {schedule.pipeline = #schedule.pipeline<stages = 2>}
        tile.store %sum#1 to %C[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
      }
    }
  }
  return
}
