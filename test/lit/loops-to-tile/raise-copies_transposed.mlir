// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops))' | FileCheck %s

// A is stored with K outermost. Its tile lies as the tensor does, and the matmul reads it transposed (mn_major): each
// warpgroup has columns of the tile. The sums of two iterations are promoted together.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: (%[[A:.*]]: memref<200x256xbf16>, %[[B:.*]]: memref<128x200xbf16>
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[WARPGROUP:[a-z0-9]+]]: index):
// CHECK: scf.for %{{.*}} iter_args(%[[SUM:.*]] = %
// CHECK: %[[TILE_A:.*]] = tile.load %[[A]][%{{.*}}, %{{.*}}] box [64, 128] {{.*}} -> <64x128xbf16, swizzle = 128>
// CHECK: %[[TILE_B:.*]] = tile.load %[[B]][%{{.*}}, %{{.*}}] box [64, 64] multicast y {{.*}} -> <64x64xbf16, swizzle = 128>
// CHECK: %[[MINE:.*]] = tile.part %[[TILE_A]][%{{.*}}, %[[WARPGROUP]]] : <64x128xbf16, swizzle = 128> -> <64x64xbf16, swizzle = 128>
// CHECK-NEXT: tile.matmul %[[MINE]] mn_major, %[[TILE_B]] into %[[SUM]] promoted 2 :

#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>


func.func @transposed(%A: memref<200x256xbf16>, %B: memref<128x200xbf16>, %C: memref<256x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c200 = arith.constant 200 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : bf16
  scf.for %lane = %c0 to %c128 step %c1 {
    scf.for %by = %c0 to %c2 step %c1 {
      scf.for %bx = %c0 to %c2 step %c1 {
        %out = memref.alloc() : memref<128x64xf32, #shared>
        scf.for %wg = %c0 to %c2 step %c1 {
          %sum = memref.alloca() : memref<64x64xf32, #private>
          scf.for %i = %c0 to %c64 step %c1 {
            scf.for %j = %c0 to %c64 step %c1 {
              memref.store %zero, %sum[%i, %j] : memref<64x64xf32, #private>
            }
          }
          scf.for %ko = %c0 to %c4 step %c1 {
            %a = memref.alloc() : memref<64x128xbf16, #shared>
            scf.for %k = %c0 to %c64 step %c1 {
              scf.for %i = %c0 to %c128 step %c1 {
                %row = affine.apply affine_map<(d0, d1) -> (d0 * 128 + d1)>(%by, %i)
                %column = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%ko, %k)
                %inside = arith.cmpi slt, %column, %c200 : index
                %x = scf.if %inside -> bf16 {
                  %e = memref.load %A[%column, %row] : memref<200x256xbf16>
                  scf.yield %e : bf16
                } else {
                  scf.yield %none : bf16
                }
                memref.store %x, %a[%k, %i] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x128xbf16, #shared>
              }
            }
            %b = memref.alloc() : memref<64x64xbf16, #shared>
            scf.for %i = %c0 to %c64 step %c1 {
              scf.for %k = %c0 to %c64 step %c1 {
                %row = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%bx, %i)
                %column = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%ko, %k)
                %inside = arith.cmpi slt, %column, %c200 : index
                %x = scf.if %inside -> bf16 {
                  %e = memref.load %B[%row, %column] : memref<128x200xbf16>
                  scf.yield %e : bf16
                } else {
                  scf.yield %none : bf16
                }
                memref.store %x, %b[%i, %k] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<64x64xbf16, #shared>
              }
            }
            scf.for %m = %c0 to %c64 step %c1 {
              scf.for %n = %c0 to %c64 step %c1 {
                scf.for %k = %c0 to %c64 step %c1 {
                  %row = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%wg, %m)
                  %old = memref.load %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
                  %x = memref.load %a[%k, %row] {schedule.operand = #schedule.operand<a>} : memref<64x128xbf16, #shared>
                  %xe = arith.extf %x : bf16 to f32
                  %y = memref.load %b[%n, %k] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #shared>
                  %ye = arith.extf %y : bf16 to f32
                  %xy = arith.mulf %xe, %ye : f32
                  %new = arith.addf %old, %xy : f32
                  memref.store %new, %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
                } {schedule.matrix_axis = #schedule.matrix_axis<k>}
              } {schedule.matrix_axis = #schedule.matrix_axis<n>}
            } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64, promote = 2>, schedule.matrix_axis = #schedule.matrix_axis<m>}
          } {schedule.axis = #schedule.axis<"k.outer" of "P">, schedule.pipeline = #schedule.pipeline<stages = 3>, schedule.specialize = #schedule.specialize<producer = 40, consumer = 232>}
          scf.for %i = %c0 to %c64 step %c1 {
            scf.for %j = %c0 to %c64 step %c1 {
              %s = memref.load %sum[%i, %j] : memref<64x64xf32, #private>
              %twice = arith.addf %s, %s : f32
              %row = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%wg, %i)
              memref.store %twice, %out[%row, %j] : memref<128x64xf32, #shared>
            }
          }
        } {schedule.bind = #schedule.thread<threadIdx.y>}
        scf.for %i = %c0 to %c128 step %c1 {
          scf.for %j = %c0 to %c64 step %c1 {
            %e = memref.load %out[%i, %j] : memref<128x64xf32, #shared>
            %row = affine.apply affine_map<(d0, d1) -> (d0 * 128 + d1)>(%by, %i)
            %column = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%bx, %j)
            memref.store %e, %C[%row, %column] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 32>} : memref<256x128xf32>
          }
        }
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.bind = #schedule.thread<blockIdx.y>, schedule.cluster = 2 : i64}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 132, raster = row, group = 8>}
  return
}
