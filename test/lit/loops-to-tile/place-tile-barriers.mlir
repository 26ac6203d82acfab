// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(place-tile-barriers))' --split-input-file | FileCheck %s

// Both roles carry the ring's slot and phase. One group of matmuls is under way while the next is begun.
// CHECK-LABEL: func.func @accumulation
// CHECK: %[[MAP_A:.*]] = tile.encode %{{.*}} : memref<256x256xbf16> -> <64x64xbf16, swizzle = 128>
// CHECK: %[[RING:.*]] = tile.ring consumers 2
// CHECK: %[[BUFFER:.*]] = tile.alloc : <128x64xf32, swizzle = 128>
// CHECK: tile.role "producer"
// CHECK: scf.for %{{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}})
// CHECK: scf.for %{{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}})
// CHECK-NEXT: %[[FREE:.*]]:2 = tile.acquire %[[RING]][%[[SLOT]], %[[PHASE]]]
// CHECK-NEXT: tile.tma_load %[[MAP_A]][{{.*}}] to %[[FREE]]#0 signal %[[RING]][%[[SLOT]]]
// CHECK-NEXT: tile.tma_load %{{.*}}[{{.*}}] to %[[FREE]]#1 signal %[[RING]][%[[SLOT]]]
// CHECK-NEXT: tile.commit %[[RING]][%[[SLOT]]]
// CHECK-NEXT: tile.advance %[[RING]][%[[SLOT]], %[[PHASE]]]
// CHECK: tile.role "consumer"
// CHECK: ^bb0(%[[WARPGROUP:.*]]: index):
// CHECK: %[[MINE:.*]] = tile.part %[[BUFFER]][%[[WARPGROUP]], %{{.*}}]
// CHECK: %[[NONE:.*]] = tile.zero
// CHECK: %[[LOOP:.*]]:4 = scf.for %{{.*}} iter_args(%[[ACC:.*]] = %[[NONE]], %[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}})
// CHECK: %[[FULL:.*]]:2 = tile.wait %[[RING]][%[[SLOT]], %[[PHASE]]]
// CHECK: %[[NEXT:.*]] = tile.wgmma %[[FULL]]#0, %[[FULL]]#1 into %[[ACC]]
// CHECK-NEXT: tile.wgmma_commit
// CHECK-NEXT: tile.wgmma_wait 1
// CHECK: tile.release %[[RING]][%[[BEFORE]]]
// CHECK: scf.yield %[[NEXT]], %{{.*}}, %{{.*}}, %[[SLOT]]
// CHECK: %[[SUM:.*]] = tile.wgmma_wait 0 for %[[LOOP]]#0
// CHECK-NEXT: tile.release %[[RING]][%[[LOOP]]#3]
// CHECK: tile.store_fragment %[[SUM]] to %[[MINE]]
// CHECK: tile.wait_stores 0 read
func.func @accumulation(%A: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 2 : !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
    tile.roles {
      tile.role "producer" warps 4 registers 40 {
        tile.elect role {
          scf.for %tile = %x to %c8 step %c4 {
            scf.for %k = %c0 to %c4 step %c1 {
              %a = tile.load %A[%tile, %k] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
              %b = tile.load %A[%k, %tile] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
              tile.put %a, %b to %ring : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> to !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
            }
          }
        }
      }
      tile.role "consumer" warps 8 registers 232 {
      ^bb0(%warpgroup: index):
        scf.for %tile = %x to %c8 step %c4 {
          %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
          %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zeros) -> (!tile.fragment<64x64xf32>) {
            %a, %b = tile.get %ring : !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
            %t = tile.matmul %a, %b into %s : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
            scf.yield %t : !tile.fragment<64x64xf32>
          }
          tile.store %sum to %C[%tile, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
        }
      }
    }
  }
  return
}

// -----

