// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(loops-to-tile))' | FileCheck %s
// RUN: sed 's/columns = 32>/columns = 32, deferred = true>/' %s | tilewright-opt --pass-pipeline='builtin.module(func.func(loops-to-tile))' | FileCheck %s --check-prefix=DEFERRED
// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(raise-to-tile-ops))' | FileCheck %s --check-prefix=RAISED

// Two warpgroups multiply what a third has copied, in blocks that stay and clusters along y, which share B; C goes by way of
// shared memory, half of its columns at a time.

#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
// CHECK: func.func @f(%[[A:.*]]: memref<256x200xbf16>, %[[B:.*]]: memref<128x200xbf16>, %[[C:.*]]: memref<256x128xf32>)
// CHECK: %[[MAP_A:.*]] = tile.encode %[[A]] : memref<256x200xbf16> -> <128x64xbf16, swizzle = 128>
// CHECK: %[[MAP_B:.*]] = tile.encode %[[B]] : memref<128x200xbf16> -> <32x64xbf16, swizzle = 128>
// CHECK: %[[MAP_C:.*]] = tile.encode %[[C]] : memref<256x128xf32> -> <64x32xf32, swizzle = 128>
// CHECK: gpu.launch clusters({{.*}}) in ({{.*}}) blocks({{.*}}) in ({{.*}}) threads({{.*}}) in
// CHECK: %[[RING:.*]] = tile.ring consumers 2 : <3, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
// CHECK: %[[BUFFER:.*]] = tile.alloc {{.*}}: <128x32xf32, swizzle = 128>
// CHECK: %[[RANK:.*]] = gpu.cluster_block_id y
// CHECK: tile.role "producer" warps 4 registers 40
// CHECK: tile.elect role
// CHECK: gpu.cluster_id x
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[SLOT:.*]]:2 = tile.acquire %[[RING]]
// CHECK: tile.tma_load %[[MAP_A]][{{.*}}] to %[[SLOT]]#0 signal
// CHECK: %[[PART:.*]] = tile.part %[[SLOT]]#1[%[[RANK]], %{{.*}}] : <64x64xbf16, swizzle = 128> -> <32x64xbf16, swizzle = 128>
// CHECK: tile.tma_load %[[MAP_B]][{{.*}}] to %[[PART]] signal {{.*}} multicast y
// CHECK: tile.commit
// CHECK: tile.role "consumer" warps 8 registers 232
// CHECK: ^bb0(%[[WARPGROUP:.*]]: index)
// CHECK: %[[MINE:.*]] = tile.part %[[BUFFER]][%[[WARPGROUP]], %{{.*}}] : <128x32xf32, swizzle = 128> -> <64x32xf32, swizzle = 128>
// CHECK: tile.wait
// CHECK: tile.wgmma %{{.*}}, %{{.*}} : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.accumulator<64x64xf32>
// CHECK: scf.for
// CHECK: tile.wgmma %{{.*}}, %{{.*}} into %{{.*}} :
// CHECK: tile.wgmma_commit
// CHECK: tile.wgmma_wait 1
// CHECK: tile.release
// CHECK: %[[SUM:.*]] = tile.wgmma_wait 0 for
// CHECK: tile.release
// CHECK: %[[TWICE:.*]] = tile.map %[[SUM]]
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[X]]
// CHECK: tile.yield %[[Y]]
// CHECK: tile.wait_stores 0 read
// CHECK: tile.sync_warpgroup
// CHECK: tile.store_fragment %[[TWICE]] to %[[MINE]]
// CHECK: tile.fence_async
// CHECK: tile.sync_warpgroup
// CHECK: tile.elect warpgroup
// CHECK: tile.tma_store %[[MINE]] to %[[MAP_C]]
// CHECK: tile.commit_stores
// CHECK: tile.store_fragment %[[TWICE]] from 32 to %[[MINE]]
// CHECK: tile.tma_store
// CHECK: tile.wait_stores 0 read

