// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(loops-to-tile))' | FileCheck %s

// Any number of rows, and of steps: as many clusters of two blocks as there are tiles, up to 66. Where there is no step the one
// behind the last is done, which is zeros. A cluster's second block may have no tile.
#shared = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
// CHECK-DAG: #[[TILE_ROWS:.*]] = affine_map<()[s0] -> (s0 ceildiv 128)>
// CHECK-DAG: #[[STEP_COLUMNS:.*]] = affine_map<()[s0] -> ((s0 * 8) ceildiv 64)>
// CHECK: func.func @f(%[[A:.*]]: memref<?x?xbf16> {{.*}}, %[[B:.*]]: memref<128x?xbf16> {{.*}}, %[[C:.*]]: memref<?x128xf32>
// CHECK: %[[ROWS:.*]] = affine.apply #[[TILE_ROWS]]()
// CHECK: %[[STEPS:.*]] = affine.apply #[[STEP_COLUMNS]]()
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[STEPS]], %{{.*}}
// CHECK: %[[FIRST:.*]] = arith.index_castui %[[NONE]] : i1 to index
// CHECK: %[[TWICE:.*]] = arith.muli %[[FIRST]], %{{.*}}
// CHECK: %[[END:.*]] = arith.addi %[[STEPS]], %[[TWICE]]
// CHECK: %[[UP:.*]] = arith.addi %[[ROWS]], %{{.*}}
// CHECK: %[[PAIRS:.*]] = arith.divui %[[UP]], %{{.*}}
// CHECK: %[[TILES:.*]] = arith.muli %[[PAIRS]], %{{.*}}
// CHECK: %[[STAYING:.*]] = arith.minui %[[TILES]], %c66{{.*}}
// CHECK: tile.encode %[[A]] : memref<?x?xbf16> -> <128x64xbf16, swizzle = 128>
// CHECK: tile.encode %[[B]] : memref<128x?xbf16> -> <32x64xbf16, swizzle = 128>
// CHECK: tile.encode %[[C]] : memref<?x128xf32> -> <64x32xf32, swizzle = 128>
// CHECK: gpu.launch clusters({{.*}}) in ({{.*}}) blocks({{.*}}) in (%{{.*}} = %[[STAYING]],
// CHECK: tile.role "producer"
// CHECK: %[[NUMBER:.*]] = gpu.cluster_id x
// CHECK: scf.for %{{.*}} = %[[NUMBER]] to %[[TILES]] step %[[STAYING]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step
// CHECK: tile.role "consumer"
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TILES]] step %[[STAYING]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %{{.*}}
// CHECK: scf.for %{{.*}} = %[[SECOND]] to %[[END]] step
// CHECK: %[[IS_THERE:.*]] = arith.cmpi ult, %{{.*}}, %[[ROWS]]
// CHECK: scf.if %[[IS_THERE]]
func.func @f(%A: memref<?x?xbf16> {te.name = "A", te.symbols = ["m", "k"], te.divisible_by = array<i64: 1, 8>},
             %B: memref<128x?xbf16> {te.name = "B", te.symbols = ["", "k"], te.divisible_by = array<i64: 1, 8>},
             %C: memref<?x128xf32> {te.name = "C", te.symbols = ["m", ""]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %tall = memref.dim %A, %c0 : memref<?x?xbf16>
  %long = memref.dim %A, %c1 : memref<?x?xbf16>
  %c8 = arith.constant 8 : index
  %units = arith.divui %long, %c8 : index
  %extent = affine.apply affine_map<()[s0] -> (s0 * 8)>()[%units]
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : bf16
  scf.for %lane = %c0 to %c128 step %c1 {
    %rows = affine.apply affine_map<()[s0] -> (s0 ceildiv 128)>()[%tall]
    scf.for %by = %c0 to %rows step %c1 {
      scf.for %bx = %c0 to %c2 step %c1 {
        %out = memref.alloc() : memref<128x64xf32, #shared>
        scf.for %wg = %c0 to %c2 step %c1 {
          %sum = memref.alloca() : memref<64x64xf32, #private>
          scf.for %i = %c0 to %c64 step %c1 {
            scf.for %j = %c0 to %c64 step %c1 {
              memref.store %zero, %sum[%i, %j] : memref<64x64xf32, #private>
            }
          }
          %steps = affine.apply affine_map<()[s0] -> ((s0 * 8) ceildiv 64)>()[%units]
          scf.for %ko = %c0 to %steps step %c1 {
            %a = memref.alloc() : memref<128x64xbf16, #shared>
            scf.for %i = %c0 to %c128 step %c1 {
              scf.for %k = %c0 to %c64 step %c1 {
                %row = affine.apply affine_map<(d0, d1) -> (d0 * 128 + d1)>(%by, %i)
                %column = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1)>(%ko, %k)
                %inside = arith.cmpi slt, %column, %extent : index
                %x = scf.if %inside -> bf16 {
                  %e = memref.load %A[%row, %column] : memref<?x?xbf16>
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
                %inside = arith.cmpi slt, %column, %extent : index
                %x = scf.if %inside -> bf16 {
                  %e = memref.load %B[%row, %column] : memref<128x?xbf16>
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
            memref.store %e, %C[%row, %column] {schedule.copy = #schedule.copy<by = tma, swizzle = 128, columns = 32>} : memref<?x128xf32>
          }
        }
      } {schedule.bind = #schedule.thread<blockIdx.x>}
    } {schedule.bind = #schedule.thread<blockIdx.y>, schedule.cluster = 2 : i64}
  } {schedule.bind = #schedule.thread<threadIdx.x>, schedule.persistent = #schedule.persistent<blocks = 132, raster = row, group = 8>}
  return
}
