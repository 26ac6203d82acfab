// RUN: tilewright-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(choose-index-widths))' | FileCheck %s

// All that is computed fits: 32 bits, and nothing else changes.
// CHECK-LABEL: gpu.module @narrow attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>}
// CHECK: affine.apply
// CHECK-NEXT: memref.load
gpu.module @narrow {
  gpu.func @k(%a: memref<64x64xf32>, %b: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %j = affine.apply affine_map<(d0) -> ((d0 * 3 + 1) mod 64)>(%i)
    %x = memref.load %a[%i, %j] : memref<64x64xf32>
    memref.store %x, %b[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

// What is read is any number of 64 bits: the remainder is computed in i64, and only it becomes an index.
// CHECK-LABEL: gpu.module @data attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>}
// CHECK: %[[ID:.*]] = memref.load {{.*}} : memref<64xi64>
// CHECK-NOT: affine.apply
// CHECK: %[[REST:.*]] = arith.remsi %[[ID]], %{{.*}} : i64
// CHECK: %[[WRAPPED:.*]] = arith.select
// CHECK: memref.load %{{.*}}[%[[WRAPPED]]]
gpu.module @data {
  gpu.func @k(%t: memref<1000xf32>, %ids: memref<64xi64>, %b: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %id = memref.load %ids[%i] : memref<64xi64>
    %index = arith.index_cast %id : i64 to index
    %rest = affine.apply affine_map<(d0) -> (d0 mod 1000)>(%index)
    %x = memref.load %t[%rest] : memref<1000xf32>
    memref.store %x, %b[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

// A comparison that guards an access is made in 64 bits, too; where the access is made its index fits.
// CHECK-LABEL: gpu.module @guarded attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>}
// CHECK: %[[ID:.*]] = memref.load
// CHECK: %[[WIDE:.*]] = arith.extui %[[ID]] : i32 to i64
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[WIDE]] : i64 to index
// CHECK: arith.cmpi slt, %[[WIDE]], %{{.*}} : i64
// CHECK: memref.load %{{.*}}[%[[INDEX]]]
gpu.module @guarded {
  gpu.func @k(%t: memref<1000xf32>, %ids: memref<64xi32>, %b: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c1000 = arith.constant 1000 : index
    %i = gpu.thread_id x
    %id = memref.load %ids[%i] : memref<64xi32>
    %index = arith.index_castui %id : i32 to index
    %inside = arith.cmpi slt, %index, %c1000 : index
    scf.if %inside {
      %x = memref.load %t[%index] : memref<1000xf32>
      memref.store %x, %b[%i] : memref<64xf32>
    }
    gpu.return
  }
}

// -----

// An int32 fits, four times as much does not.
// CHECK-LABEL: gpu.module @multiplied attributes {dlti.dl_spec
// CHECK: %[[ID:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[ID]] : index to i64
// CHECK: arith.muli %[[WIDE]], %{{.*}} : i64
// CHECK: arith.divsi %{{.*}} : i64
gpu.module @multiplied {
  gpu.func @k(%t: memref<1000xf32>, %ids: memref<64xi32>, %b: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c4 = arith.constant 4 : index
    %c9000000 = arith.constant 9000000 : index
    %i = gpu.thread_id x
    %id = memref.load %ids[%i] : memref<64xi32>
    %index = arith.index_cast %id : i32 to index
    %many = arith.muli %index, %c4 : index
    %few = arith.divsi %many, %c9000000 : index
    %x = memref.load %t[%few] : memref<1000xf32>
    memref.store %x, %b[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

// What a loop carries is as small as what it hands on.
// CHECK-LABEL: gpu.module @carried attributes {dlti.dl_spec
// CHECK-NOT: i64 :
// CHECK: iter_args(%{{.*}} = %{{.*}}) -> (index)
// CHECK: affine.apply
gpu.module @carried {
  gpu.func @k(%t: memref<3xf32>, %b: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%slot = %c0) -> (index) {
      %x = memref.load %t[%slot] : memref<3xf32>
      memref.store %x, %b[%i] : memref<64xf32>
      %next = affine.apply affine_map<(d0) -> ((d0 + 1) mod 3)>(%slot)
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

// The bound of a loop may be any number: 64 bits for all.
// CHECK-LABEL: gpu.module @bound {
// CHECK: scf.for
gpu.module @bound {
  gpu.func @k(%ids: memref<64xi64>, %b: memref<64xf32>, %zero: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %id = memref.load %ids[%c0] : memref<64xi64>
    %end = arith.index_cast %id : i64 to index
    scf.for %i = %c0 to %end step %c1 {
      memref.store %zero, %b[%i] : memref<64xf32>
    }
    gpu.return
  }
}

// -----

// The largest counter fits, and what it is at the loop's end does not.
// CHECK-LABEL: gpu.module @step {
gpu.module @step {
  gpu.func @k(%b: memref<64xf32>, %zero: f32) kernel {
    %c0 = arith.constant 0 : index
    %step = arith.constant 1073741824 : index
    %end = arith.constant 2147483647 : index
    scf.for %i = %c0 to %end step %step {
      memref.store %zero, %b[%c0] : memref<64xf32>
    }
    gpu.return
  }
}

// -----

// A number between does not fit, though the index does: 2^31 is reached before the division.
// CHECK-LABEL: gpu.module @between attributes {dlti.dl_spec
// CHECK: arith.muli %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK: arith.divsi %{{.*}} : i64
gpu.module @between {
  gpu.func @k(%b: memref<1024xf32>, %zero: f32) kernel attributes {known_block_size = array<i32: 1024, 1, 1>} {
    %i = gpu.thread_id x
    %j = affine.apply affine_map<(d0) -> ((d0 * 4000000) floordiv 4000001)>(%i)
    memref.store %zero, %b[%j] : memref<1024xf32>
    gpu.return
  }
}

// -----

// Of a negative number an unsigned division makes another one in 32 bits.
// CHECK-LABEL: gpu.module @unsigned attributes {dlti.dl_spec
// CHECK: arith.divui %{{.*}}, %{{.*}} : i64
gpu.module @unsigned {
  gpu.func @k(%t: memref<1000xf32>, %ids: memref<64xi8>, %b: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c = arith.constant 5000000 : index
    %i = gpu.thread_id x
    %id = memref.load %ids[%i] : memref<64xi8>
    %index = arith.index_cast %id : i8 to index
    %part = arith.divui %index, %c : index
    %x = memref.load %t[%part] : memref<1000xf32>
    memref.store %x, %b[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

// More than 2^31 elements, and sizes that nobody knows: 64 bits, whatever was said before.
// CHECK-LABEL: gpu.module @large {
gpu.module @large attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>} {
  gpu.func @k(%a: memref<3000000000xi8>, %zero: i8) kernel {
    %i = gpu.block_id x
    memref.store %zero, %a[%i] : memref<3000000000xi8>
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.module @dynamic {
gpu.module @dynamic {
  gpu.func @k(%a: memref<?xi8>, %zero: i8) kernel {
    %i = gpu.block_id x
    memref.store %zero, %a[%i] : memref<?xi8>
    gpu.return
  }
}
