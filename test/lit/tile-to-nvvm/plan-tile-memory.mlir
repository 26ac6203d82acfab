// RUN: tilewright-opt %s --plan-tile-memory --split-input-file | FileCheck %s

// CHECK-LABEL: module @alone
module @alone attributes {gpu.container_module} {
  // The symbol repeats after what a swizzle repeats after.
  // CHECK: memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
  gpu.module @kernels {
    gpu.func @f() kernel {
      // Rings, buffers, barriers, in this order.
      // CHECK: tile.ring consumers 1 at 0 barriers at 41984 :
      %r = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<128x64xbf16, swizzle = 128>> loc("k")
      // CHECK: tile.alloc at 32768 : <64x64xbf16, swizzle = 128>
      %c = tile.alloc : !tile.buffer<64x64xbf16, swizzle = 128> loc("C")
      // CHECK: tile.alloc at 40960 : <16x16xf32>
      %d = tile.alloc : !tile.buffer<16x16xf32>
      gpu.return
    }
  }
  // CHECK: [[BYTES:%.*]] = arith.constant 42016 : i32
  // CHECK: gpu.launch_func @kernels::@f {{.*}} dynamic_shared_memory_size [[BYTES]]
  // CHECK-SAME: shared = "a (16 bytes), ring of k (2 slots of 16384 bytes), C (8192 bytes), a tile (1024 bytes), barriers (32 bytes)"
  func.func @launch() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      {tilewright.launch_origin = {shared = "a (16 bytes)"}}
    return
  }
}

// -----

// CHECK-LABEL: module @beside
module @beside {
  gpu.module @kernels {
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
    gpu.func @f() kernel {
      %c0 = arith.constant 0 : index
      %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
      %view = memref.view %all[%c0][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<300xf32, #gpu.address_space<workgroup>>
      // After what has a place.
      // CHECK: tile.ring consumers 1 at 3072 barriers at 2048 :
      %r = tile.ring consumers 1 barriers at 2048 : !tile.ring<1, !tile.buffer<64x64xbf16, swizzle = 128>>
      gpu.return
    }
  }
}
