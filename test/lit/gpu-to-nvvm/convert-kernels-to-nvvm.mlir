// RUN: tilewright-opt %s --split-input-file --tilewright-pipeline="from=gpu to=nvvm arch=sm_80" | FileCheck %s

// Static buffers: 32-bit indices, no dimensions; what is only loaded from is readonly.
// CHECK-LABEL: gpu.module @static [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx86">]
// CHECK: llvm.func @k(%{{.*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias})
// CHECK-SAME: attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>}
// CHECK-NOT: sext
gpu.module @static {
  gpu.func @k(%a: memref<64xf32>, %b: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<64xf32>
    memref.store %x, %b[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

// Each dynamic dimension follows its pointer as an i64, an index is an i64.
// CHECK-LABEL: gpu.module @dynamic
// CHECK: llvm.func @k(%{{.*}}: !llvm.ptr {{{.*}}}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
gpu.module @dynamic {
  gpu.func @k(%a: memref<?x4x?xf32>, %n: index) kernel {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    memref.store %zero, %a[%n, %c0, %n] : memref<?x4x?xf32>
    gpu.return
  }
}