// A deferred result is held, with its place, until the next tile's products are begun, and stored part by part behind its steps.
// DEFERRED: tile.role "consumer"
// DEFERRED: %[[MINE:.*]] = tile.part
// DEFERRED: %[[ZEROS:.*]] = tile.map -> <64x64xf32>
// DEFERRED: %[[NOTHING:.*]] = arith.constant false
// DEFERRED: %[[LEFT:.*]]:6 = scf.for {{.*}}, %[[HELD:.*]] = %[[ZEROS]], %[[IS_THERE:.*]] = %[[NOTHING]], %[[ROW:.*]] = %{{.*}}, %[[COLUMN:.*]] = %{{.*}})
// DEFERRED: tile.wgmma %
// DEFERRED: tile.wgmma_commit
// DEFERRED: scf.if %[[IS_THERE]] {
// DEFERRED-NEXT: tile.wait_stores 0 read
// DEFERRED-NEXT: tile.sync_warpgroup
// DEFERRED-NEXT: tile.store_fragment %[[HELD]] to %[[MINE]]
// DEFERRED: tile.tma_store %[[MINE]] to %{{.*}}[%[[ROW]], %[[COLUMN]]]
// DEFERRED: scf.for %[[STEP:[a-z0-9]+]] =
// DEFERRED: tile.wgmma %{{.*}} into
// DEFERRED: tile.wgmma_wait 1
// DEFERRED: tile.release
// DEFERRED: %[[IS_EARLY:.*]] = arith.cmpi ult, %[[STEP]], %{{.*}}
// DEFERRED: %[[STORES:.*]] = arith.andi %[[IS_THERE]], %[[IS_EARLY]]
// DEFERRED: scf.if %[[STORES]] {
// DEFERRED: %[[IS_SECOND:.*]] = arith.cmpi eq, %[[STEP]], %{{.*}}
// DEFERRED: scf.if %[[IS_SECOND]] {
// DEFERRED: tile.store_fragment %[[HELD]] from 32 to %[[MINE]]
// DEFERRED: %[[SUM:.*]] = tile.wgmma_wait 0 for
// DEFERRED: %[[TWICE:.*]] = tile.map %[[SUM]]
// DEFERRED: %[[THERE:.*]] = arith.constant true
// DEFERRED-NEXT: scf.yield {{.*}}, %[[TWICE]], %[[THERE]], %{{.*}}, %{{.*}} :
// DEFERRED: scf.if %[[LEFT]]#3 {
// DEFERRED: tile.store_fragment %[[LEFT]]#2 to %[[MINE]]
// DEFERRED: tile.store_fragment %[[LEFT]]#2 from 32 to %[[MINE]]
// DEFERRED: tile.wait_stores 0 read

// Each statement is one op; the loop carries the accumulator. Each warpgroup stores its own rows.
// RAISED: tile.kernel(%{{.*}}, %{{.*}}, %{{.*}}) cluster [1, 2, 1] warpgroups 2 registers [40, 232] order <blocks = {{[0-9]+}}, raster = {{.*}}> axes
// RAISED: ^bb0(%[[X:[a-z0-9]+]]: index, %[[Y:[a-z0-9]+]]: index, %{{.*}}: index, %[[W:[a-z0-9]+]]: index):
// RAISED: %[[ZEROS:.*]] = tile.fill
// RAISED: %[[SUM:.*]] = scf.for %{{.*}} iter_args(%[[ACC:.*]] = %[[ZEROS]])
// RAISED: %[[A:.*]] = tile.load %{{.*}} box [128, 64] {{.*}}-> <128x64xbf16, swizzle = 128>
// RAISED: %[[B:.*]] = tile.load %{{.*}} box [64, 64] multicast y {{.*}}-> <64x64xbf16, swizzle = 128>
// RAISED: %[[MINE:.*]] = tile.part %[[A]][%[[W]], %{{.*}}]
// RAISED: %[[NEXT:.*]] = tile.matmul %[[MINE]], %[[B]] into %[[ACC]]
// RAISED: scf.yield %[[NEXT]]
// RAISED: %[[TWICE:.*]] = tile.map %[[SUM]]
// RAISED: tile.store %[[TWICE]] to %{{.*}} box [64, 64] columns 32 swizzle 128
func.func @f(%A: memref<256x200xbf16>, %B: memref<128x200xbf16>, %C: memref<256x128xf32>) {
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
            %a = memref.alloc() : memref<128x64xbf16, #shared>
            scf.for %i = %c0 to %c128 step %c1 {
              scf.for %k = %c0 to %c64 step %c1 {
                %row = affine.apply affine_map<(d0, d1) -> (d0 * 128 + d1)>(%by, %i)
                %column = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%ko, %k)
                %inside = arith.cmpi slt, %column, %c200 : index
                %x = scf.if %inside -> bf16 {
                  %e = memref.load %A[%row, %column] : memref<256x200xbf16>
                  scf.yield %e : bf16
                } else {
                  scf.yield %none : bf16
                }
                memref.store %x, %a[%i, %k] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} : memref<128x64xbf16, #shared>
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
                  %x = memref.load %a[%row, %k] {schedule.operand = #schedule.operand<a>} : memref<128x64xbf16, #shared>
                  %xe = arith.extf %x : bf16 to f32
                  %y = memref.load %b[%n, %k] {schedule.operand = #schedule.operand<b>} : memref<64x64xbf16, #shared>
                  %ye = arith.extf %y : bf16 to f32
                  %xy = arith.mulf %xe, %ye : f32
                  %new = arith.addf %old, %xy : f32
                  memref.store %new, %sum[%m, %n] {schedule.operand = #schedule.operand<accumulator>} : memref<64x64xf32, #private>
                } {schedule.matrix_axis = #schedule.matrix_axis<k>}
              } {schedule.matrix_axis = #schedule.matrix_axis<n>}
            } {schedule.axis = #schedule.axis<"m" of "P">, schedule.instruction = #schedule.instruction<wgmma, 64x64x64>, schedule.matrix_axis = #schedule.matrix_axis<m>}
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