// Two matmuls of an iteration are two groups; those of the iteration before are done when two are under way.
// CHECK-LABEL: func.func @two_accumulators
// CHECK: tile.role "consumer"
// CHECK: %[[LOOP:.*]]:5 = scf.for
// CHECK: tile.wgmma
// CHECK-NEXT: tile.wgmma_commit
// CHECK: tile.wgmma
// CHECK-NEXT: tile.wgmma_commit
// CHECK-NEXT: tile.wgmma_wait 2
// CHECK: tile.release
// CHECK: %[[FIRST:.*]] = tile.wgmma_wait 0 for %[[LOOP]]#0
// CHECK-NEXT: %[[SECOND:.*]] = tile.wgmma_wait 0 for %[[LOOP]]#1
// CHECK-NEXT: tile.release
// CHECK: tile.store_fragment %[[FIRST]]
// CHECK: tile.store_fragment %[[SECOND]]
func.func @two_accumulators(%A: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 2 : !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
    tile.roles {
      tile.role "producer" warps 4 registers 40 {
        tile.elect role {
          scf.for %tile = %x to %c8 step %c4 {
            scf.for %k = %c0 to %c4 step %c1 {
              %a = tile.load %A[%tile, %k] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
              %b = tile.load %A[%k, %tile] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
              tile.put %a, %b to %ring : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> to !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
            }
          }
        }
      }
      tile.role "consumer" warps 8 registers 232 {
      ^bb0(%warpgroup: index):
        scf.for %tile = %x to %c8 step %c4 {
          %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
          %sums:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zeros, %u = %zeros) -> (!tile.fragment<64x64xf32>, !tile.fragment<64x64xf32>) {
            %a, %b = tile.get %ring : !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
            %t = tile.matmul %a, %b into %s : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
            %v = tile.matmul %b, %a into %u : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
            scf.yield %t, %v : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32>
          }
          tile.store %sums#0 to %C[%tile, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
          tile.store %sums#1 to %C[%tile, %c1] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
        }
      }
    }
  }
  return
}

// -----

// A matmul that is read in its iteration is waited for there, and its slot goes at once.
// CHECK-LABEL: func.func @read_at_once
// CHECK: tile.role "consumer"
// CHECK: scf.for
// CHECK: scf.for %{{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[M:.*]] = %{{.*}})
// CHECK: %[[FULL:.*]]:2 = tile.wait
// CHECK-NEXT: %[[ACC:.*]] = tile.wgmma %[[FULL]]#0, %[[FULL]]#1 :
// CHECK-NEXT: tile.wgmma_commit
// CHECK-NEXT: %[[T:.*]] = tile.wgmma_wait 0 for %[[ACC]]
// CHECK-NEXT: tile.release %{{.*}}[%[[SLOT]]]
// CHECK: tile.map %[[M]], %[[T]]
func.func @read_at_once(%A: memref<256x256xbf16>, %C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 2 : !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
    tile.roles {
      tile.role "producer" warps 4 registers 40 {
        tile.elect role {
          scf.for %tile = %x to %c8 step %c4 {
            scf.for %k = %c0 to %c4 step %c1 {
              %a = tile.load %A[%tile, %k] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
              %b = tile.load %A[%k, %tile] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
              tile.put %a, %b to %ring : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> to !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
            }
          }
        }
      }
      tile.role "consumer" warps 8 registers 232 {
      ^bb0(%warpgroup: index):
        scf.for %tile = %x to %c8 step %c4 {
          %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
          %largest = scf.for %k = %c0 to %c4 step %c1 iter_args(%m = %zeros) -> (!tile.fragment<64x64xf32>) {
            %a, %b = tile.get %ring : !tile.ring<3, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>>
            %t = tile.matmul %a, %b into %zeros : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
            %n = tile.map %m, %t : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
            ^bb0(%p: f32, %q: f32, %row: index, %column: index):
              %r = arith.maximumf %p, %q : f32
              tile.yield %r : f32
            }
            scf.yield %n : !tile.fragment<64x64xf32>
          }
          tile.store %largest to %C[%tile, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
        }
      }
    }
  }
  return
}

// -----

