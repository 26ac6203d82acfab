// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(defer-stores))' --split-input-file | FileCheck %s

// What is stored of a tile is held with its place until the next tile's matmuls are begun; two warpgroups begin them in ping-pong.
// CHECK-LABEL: func.func @f
// CHECK: tile.role "consumer"
// CHECK: ^bb0(%[[WARPGROUP:.*]]: index):
// CHECK: %[[NOTHING:.*]] = tile.map -> <64x64xf32>
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK: scf.if
// CHECK-NEXT: tile.pass_turn %[[WARPGROUP]] of 2 warpgroups 1
// CHECK: %[[LEFT:.*]]:4 = scf.for %[[TILE:.*]] = %{{.*}} iter_args(%[[HELD:.*]] = %[[NOTHING]], %[[THERE:.*]] = %[[FALSE]], %[[I:.*]] = %{{.*}}, %[[J:.*]] = %{{.*}})
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: tile.take_turn %[[WARPGROUP]] of 2 warpgroups 1
// CHECK-NEXT: tile.matmul
// CHECK-NEXT: tile.pass_turn %[[WARPGROUP]] of 2 warpgroups 1
// CHECK: scf.if
// CHECK: scf.if
// CHECK-NEXT: tile.store %[[HELD]] to %{{.*}}[%[[I]], %[[J]]] box [64, 64] columns 64 swizzle 128 deferred parts [0, 1]
// CHECK: scf.if
// CHECK-NEXT: tile.store %[[HELD]] to %{{.*}}[%[[I]], %[[J]]] box [64, 64] columns 64 swizzle 128 deferred parts [1, 1]
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT: scf.yield %[[SUM]], %[[TRUE]], %[[TILE]], %{{.*}} :
// CHECK: scf.if %[[LEFT]]#1 {
// CHECK-NEXT: tile.store %[[LEFT]]#0 to %{{.*}}[%[[LEFT]]#2, %[[LEFT]]#3] {{.*}} parts [0, 2]
// CHECK: tile.take_turn %[[WARPGROUP]] of 2 warpgroups 1
func.func @f(%A: memref<256x256xbf16>, %C: memref<256x256xf32>) {
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
          tile.store %sum to %C[%tile, %c0] box [64, 64] columns 64 swizzle 128 deferred : !tile.fragment<64x64xf32>, memref<256x256xf32>
        }
      }
    }
  }
  return
}
