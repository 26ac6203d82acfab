// RUN: tilewright-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(cut-indices))' | FileCheck %s

// An index of a GPU's 32 bits is computed in them; comparisons, too.
// CHECK-LABEL: gpu.module @narrow
// CHECK: %[[LOW:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK: arith.index_cast %[[LOW]] : i32 to index
// CHECK: %[[REST:.*]] = arith.remsi %{{.*}}, %{{.*}} : i32
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[REST]] : i32 to index
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK: memref.load %{{.*}}[%[[INDEX]]]
gpu.module @narrow attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>} {
  gpu.func @k(%t: memref<1000xf32>, %b: memref<64xi1>, %id: i64) kernel {
    %c1000 = arith.constant 1000 : index
    %index = arith.index_cast %id : i64 to index
    %rest = arith.remsi %index, %c1000 : index
    %is = arith.cmpi slt, %rest, %index : index
    %x = memref.load %t[%rest] : memref<1000xf32>
    memref.store %is, %b[%rest] : memref<64xi1>
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.module @wide
// CHECK: arith.index_cast %{{.*}} : i64 to index
// CHECK-NOT: i32
gpu.module @wide {
  gpu.func @k(%t: memref<?xf32>, %id: i64, %x: f32) kernel {
    %index = arith.index_cast %id : i64 to index
    memref.store %x, %t[%index] : memref<?xf32>
    gpu.return
  }
}
