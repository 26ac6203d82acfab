// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(place-tile-barriers))' | FileCheck %s

// What warpgroups share is written while a matmul is under way that reads none of it. The next iteration writes it
// again: it waits for all.
// CHECK-LABEL: func.func @share
// CHECK: %[[ALL:.*]] = tile.alloc : <64x64xbf16, swizzle = 128>
// CHECK: tile.role "consumer"
// CHECK: scf.for
// CHECK: %[[FULL:.*]] = tile.wait
// CHECK: %[[FIRST:.*]] = tile.wgmma %[[FULL]], %[[FULL]]
// CHECK-NEXT: tile.wgmma_commit
// CHECK-NOT: tile.wgmma_wait
// CHECK: tile.sync_warpgroup
// CHECK-NEXT: tile.store_fragment %{{.*}} to %[[ALL]]
// CHECK-NEXT: tile.fence_async
// CHECK-NEXT: tile.sync_warpgroup
// CHECK: %[[SECOND:.*]] = tile.wgmma %[[ALL]], %[[FULL]]
// CHECK-NEXT: tile.wgmma_commit
// CHECK: tile.wgmma_wait 0 for %[[FIRST]]
// CHECK: tile.wgmma_wait 0 for %[[SECOND]]
// CHECK-NEXT: tile.sync_warpgroup
// CHECK-NEXT: tile.store_fragment %{{.*}} to %[[ALL]]
// CHECK: scf.yield
func.func @share(%A: memref<256x64xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    tile.roles {
      tile.role "producer" warps 4 registers 40 {
        tile.elect role {
          scf.for %k = %c0 to %c4 step %c1 {
            %a = tile.load %A[%k, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
            tile.put %a to %ring : !tile.buffer<64x64xbf16, swizzle = 128> to !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
          }
        }
      }
      tile.role "consumer" warps 4 registers 232 {
      ^bb0(%warpgroup: index):
        %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
        %half = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
        %sums:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %half, %r = %half) -> (!tile.fragment<64x64xf32>, !tile.fragment<64x64xf32>) {
          %a = tile.get %ring : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
          %first = tile.matmul %a, %a into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
          %rounded = tile.map %s : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xbf16> {
          ^bb0(%e: f32, %row: index, %column: index):
            %f = arith.truncf %e : f32 to bf16
            tile.yield %f : bf16
          }
          %all = tile.share %rounded {te.stage = "dS"} : !tile.fragment<64x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
          %second = tile.matmul %all, %a into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
          %again = tile.map %r : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xbf16> {
          ^bb0(%e: f32, %row: index, %column: index):
            %f = arith.truncf %e : f32 to bf16
            tile.yield %f : bf16
          }
          %other = tile.share %again {te.stage = "dS"} : !tile.fragment<64x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
          %third = tile.matmul %other, %a into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
          %u = tile.map %first, %second, %third : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
          ^bb0(%e: f32, %f: f32, %g: f32, %row: index, %column: index):
            %h = arith.addf %e, %f : f32
            %i = arith.addf %h, %g : f32
            tile.yield %i : f32
          }
          scf.yield %u, %first : !tile.fragment<64x64xf32>, !tile.fragment<64x64xf32>
        }
      }
    }
  }
  return
}
