// Round trip: what is printed reads back as the same.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

!a = !tile.buffer<128x64xbf16, swizzle = 128>
!b = !tile.buffer<256x64xbf16, swizzle = 128>
!half = !tile.buffer<128x64xbf16, swizzle = 128>
!ring = !tile.ring<3, !a, !b>
!c = !tile.buffer<128x256xbf16, swizzle = 128>
!mine = !tile.buffer<64x256xbf16, swizzle = 128, panel_rows = 128>
!mapA = !tile.tensor_map<128x64xbf16, swizzle = 128>
!mapC = !tile.tensor_map<64x64xbf16, swizzle = 128>
func.func @kernel(%mapA: !mapA, %mapC: !mapC, %mapD: !tile.tensor_map<64x64xf32>, %i: index, %slot: i32, %odd: memref<96x77xf32>, %saved: memref<4x16384xf32>, %arrivals: memref<2xi64>) {
  // CHECK: tile.ring consumers 2 : <3, <128x64xbf16, swizzle = 128>, <256x64xbf16, swizzle = 128>>
  %ring = tile.ring consumers 2 : !ring
  // CHECK: tile.alloc : <128x256xbf16, swizzle = 128>
  %c = tile.alloc : !c
  %d = tile.alloc : !tile.buffer<64x64xf32>
  tile.roles {
    // CHECK: tile.role "producer" warps 4 registers 40 {
    tile.role "producer" warps 4 registers 40 {
      // CHECK: tile.elect role {
      tile.elect role {
        // CHECK: [[SLOT:%.*]]:2 = tile.acquire %ring[%{{.*}}, %{{.*}}] : <3,
        %a, %b = tile.acquire %ring[%slot, %slot] : !ring
        // CHECK: [[PART:%.*]] = tile.part [[SLOT]]#1[%{{.*}}, %{{.*}}] : <256x64xbf16, swizzle = 128> -> <128x64xbf16, swizzle = 128>
        %p = tile.part %b[%i, %i] : !b -> !half
        tile.tma_load %mapA[%i, %i] to %a signal %ring[%slot] : !mapA, !a, !ring
        // CHECK: tile.tma_load %{{.*}}[%{{.*}}, %{{.*}}] to [[PART]] signal %ring[%{{.*}}] multicast x :
        tile.tma_load %mapA[%i, %i] to %p signal %ring[%slot] multicast x : !mapA, !half, !ring
        // CHECK: tile.commit %ring
        tile.commit %ring[%slot] : !ring
      }
    }
    // CHECK: tile.role "consumer" warps 8 registers 232 {
    // CHECK-NEXT: ^bb0(%{{.*}}: index):
    tile.role "consumer" warps 8 registers 232 {
    ^bb0(%w: index):
      // CHECK: tile.wait %ring
      %a, %b = tile.wait %ring[%slot, %slot] : !ring
      %ma = tile.part %a[%w, %i] : !a -> !tile.buffer<64x64xbf16, swizzle = 128>
      // CHECK: [[ACC:%.*]] = tile.wgmma %{{.*}}, %{{.*}} : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<256x64xbf16, swizzle = 128> -> !tile.accumulator<64x256xf32>
      %acc = tile.wgmma %ma, %b : !tile.buffer<64x64xbf16, swizzle = 128>, !b -> !tile.accumulator<64x256xf32>
      // CHECK: tile.zero : <64x256xf32>
      %none = tile.zero : !tile.accumulator<64x256xf32>
      // CHECK: [[ACC1:%.*]] = tile.wgmma %{{.*}}, %{{.*}} into [[ACC]] :
      %acc1 = tile.wgmma %ma, %b into %acc : !tile.buffer<64x64xbf16, swizzle = 128>, !b -> !tile.accumulator<64x256xf32>
      // CHECK: tile.wgmma_commit
      tile.wgmma_commit
      // CHECK: tile.wgmma_wait 1{{$}}
      tile.wgmma_wait 1
      // CHECK: tile.wgmma_wait 0 for [[ACC1]] : !tile.accumulator<64x256xf32> -> !tile.fragment<64x256xf32>
      %sum = tile.wgmma_wait 0 for %acc1 : !tile.accumulator<64x256xf32> -> !tile.fragment<64x256xf32>
      // CHECK: tile.release %ring
      tile.release %ring[%slot] : !ring
      // CHECK: tile.advance %ring
      %s, %ph = tile.advance %ring[%slot, %slot] : !ring
      // CHECK: tile.advance %ring[%{{.*}}, %{{.*}}] by 64 :
      %later, %phase = tile.advance %ring[%slot, %slot] by 64 : !ring
      // CHECK: tile.part %{{.*}} : <128x256xbf16, swizzle = 128> -> <64x256xbf16, swizzle = 128, panel_rows = 128>
      %m = tile.part %c[%w, %i] : !c -> !mine
      // CHECK: tile.store_fragment %{{.*}} to %{{.*}} : <64x256xf32>, <64x256xbf16, swizzle = 128, panel_rows = 128>
      tile.store_fragment %sum to %m : !tile.fragment<64x256xf32>, !mine
      // CHECK: tile.store_fragment %{{.*}} from 128 to %{{.*}} : <64x256xf32>, <64x64xf32>
      tile.store_fragment %sum from 128 to %d : !tile.fragment<64x256xf32>, !tile.buffer<64x64xf32>
      // CHECK: tile.store_rows %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] box [64, 64] : <64x64xf32>, memref<96x77xf32>
      tile.store_rows %d to %odd[%i, %i] box [64, 64] : !tile.buffer<64x64xf32>, memref<96x77xf32>
      // CHECK: tile.store_rows %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] box [64, 64] as [7392, 1] strides [1, 1] : <64x64xf32>
      tile.store_rows %d to %odd[%i, %i] box [64, 64] as [7392, 1] strides [1, 1] : !tile.buffer<64x64xf32>, memref<96x77xf32>
      // CHECK: tile.read_element %{{.*}}[%{{.*}}, %{{.*}}] : <64x64xf32> -> f32
      %element = tile.read_element %d[%i, %i] : !tile.buffer<64x64xf32> -> f32
      // CHECK: tile.store_fragment %{{.*}} from 192 transposed to %{{.*}} : <64x256xf32>, <64x64xf32>
      tile.store_fragment %sum from 192 transposed to %d : !tile.fragment<64x256xf32>, !tile.buffer<64x64xf32>
      // CHECK: tile.save_fragment %{{.*}} to %{{.*}}[%{{.*}}] : <64x256xf32>, memref<4x16384xf32>
      tile.save_fragment %sum to %saved[%i] : !tile.fragment<64x256xf32>, memref<4x16384xf32>
      // CHECK: tile.arrive %{{.*}}[%{{.*}}] of %{{.*}} : memref<2xi64>
      %last = tile.arrive %arrivals[%i] of %w : memref<2xi64>
      // CHECK: tile.arrive %{{.*}}[%{{.*}}] of %{{.*}} if_last : memref<2xi64>
      %is = tile.arrive %arrivals[%i] of %w if_last : memref<2xi64>
      // CHECK: tile.restore_fragment %{{.*}}[%{{.*}}] : memref<4x16384xf32> -> <64x256xf32>
      %part = tile.restore_fragment %saved[%i] : memref<4x16384xf32> -> !tile.fragment<64x256xf32>
      tile.fence_async
      tile.sync_warpgroup
      // CHECK: tile.sync_warpgroup of 2
      tile.sync_warpgroup of 2
      // CHECK: tile.elect warpgroup {
      tile.elect warpgroup {
        // CHECK: tile.tma_store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] :
        tile.tma_store %m to %mapC[%i, %i] : !mine, !mapC
        // CHECK: tile.tma_store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] reduce_add : <64x64xf32>, <64x64xf32>
        tile.tma_store %d to %mapD[%i, %i] reduce_add : !tile.buffer<64x64xf32>, !tile.tensor_map<64x64xf32>
        tile.commit_stores
        // CHECK: tile.wait_stores 0 read
        tile.wait_stores 0 read
      }
    }
  }
  return
}

