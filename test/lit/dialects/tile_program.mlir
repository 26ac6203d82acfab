// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// What a kernel computes, one tile at a time.
// CHECK-LABEL: func.func @f
func.func @f(%A: memref<256x256xbf16>, %X: memref<4x18x18x64xbf16>, %C: memref<256x256xf32>, %D: memref<256x256xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: tile.kernel(%{{.*}}, %{{.*}}, %{{.*}}) cluster [2, 1, 1] warpgroups 2 registers [40, 232] pingpong 2 order <blocks = 8, raster = hilbert, group = 4, serpentine_k = true> axes ["C.j", "C.i", ""] {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: index, %[[Y:.*]]: index, %{{.*}}: index, %{{.*}}: index):
  tile.kernel (%c4, %c4, %c1) cluster [2, 1, 1] warpgroups 2 registers [40, 232] pingpong 2
      order <blocks = 8, raster = hilbert, group = 4, serpentine_k = true> axes ["C.j", "C.i", ""] {
  ^bb0(%x: index, %y: index, %z: index, %warpgroup: index):
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    // CHECK: %[[ZEROS:.*]] = tile.fill %{{.*}} : f32 -> <64x64xf32>
    %zeros = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // CHECK: %[[A:.*]] = tile.load %{{.*}}[%[[X]], %[[Y]]] box [64, 64] multicast x : memref<256x256xbf16> -> <64x64xbf16, swizzle = 128>
    %a = tile.load %A[%x, %y] box [64, 64] multicast x : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    // CHECK: %[[B:.*]] = tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] box [1, 8, 8, 64] as [4, 18, 18, 64] strides [20736, 1152, 64, 1] steps [1, 2, 2, 1] :
    %b = tile.load %X[%c0, %x, %y, %c0] box [1, 8, 8, 64] as [4, 18, 18, 64] strides [20736, 1152, 64, 1] steps [1, 2, 2, 1]
        : memref<4x18x18x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    // CHECK: tile.load %{{.*}}[%[[X]], %[[Y]], %{{.*}}, %{{.*}}, %{{.*}}] box [2, 1, 32, 64] gathered 0 :
    %gathered = tile.load %X[%x, %y, %c0, %c0, %c0] box [2, 1, 32, 64] gathered 0
        : memref<4x18x18x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    // CHECK: %[[S:.*]] = tile.matmul %[[A]], %[[B]] into %[[ZEROS]] promoted 2 :
    %s = tile.matmul %a, %b into %zeros promoted 2 : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
    // CHECK: %[[T:.*]] = tile.matmul %[[A]] mn_major, %[[B]] mn_major into %[[S]] width %{{.*}} of [64, 48] :
    %t = tile.matmul %a mn_major, %b mn_major into %s width %z of [64, 48] : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
    // CHECK: tile.store %[[T]] to %{{.*}}[%[[X]], %[[Y]]] box [64, 64] columns 64 swizzle 128 :
    tile.store %t to %C[%x, %y] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
    %half = arith.truncf %zero : f32 to bf16
    %halves = tile.fill %half : bf16 -> !tile.fragment<64x64xbf16>
    // CHECK: tile.share %{{.*}} : <64x64xbf16> -> <64x64xbf16, swizzle = 128>
    %shared = tile.share %halves : !tile.fragment<64x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    // CHECK: tile.store %[[T]] to %{{.*}}[%[[X]], %[[Y]]] box [64, 64] columns 64 swizzle 128 reduce_add :
    tile.store %t to %C[%x, %y] box [64, 64] columns 64 swizzle 128 reduce_add : !tile.fragment<64x64xf32>, memref<256x256xf32>
    // CHECK: tile.store %[[T]] transposed to %{{.*}}[%[[X]], %[[Y]]] box [64, 64] columns 32 swizzle 128 deferred parts [0, 1] width %{{.*}} of [48, 2, 0] :
    tile.store %t transposed to %D[%x, %y] box [64, 64] columns 32 swizzle 128 deferred parts [0, 1] width %z of [48, 2, 0] : !tile.fragment<64x64xf32>, memref<256x256xbf16>
    %c = tile.load %A[%x, %y] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    // CHECK: tile.put %{{.*}} to %[[RING:.*]] : !tile.buffer<64x64xbf16, swizzle = 128> to
    tile.put %c to %ring : !tile.buffer<64x64xbf16, swizzle = 128> to !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    // CHECK: tile.get %[[RING]] :
    %d = tile.get %ring : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    // CHECK: tile.skip %[[RING]] by 4 :
    tile.skip %ring by 4 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    // CHECK: tile.skip %[[RING]] by 4 times %{{.*}} most 2 :
    tile.skip %ring by 4 times %z most 2 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  }
  return
}