// Two matmuls in an iteration, the second of what was computed of the first, to an accumulator that is rescaled between:
// each is waited for, and its slot released, before anything is computed of it.
// CHECK-LABEL: func.func @chain
// CHECK: %[[Q:.*]] = tile.ring
// CHECK: %[[KV:.*]] = tile.ring
// CHECK: %[[ROWS:.*]] = tile.wait %[[Q]][
// CHECK: scf.for {{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (i32, i32, !tile.fragment<64x64xf32>)
// CHECK-NEXT: %[[TILE:.*]] = tile.wait %[[KV]][%[[SLOT]], %[[PHASE]]]
// CHECK-NEXT: %[[S:.*]] = tile.wgmma %[[ROWS]], %[[TILE]] : {{.*}} -> !tile.accumulator<64x64xf32>
// CHECK-NEXT: tile.wgmma_commit
// CHECK-NEXT: %[[SCORES:.*]] = tile.wgmma_wait 0 for %[[S]]
// CHECK-NEXT: %[[MOST:.*]] = tile.row_reduce max %[[SCORES]]
// CHECK: %[[RESCALED:.*]] = tile.map %[[SUM]], %[[MOST]]
// CHECK: %[[P:.*]] = tile.map %[[SCORES]]
// CHECK: %[[BEGUN:.*]] = tile.to_accumulator %[[RESCALED]] : <64x64xf32> -> <64x64xf32>
// CHECK-NEXT: %[[O:.*]] = tile.wgmma %[[P]], %[[TILE]] mn_major into %[[BEGUN]] : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128>
// CHECK-NEXT: tile.wgmma_commit
// CHECK-NEXT: %[[NEXT:.*]] = tile.wgmma_wait 0 for %[[O]]
// CHECK-NEXT: tile.release %[[KV]][%[[SLOT]]]
// CHECK: tile.advance %[[KV]]
// CHECK-NEXT: scf.yield %{{.*}}, %{{.*}}, %[[NEXT]]
// CHECK: tile.release %[[Q]][
// The first store waits for none before it.
// CHECK-NOT: tile.wait_stores
// CHECK: tile.store_fragment
func.func @chain(%C: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c4, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %rq = tile.ring consumers 1 : !tile.ring<1, !tile.buffer<64x64xbf16, swizzle = 128>>
    %rk = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %q = tile.get %rq : !tile.ring<1, !tile.buffer<64x64xbf16, swizzle = 128>>
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%o = %zeros) -> (!tile.fragment<64x64xf32>) {
      %b = tile.get %rk : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
      %s = tile.matmul %q, %b into %zeros : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %m = tile.row_reduce max %s into %none : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      %rescaled = tile.map %o, %m : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %f: f32, %row: index, %column: index):
        %g = arith.mulf %e, %f : f32
        tile.yield %g : f32
      }
      %p = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %g = arith.truncf %e : f32 to bf16
        tile.yield %g : bf16
      }
      %next = tile.matmul %p, %b mn_major into %rescaled : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %next : !tile.fragment<64x64xf32>
    }
    tile.store %sum to %C[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

// What an iteration stores waits for its own matmul alone: another one is under way while TMA adds it.
// CHECK-LABEL: func.func @beside
// CHECK: scf.for
// CHECK: %[[D:.*]] = tile.wgmma %{{.*}}, %{{.*}} : {{.*}} -> !tile.accumulator<64x64xf32>
// CHECK-NEXT: tile.wgmma_commit
// CHECK: %[[S:.*]] = tile.wgmma %{{.*}}, %{{.*}} mn_major into %{{.*}} -> !tile.accumulator<64x64xf32>
// CHECK-NEXT: tile.wgmma_commit
// CHECK-NEXT: %[[ADDED:.*]] = tile.wgmma_wait 1 for %[[D]]
// CHECK-NEXT: tile.wait_stores 0 read
// CHECK-NEXT: tile.sync_warpgroup
// CHECK-NEXT: tile.store_fragment %[[ADDED]] to
// CHECK: tile.tma_store {{.*}} reduce_add
// CHECK: tile.wgmma_wait 0 for %[[S]]
// CHECK-NEXT: tile.release
func.func @beside(%C: memref<256x64xf32>, %V: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%v = %zeros) -> (!tile.fragment<64x64xf32>) {
      %b = tile.get %ring : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
      %d = tile.matmul %b, %b into %zeros : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %next = tile.matmul %b, %b mn_major into %v : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      tile.store %d to %C[%k, %c0] box [64, 64] columns 64 swizzle 128 reduce_add : !tile.fragment<64x64xf32>, memref<256x64xf32>
      scf.yield %next : !tile.fragment<64x64xf32>
    }
    tile.store %sum to %V[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}