// CHECK-LABEL: func.func @turns
func.func @turns() {
  tile.roles {
    // CHECK: tile.role "consumer" warps 8 registers 232 turns 2 {
    // CHECK-NEXT: ^bb0(%[[SET:.*]]: index):
    tile.role "consumer" warps 8 registers 232 turns 2 {
    ^bb0(%set: index):
      // CHECK: tile.take_turn %[[SET]] of 2 warpgroups 1
      tile.take_turn %set of 2 warpgroups 1
      // CHECK: tile.pass_turn %[[SET]] of 2 warpgroups 1
      tile.pass_turn %set of 2 warpgroups 1
    }
  }
  return
}

// CHECK-LABEL: func.func @transposed
func.func @transposed(%a: !tile.buffer<32x64xf16, swizzle = 64>, %b: !tile.buffer<32x128xf16, swizzle = 32>) {
  // CHECK: tile.wgmma %{{.*}} mn_major, %{{.*}} mn_major : !tile.buffer<32x64xf16, swizzle = 64>
  %acc = tile.wgmma %a mn_major, %b mn_major : !tile.buffer<32x64xf16, swizzle = 64>, !tile.buffer<32x128xf16, swizzle = 32> -> !tile.accumulator<64x128xf16>
  // CHECK: tile.wgmma %{{.*}}, %{{.*}} mn_major into %{{.*}} : !tile.fragment<64x32xf16>, !tile.buffer<32x128xf16, swizzle = 32> -> !tile.accumulator<64x128xf16>
  %registers = tile.map -> !tile.fragment<64x32xf16> {
  ^bb0(%row: index, %column: index):
    %half = arith.constant 0.5 : f16
    tile.yield %half : f16
  }
  %acc0 = tile.wgmma %registers, %b mn_major into %acc : !tile.fragment<64x32xf16>, !tile.buffer<32x128xf16, swizzle = 32> -> !tile.accumulator<64x128xf16>
  // CHECK: tile.wgmma %{{.*}} mn_major, %{{.*}} mn_major into %{{.*}} columns 104 : !tile.buffer<32x64xf16, swizzle = 64>
  %acc1 = tile.wgmma %a mn_major, %b mn_major into %acc columns 104 : !tile.buffer<32x64xf16, swizzle = 64>, !tile.buffer<32x128xf16, swizzle = 32> -> !tile.accumulator<64x128xf16>
  %q = tile.alloc at 0 : <64x32xf32, swizzle = 128>
  %one = arith.constant 1.0 : f32
  %weights = tile.fill %one : f32 -> !tile.fragment<64x64xf32>
  // CHECK: tile.wgmma %{{.*}}, %{{.*}} : !tile.fragment<64x64xf32>, !tile.buffer<64x32xf32, swizzle = 128> -> !tile.accumulator<64x32xf32>
  %acc2 = tile.wgmma %weights, %q mn_major : !tile.fragment<64x64xf32>, !tile.buffer<64x32xf32, swizzle = 128> -> !tile.accumulator<64x32xf32>
  return
}

