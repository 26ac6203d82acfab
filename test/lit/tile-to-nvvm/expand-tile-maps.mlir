// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(expand-tile-maps)))' | FileCheck %s

// CHECK-DAG: #[[ROW:.*]] = affine_map<()[s0] -> (((s0 mod 128) floordiv 32) * 16 + (s0 mod 32) floordiv 4)>
// CHECK-DAG: #[[LOWER:.*]] = affine_map<()[s0] -> (((s0 mod 128) floordiv 32) * 16 + (s0 mod 32) floordiv 4 + 8)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<()[s0] -> (s0 * 2 - (s0 floordiv 4) * 8 + 9)>
// CHECK-DAG: #[[BESIDE:.*]] = affine_map<()[s0] -> (s0 * 4 - (s0 floordiv 128) * 512)>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @f(
  // CHECK-SAME: %[[FRAGMENT:.*]]: !tile.fragment<64x16xf32>, %[[BIAS:.*]]: memref<64x16xf32>
  gpu.func @f(%f: !tile.fragment<64x16xf32>, %bias: memref<64x16xf32>, %b: !tile.buffer<64x16xf32>) {
    // CHECK: %[[THREAD:.*]] = gpu.thread_id x
    // CHECK: affine.apply #[[ROW]]()[%[[THREAD]]]
    // CHECK: %[[R:.*]] = affine.apply #[[LOWER]]()[%[[THREAD]]]
    // CHECK: tile.extract %[[FRAGMENT]][0]
    // CHECK: tile.extract %[[FRAGMENT]][5]
    // CHECK: %[[C:.*]] = affine.apply #[[LAST]]()[%[[THREAD]]]
    // CHECK: %[[X:.*]] = tile.extract %[[FRAGMENT]][7]
    // CHECK: %[[B:.*]] = memref.load %[[BIAS]][%[[R]], %[[C]]]
    // CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[B]]
    // CHECK: tile.assemble %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[Y]] : f32 -> !tile.fragment<64x16xf32>
    %g = tile.map %f : !tile.fragment<64x16xf32> -> !tile.fragment<64x16xf32> {
    ^bb0(%x: f32, %row: index, %column: index):
      %e = memref.load %bias[%row, %column] : memref<64x16xf32>
      %y = arith.addf %x, %e : f32
      tile.yield %y : f32
    }
    tile.store_fragment %g to %b : !tile.fragment<64x16xf32>, !tile.buffer<64x16xf32>
    gpu.return
  }

  // What elements share is read once: the flag, each of two rows, and each of four columns.
  // CHECK-LABEL: gpu.func @shared(
  // CHECK-SAME: memref<64xi32>, %[[OF_COLUMN:.*]]: memref<16xi32>, %[[FLAG:.*]]: memref<i1>
  gpu.func @shared(%f: !tile.fragment<64x16xf32>, %of_row: memref<64xi32>, %of_column: memref<16xi32>,
                   %flag: memref<i1>, %b: !tile.buffer<64x16xf32>) {
    // CHECK-COUNT-1: memref.load %[[FLAG]]
    // CHECK-COUNT-4: memref.load %[[OF_COLUMN]]
    // CHECK-COUNT-2: arith.select
    // CHECK-NOT: memref.load
    // CHECK: tile.assemble
    %g = tile.map %f : !tile.fragment<64x16xf32> -> !tile.fragment<64x16xf32> {
    ^bb0(%x: f32, %row: index, %column: index):
      %c0 = arith.constant 0.0 : f32
      %on = memref.load %flag[] : memref<i1>
      %i = memref.load %of_row[%row] : memref<64xi32>
      %j = memref.load %of_column[%column] : memref<16xi32>
      %same = arith.cmpi eq, %i, %j : i32
      %seen = arith.andi %on, %same : i1
      %y = arith.select %seen, %x, %c0 : f32
      tile.yield %y : f32
    }
    tile.store_fragment %g to %b : !tile.fragment<64x16xf32>, !tile.buffer<64x16xf32>
    gpu.return
  }

  // Four elements of a thread at a time, beside those of its neighbours.
  // CHECK-LABEL: gpu.func @save(
  // CHECK-SAME: %[[FRAGMENT:.*]]: !tile.fragment<64x16xf32>, %[[SAVED:.*]]: memref<2x1024xf32>, %[[ROW:.*]]: index
  gpu.func @save(%f: !tile.fragment<64x16xf32>, %saved: memref<2x1024xf32>, %row: index) {
    // CHECK: %[[FIRST:.*]] = affine.apply #[[BESIDE]]()[%{{.*}}]
    // CHECK: %[[V:.*]] = vector.from_elements %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<4xf32>
    // CHECK: vector.store %[[V]], %[[SAVED]][%[[ROW]], %{{.*}}] {alignment = 16 : i64} : memref<2x1024xf32>, vector<4xf32>
    // CHECK: vector.store
    tile.save_fragment %f to %saved[%row] : !tile.fragment<64x16xf32>, memref<2x1024xf32>
    // CHECK: %[[W:.*]] = vector.load %[[SAVED]][%[[ROW]], %{{.*}}] {alignment = 16 : i64} : memref<2x1024xf32>, vector<4xf32>
    // CHECK: vector.extract %[[W]][0]
    // CHECK: vector.load
    // CHECK: tile.assemble
    %g = tile.restore_fragment %saved[%row] : memref<2x1024xf32> -> !tile.fragment<64x16xf32>
    gpu.return
  }

  // Two rows a thread, which combines its elements of each, then with those of the three others of the row. The result is
  // what it is combined with last.
  // CHECK-LABEL: gpu.func @rows(
  // CHECK-SAME: %[[FRAGMENT:.*]]: !tile.fragment<64x16xf32>, %[[MOST:.*]]: !tile.fragment<64x1xf32>
  gpu.func @rows(%f: !tile.fragment<64x16xf32>, %most: !tile.fragment<64x1xf32>, %out: memref<64xf32>) {
    // CHECK: %[[E0:.*]] = tile.extract %[[FRAGMENT]][0]
    // CHECK: %[[E1:.*]] = tile.extract %[[FRAGMENT]][1]
    // CHECK: %[[E2:.*]] = tile.extract %[[FRAGMENT]][2]
    // CHECK: %[[E3:.*]] = tile.extract %[[FRAGMENT]][3]
    // CHECK: %[[E4:.*]] = tile.extract %[[FRAGMENT]][4]
    // CHECK: %[[EVEN:.*]] = arith.maximumf %[[E0]], %[[E4]]
    // CHECK: %[[E5:.*]] = tile.extract %[[FRAGMENT]][5]
    // CHECK: %[[ODD:.*]] = arith.maximumf %[[E1]], %[[E5]]
    // CHECK: %[[BOTH:.*]] = arith.maximumf %[[EVEN]], %[[ODD]]
    // CHECK: %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[BOTH]], %{{.*}}, %{{.*}} : f32
    // CHECK: %[[PAIR:.*]] = arith.maximumf %[[BOTH]], %[[OTHER]]
    // CHECK: %[[PAIRS:.*]], %{{.*}} = gpu.shuffle xor %[[PAIR]], %{{.*}}, %{{.*}} : f32
    // CHECK: %[[ALL:.*]] = arith.maximumf %[[PAIR]], %[[PAIRS]]
    // CHECK: %[[BEFORE:.*]] = tile.extract %[[MOST]][0]
    // CHECK: %[[UPPER:.*]] = arith.maximumf %[[BEFORE]], %[[ALL]]
    // CHECK: tile.extract %[[MOST]][1]
    // CHECK: %[[COLUMN:.*]] = tile.assemble %[[UPPER]], %{{.*}} : f32 -> !tile.fragment<64x1xf32>
    %m = tile.row_reduce max %f into %most : !tile.fragment<64x16xf32> -> !tile.fragment<64x1xf32>
    // One of the four threads stores a row's element.
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq
    // CHECK: %[[E:.*]] = tile.extract %[[COLUMN]][0]
    // CHECK: scf.if %[[FIRST]]
    // CHECK-NEXT: memref.store %[[E]], %{{.*}}[%{{.*}}]
    // CHECK: tile.extract %[[COLUMN]][1]
    %stored = tile.map %m : !tile.fragment<64x1xf32> -> !tile.fragment<64x1xf32> {
    ^bb0(%x: f32, %row: index, %column: index):
      memref.store %x, %out[%row] : memref<64xf32>
      tile.yield %x : f32
    }
    // Each element of a row has that of the column.
    // CHECK: tile.extract %[[FRAGMENT]][6]
    // CHECK: tile.extract %[[COLUMN]][1]
    // CHECK: arith.subf
    %g = tile.map %f, %m : !tile.fragment<64x16xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x16xf32> {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %z = arith.subf %x, %y : f32
      tile.yield %z : f32
    }
    // CHECK: %[[ONE:.*]] = arith.constant 1.0
    // CHECK: tile.assemble %[[ONE]], %[[ONE]] : f32 -> !tile.fragment<64x1xf32>
    %one = arith.constant 1.0 : f32
    %ones = tile.fill %one : f32 -> !tile.fragment<64x1xf32>
    %n = tile.row_reduce sum %g into %ones : !tile.fragment<64x16xf32> -> !tile.fragment<64x1xf32>
    %again = tile.map %n : !tile.fragment<64x1xf32> -> !tile.fragment<64x1xf32> {
    ^bb0(%x: f32, %row: index, %column: index):
      memref.store %x, %out[%row] : memref<64xf32>
      tile.yield %x : f32
    }
    gpu.return
  }
}

