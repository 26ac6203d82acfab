// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(split-accumulations))' --split-input-file | FileCheck %s

// The first iteration adds to nothing; the loop goes on with the second.
// CHECK-LABEL: func.func @first_iteration
// CHECK: tile.role "consumer"
// CHECK: %[[ZEROS:.*]] = tile.fill
// CHECK: %[[FIRST:.*]]:2 = tile.get
// CHECK: %[[BEGUN:.*]] = tile.matmul %[[FIRST]]#0, %[[FIRST]]#1 into %[[ZEROS]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[S:.*]] = %[[BEGUN]])
// CHECK: %[[NEXT:.*]]:2 = tile.get
// CHECK: %[[T:.*]] = tile.matmul %[[NEXT]]#0, %[[NEXT]]#1 into %[[S]]
// CHECK: scf.yield %[[T]]
// CHECK: tile.store
func.func @first_iteration(%A: memref<256x256xbf16>, %C: memref<256x256xf32>) {
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

// Two iterations at a time begin at zero, and are added to the sum of those before.
// CHECK-LABEL: func.func @promoted
// CHECK: %[[ZEROS:.*]] = tile.fill
// CHECK: tile.matmul %{{.*}}, %{{.*}} into %[[ZEROS]] :
// CHECK: %[[FIRST:.*]] = scf.for
// CHECK: tile.matmul
// CHECK: scf.for %{{.*}} iter_args(%[[SUM:.*]] = %[[FIRST]])
// CHECK: tile.matmul %{{.*}}, %{{.*}} into %[[ZEROS]] :
// CHECK: %[[PART:.*]] = scf.for
// CHECK: %[[BOTH:.*]] = tile.map %[[SUM]], %[[PART]]
// CHECK: arith.addf
// CHECK: scf.yield %[[BOTH]]
func.func @promoted(%A: memref<256x256xbf16>, %C: memref<256x256xf32>) {
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
            %t = tile.matmul %a, %b into %s promoted 2 : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
            scf.yield %t : !tile.fragment<64x64xf32>
          }
          tile.store %sum to %C[%tile, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
        }
      }
    }
  }
  return
}