// CHECK-LABEL: func.func @encode
func.func @encode(%A: memref<?x4096xf32>) {
  // CHECK: tile.encode %{{.*}} : memref<?x4096xf32> -> <128x32xtf32, swizzle = 128>
  %map = tile.encode %A : memref<?x4096xf32> -> !tile.tensor_map<128x32xtf32, swizzle = 128>
  return
}

// CHECK-LABEL: func.func @placed
func.func @placed() {
  // CHECK: tile.ring consumers 1 at 1024 barriers at 24576 : <2, <64x64xbf16, swizzle = 128>>
  %ring = tile.ring consumers 1 at 1024 barriers at 24576 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  // CHECK: tile.init %ring
  tile.init %ring : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  // CHECK: tile.alloc at 0 : <8x16xf32>
  %c = tile.alloc at 0 : !tile.buffer<8x16xf32>
  return
}

// CHECK-LABEL: func.func @elements
func.func @elements(%f: !tile.fragment<64x8xf32>) {
  // CHECK: tile.map %{{.*}} : !tile.fragment<64x8xf32> -> <64x8xf16> {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
  // CHECK: tile.yield %{{.*}} : f16
  %h = tile.map %f : !tile.fragment<64x8xf32> -> !tile.fragment<64x8xf16> {
  ^bb0(%x: f32, %row: index, %column: index):
    %y = arith.truncf %x : f32 to f16
    tile.yield %y : f16
  }
  // CHECK: tile.row_reduce max %{{.*}} into %{{.*}} : <64x8xf32> -> <64x1xf32>
  %zero = arith.constant 0.0 : f32
  %none = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
  %most = tile.row_reduce max %f into %none : !tile.fragment<64x8xf32> -> !tile.fragment<64x1xf32>
  // CHECK: tile.map %{{.*}}, %{{.*}} : !tile.fragment<64x8xf32>, !tile.fragment<64x1xf32> -> <64x8xf32> {
  %below = tile.map %f, %most : !tile.fragment<64x8xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x8xf32> {
  ^bb0(%x: f32, %y: f32, %row: index, %column: index):
    %z = arith.subf %x, %y : f32
    tile.yield %z : f32
  }
  // CHECK: tile.to_accumulator %{{.*}} : <64x8xf32> -> <64x8xf32>
  %begun = tile.to_accumulator %below : !tile.fragment<64x8xf32> -> !tile.accumulator<64x8xf32>
  // CHECK: tile.map %{{.*}}, %{{.*}} : !tile.fragment<64x8xf32>, !tile.fragment<64x8xf16> -> <64x8xf32> {
  %s = tile.map %f, %h : !tile.fragment<64x8xf32>, !tile.fragment<64x8xf16> -> !tile.fragment<64x8xf32> {
  ^bb0(%x: f32, %y: f16, %row: index, %column: index):
    tile.yield %x : f32
  }
  // CHECK: %[[E:.*]] = tile.extract %{{.*}}[3] : <64x8xf16> -> f16
  %e = tile.extract %h[3] : !tile.fragment<64x8xf16> -> f16
  // CHECK: tile.assemble %[[E]], %[[E]], %[[E]], %[[E]] : f16 -> !tile.fragment<64x8xf16>
  %g = tile.assemble %e, %e, %e, %e : f16 -> !tile.fragment<64x8xf16>
  // CHECK: tile.pack %{{.*}} : <64x32xf32> -> <64x32xf8E4M3FN>
  %wide = tile.fill %zero : f32 -> !tile.fragment<64x32xf32>
  %packed = tile.pack %wide : !tile.fragment<64x32xf32> -> !tile.fragment<64x32xf8E4M3FN>
  // CHECK: tile.map %{{.*}} : !tile.fragment<64x32xf32> interleaved -> <64x32xf8E4M3FN> {
  %weights = tile.map %wide : !tile.fragment<64x32xf32> interleaved -> !tile.fragment<64x32xf8E4M3FN> {
  ^bb0(%x: f32, %row: index, %column: index):
    %y = arith.truncf %x : f32 to f8E4M3FN
    tile.yield %y : f8E4M3FN
  }
  return
}