// A warp stores every fourth row, and each of its threads every 32nd element that is inside of the tensor.
gpu.module @rows {
  // CHECK-LABEL: gpu.func @rows
  // CHECK-SAME: %[[C:.*]]: memref<96x77xbf16>, %[[I:.*]]: index, %[[J:.*]]: index
  gpu.func @rows(%C: memref<96x77xbf16>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c = tile.alloc at 0 : !tile.buffer<64x64xbf16, swizzle = 128>
    // CHECK: %[[THREAD:.*]] = gpu.thread_id x
    // CHECK: %[[WARP:.*]] = affine.apply {{.*}}[%[[THREAD]]]
    // CHECK: %[[FIRST:.*]] = affine.apply {{.*}}[%[[THREAD]], %[[J]]]
    // CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[FIRST]], %{{.*}}
    // CHECK: scf.for %[[ROW:.*]] = %[[WARP]] to %{{.*}} step %{{.*}} {
    // CHECK: %[[PLACE:.*]] = affine.apply {{.*}}(%[[ROW]])[%[[I]]]
    // CHECK: %[[IS:.*]] = arith.cmpi slt, %[[PLACE]]
    // CHECK: scf.if %[[IS]] {
    // CHECK: %[[X:.*]] = tile.read_element %{{.*}}[%[[ROW]], %{{.*}}]
    // CHECK: %[[Y:.*]] = tile.read_element %{{.*}}[%[[ROW]], %{{.*}}]
    // CHECK: scf.if %[[INSIDE]] {
    // CHECK-NEXT: memref.store %[[X]], %[[C]][%[[PLACE]], %[[FIRST]]]
    // CHECK: memref.store %[[Y]], %[[C]]
    tile.store_rows %c to %C[%i, %j] box [64, 64] : !tile.buffer<64x64xbf16, swizzle = 128>, memref<96x77xbf16>
    gpu.return
  }

  // Dimensions of its own, and rows along two of them.
  // CHECK-LABEL: gpu.func @images
  // CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [9, 9, 3], strides: [27, 3, 1]
  // CHECK: scf.for
  // CHECK: memref.store %{{.*}}, %[[VIEW]][%{{.*}}, %{{.*}}, %{{.*}}]
  gpu.func @images(%C: memref<81x3xf32>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c = tile.alloc at 0 : !tile.buffer<64x8xf32, swizzle = 32>
    tile.store_rows %c to %C[%i, %i, %j] box [8, 8, 8] as [9, 9, 3] strides [27, 3, 1] : !tile.buffer<64x8xf32, swizzle = 32>, memref<81x3xf32>
    gpu.return
  }
}
