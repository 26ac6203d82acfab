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

// -----

// A vector that is read and written in parts of 16 bytes has lane shuffles alone between them.
// CHECK-LABEL: gpu.module @parts
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.shufflevector
// CHECK-COUNT-2: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr
// CHECK-NOT: vector.
gpu.module @parts {
  gpu.func @k(%a: memref<64xf32>, %b: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %none = arith.constant dense<0.0> : vector<8xf32>
    %low = vector.load %a[%c0] : memref<64xf32>, vector<4xf32>
    %high = vector.load %a[%c4] : memref<64xf32>, vector<4xf32>
    %half = vector.insert_strided_slice %low, %none {offsets = [0], strides = [1]} : vector<4xf32> into vector<8xf32>
    %whole = vector.insert_strided_slice %high, %half {offsets = [4], strides = [1]} : vector<4xf32> into vector<8xf32>
    %sum = arith.addf %whole, %whole : vector<8xf32>
    %first = vector.extract_strided_slice %sum {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
    %second = vector.extract_strided_slice %sum {offsets = [4], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
    vector.store %first, %b[%c0] : memref<64xf32>, vector<4xf32>
    vector.store %second, %b[%c4] : memref<64xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

// Of an address in shared memory nothing is said but how it is computed: its base may lie before its buffer.
// CHECK-LABEL: gpu.module @distances
// CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK-NOT: inbounds{{.*}}ptr<3>
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i8
// CHECK: llvm.getelementptr inbounds|nuw %{{.*}}[%{{.*}}] : (!llvm.ptr, i32) -> !llvm.ptr, i8
gpu.module @distances {
  memref.global @memory : memref<64xi8, #gpu.address_space<workgroup>> {alignment = 16}
  gpu.func @k(%b: memref<64xi8>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %a = memref.get_global @memory : memref<64xi8, #gpu.address_space<workgroup>>
    %before = affine.apply affine_map<(d0) -> (d0 - 2)>(%i)
    %x = memref.load %a[%before] : memref<64xi8, #gpu.address_space<workgroup>>
    memref.store %x, %b[%i] : memref<64xi8>
    gpu.return
  }
}

// -----

// A pointer is aligned as its argument is.
// CHECK-LABEL: gpu.module @aligned
// CHECK: llvm.func @k(%{{.*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias})
gpu.module @aligned {
  gpu.func @k(%a: memref<8xf32> {te.align = 4 : i64}) kernel {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    memref.store %zero, %a[%c0] : memref<8xf32>
    gpu.return
  }
}
